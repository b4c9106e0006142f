import ApplePay
import AuditTrail
import Cryptography
import Database
import Encodings
import Foundation
import HTTPServer
import Operations
import Problems
import SQLite
import Sandbox

/// Everything that would make a start or a payment fail, each with cause and next step.
enum DoctorCommand: Command {
    static let name = "doctor"
    static let synopsis = "[settings as flags]"
    static let summary = "Looks for everything that would make a start or a payment fail."
    static let options = Configuration.flags

    private struct Check {
        let name: String
        let outcome: Result<String, Problem>
    }

    static func run(_ arguments: Arguments) throws(Problem) -> Int32 {
        let configuration = try Configuration(arguments)
        var checks: [Check] = []
        func check(_ name: String, _ body: () throws(Problem) -> String) {
            do throws(Problem) { checks.append(Check(name: name, outcome: .success(try body()))) } catch {
                checks.append(Check(name: name, outcome: .failure(error)))
            }
        }
        check("permissions") { () throws(Problem) in try permissions(configuration) }
        check("root key and keyring") { () throws(Problem) in
            let database = try Installation.database(configuration, .readOnly)
            defer { database.close() }
            _ = try Installation(configuration, database, keyring: try Installation.keyring(configuration, database))
            return "opens"
        }
        check("database") { () throws(Problem) in
            let database = try Installation.database(configuration, .readOnly)
            defer { database.close() }
            let findings = try database.integrityFindings()
            guard findings.isEmpty else { throw .database(.corrupt, context: [("findings", .list(findings.prefix(5).map { .text($0) }))]) }
            return "intact"
        }
        check("audit trail") { () throws(Problem) in
            let installation = try Installation(opening: configuration, mode: .readOnly)
            defer { installation.database.close() }
            let verification = try installation.operations.verifyAuditTrail()
            if let finding = verification.findings.first { throw finding }
            return "\(verification.entryCount) entries, chain intact"
        }
        check("TLS certificate") { () throws(Problem) in try tlsCertificate(configuration) }
        check("locked memory") { () throws(Problem) in
            guard CryptographicMemory.secureHeapIsLocked else { throw .command(.memoryNotLocked) }
            return "private keys stay out of swap"
        }
        check("open files") { () throws(Problem) in
            let wanted = configuration.number("connections")
            let possible = HTTPServer.connectionLimit(wanted)
            guard possible >= wanted else { throw .command(.tooFewFiles, context: [("connections", .number(wanted)), ("possible", .number(possible))]) }
            return "enough for \(wanted) connections"
        }
        check("old .p12 files") { () throws(Problem) in
            try PKCS12.selfTest()
            return "Keychain Access exports can be opened"
        }
        check("self-test") { () throws(Problem) in try SelfTest.run() }
        show(checks, asJSON: arguments.asJSON)
        let failed = checks.contains { if case .failure = $0.outcome { true } else { false } }
        return failed ? 1 : 0
    }

    private static func permissions(_ configuration: Configuration) throws(Problem) -> String {
        let files = [
            configuration.data, configuration.data.appending(path: "coster.db"), configuration.file("root_key"), configuration.file("tls_private_key"),
        ]
        for file in files {
            guard let mode = (try? FileManager.default.attributesOfItem(atPath: file.path))?[.posixPermissions] as? Int else { continue }
            guard mode & 0o077 == 0 else {
                throw .command(.permissionsTooWide, context: [("file", .text(file.path)), ("mode", .text(String(mode, radix: 8)))])
            }
        }
        return "for the owner only"
    }

    private static func tlsCertificate(_ configuration: Configuration) throws(Problem) -> String {
        let chain = FileRecognizer.recognise(try InputFile.read(configuration.file("tls_certificate").path)).certificates
        guard let leaf = chain.first else { throw Problem(CryptographyProblem.notACertificate, context: [("file", "tls_certificate")]) }
        let now = Installation.clock()
        guard leaf.notBefore <= now, now < leaf.notAfter else { throw .command(.tlsExpired, context: [("expires_at", .text(leaf.notAfter.rfc3339))]) }
        return "valid until \(leaf.notAfter.rfc3339)"
    }

    private static func show(_ checks: [Check], asJSON: Bool) {
        guard asJSON else {
            for check in checks {
                switch check.outcome {
                case .success(let text): Terminal.print("ok      \(check.name): \(text)")
                case .failure(let problem):
                    Terminal.print("FAILED  \(check.name): \(problem.code)\n          cause: \(problem.title)\n          next step: \(problem.detail)")
                    for fact in problem.context { Terminal.print("          \(fact.name): \(Terminal.text(fact.value))") }
                }
            }
            return
        }
        Terminal.print(
            json: JSONWriter.object { object in
                object.member("checks") { writer in
                    writer.array { array in
                        for check in checks {
                            array.object { entry in
                                entry.member("name", check.name)
                                switch check.outcome {
                                case .success(let text):
                                    entry.member("ok", true)
                                    entry.member("detail", text)
                                case .failure(let problem):
                                    entry.member("ok", false)
                                    entry.member("problem", raw: Terminal.json(problem))
                                }
                            }
                        }
                    }
                }
            })
    }
}
