import ApplePay
import Cryptography
import Encodings
import Operations
import Problems

/// What is this file; would it be taken.
enum InspectCommand: Command {
    static let name = "inspect"
    static let synopsis = "FILE [--password-file F] [--key-password-file F] [--merchant-identifier ID] [--trust-anchor FILE …]"
    static let summary = "Says what a file is (token, request, certificate, .p12, …), what is in it, and the code it would get."
    static let options: Set<String> = ["password-file", "key-password-file", "merchant-identifier", "trust-anchor"]

    static func run(_ arguments: Arguments) throws(Problem) -> Int32 {
        let content = try InputFile.read(try arguments.operand("file"))
        let identifier: MerchantIdentifier? = if let text = try arguments.one("merchant-identifier") { try MerchantIdentifier(text) } else { nil }
        var settings = Settings()
        settings.sandboxAnchors = try Installation.certificates(in: arguments.all("trust-anchor"), setting: "trust-anchor").map { .init(certificate: $0) }
        let upload = Upload(
            content: content, password: try arguments.secret("password-file"), keyPassword: try arguments.secret("key-password-file"))
        let found = try FileInspector(settings: settings).inspect(upload, for: identifier, at: Installation.clock())
        if arguments.asJSON {
            Terminal.print(
                json: JSONWriter.object { object in
                    object.member("kind", found.kind)
                    object.member("wrappers", found.wrappers)
                    object.member("facts") { writer in
                        writer.array { array in
                            for fact in found.facts {
                                array.object { entry in
                                    entry.member("name", fact.name)
                                    entry.member("value", fact.value)
                                }
                            }
                        }
                    }
                    object.member("acceptable", found.problem == nil)
                    object.member("code", found.problem?.code)
                    object.member("title", found.problem?.title)
                    object.member("detail", found.problem?.detail)
                    object.member("warnings", found.warnings)
                })
        } else {
            var lines = ["kind: \(found.kind)" + (found.wrappers.isEmpty ? "" : " (inside: \(found.wrappers.joined(separator: ", ")))")]
            lines += found.facts.map { "  \($0.name): \($0.value)" }
            lines += found.warnings.map { "  warning: \($0)" }
            lines.append(found.problem.map { "would be refused: \($0.code): \($0.title)" } ?? "would be taken")
            Terminal.print(lines.joined(separator: "\n"))
        }
        return 0
    }
}
