import Encodings
import Foundation
import Problems

/// The settings: from flags, then `COSTER_*` in the environment, then `coster.json` in the data directory; the same names in all three.
struct Configuration {
    /// One setting there is.
    struct Setting {
        enum Form { case text, number(ClosedRange<Int>), flag, list, optionalNumber(ClosedRange<Int>) }

        /// snake_case; `--snake-case` as a flag, `COSTER_SNAKE_CASE` in the environment.
        let name: String
        let form: Form
        /// As text; nil: none.
        let standard: String?
        let summary: String

        var flag: String { name.replacingOccurrences(of: "_", with: "-") }
        var variable: String { "COSTER_" + name.uppercased() }
    }

    enum Source: String { case standard = "default", file = "coster.json", environment, flag }

    static let settings: [Setting] = [
        Setting(name: "listen", form: .list, standard: "127.0.0.1:8443", summary: "Addresses for HTTPS, ADDR:PORT."),
        Setting(name: "plain_listen", form: .list, standard: nil, summary: "Addresses for plain HTTP; loopback only."),
        Setting(name: "metrics_listen", form: .text, standard: nil, summary: "A loopback address for /metrics and /readyz without a credential."),
        Setting(name: "root_key", form: .text, standard: "root.key", summary: "The root key file; a relative path counts from the data directory."),
        Setting(name: "tls_certificate", form: .text, standard: "tls/certificate.pem", summary: "The TLS certificate, with its chain."),
        Setting(name: "tls_private_key", form: .text, standard: "tls/private-key.pem", summary: "The TLS private key, PEM, unencrypted."),
        Setting(name: "request_client_certificates", form: .flag, standard: "true", summary: "Ask callers for a certificate; pinned credentials need it."),
        Setting(name: "trust_anchor", form: .list, standard: nil, summary: "Files of root certificates that the sandbox trusts beside Apple's."),
        Setting(name: "issuer_certificates", form: .list, standard: nil, summary: "Files of newer Apple issuer certificates."),
        Setting(name: "strict_signer", form: .flag, standard: "true", summary: "Production refuses tokens of Apple's sandbox signer."),
        Setting(name: "grace_period_days", form: .number(0...365), standard: "7", summary: "How long a key must be unused before it is retired or destroyed."),
        Setting(name: "cancelled_key_days", form: .number(1...365), standard: "30", summary: "How long the key of a cancelled request is kept."),
        Setting(name: "expiring_days", form: .number(1...365), standard: "30", summary: "Days before its end from which a certificate is flagged."),
        Setting(name: "maximum_pkcs12_bytes", form: .number(262_144...1_048_576), standard: "1048576", summary: "Largest .p12: beyond it, an accident."),
        Setting(
            name: "maximum_pending_requests", form: .number(1...1000), standard: "20", summary: "Open requests per merchant identifier: a loop makes them."),
        Setting(name: "cached_keys", form: .number(16...100_000), standard: "4096", summary: "Opened keys kept in memory: 2 kB each."),
        Setting(name: "loops", form: .number(1...64), standard: "1", summary: "Event loops."),
        Setting(name: "payment_threads", form: .number(1...64), standard: "2", summary: "Threads for decryptions."),
        Setting(name: "background_threads", form: .number(1...64), standard: "2", summary: "Threads for everything else, at lower priority."),
        Setting(name: "connections", form: .number(1...100_000), standard: "10000", summary: "Connections at once: more would starve those there are."),
        Setting(
            name: "rate_certificate_signing_requests", form: .optionalNumber(1...1_000_000), standard: "60", summary: "Per credential and minute; off: none."),
        Setting(name: "rate_uploads", form: .optionalNumber(1...1_000_000), standard: "60", summary: "Per credential and minute; off: none."),
        Setting(name: "rate_inspections", form: .optionalNumber(1...1_000_000), standard: "60", summary: "Per credential and minute; off: none."),
        Setting(name: "rate_diagnoses", form: .optionalNumber(1...1_000_000), standard: "60", summary: "Per credential and minute; off: none."),
        Setting(
            name: "rate_decryptions", form: .optionalNumber(1...10_000_000), standard: "off",
            summary: "Per credential and minute; no payment is dropped by default."),
        Setting(name: "access_log", form: .flag, standard: "false", summary: "One JSON line a request on standard error."),
        Setting(name: "drain_seconds", form: .number(1...600), standard: "20", summary: "How long SIGTERM waits for requests under way."),
    ]

    private var values: [String: (value: [String], source: Source)] = [:]
    let data: URL

    /// Options that commands which use settings take.
    static var flags: Set<String> { Set(settings.map(\.flag)) }

    /// - Throws: `configuration.setting_unknown`, `.setting_invalid`, naming the setting and where it comes from.
    init(_ arguments: Arguments) throws(Problem) {
        data = URL(filePath: try arguments.one("data") ?? ProcessEnvironment.value("COSTER_DATA") ?? "coster-data")
        for setting in Configuration.settings {
            if let standard = setting.standard { values[setting.name] = ([standard], .standard) }
        }
        try readFile()
        for setting in Configuration.settings {
            if let text = ProcessEnvironment.value(setting.variable) {
                try put(setting, { if case .list = setting.form { text.split(separator: ",").map(String.init) } else { [text] } }(), .environment)
            }
            let given = arguments.all(setting.flag)
            if !given.isEmpty { try put(setting, given, .flag) }
        }
    }

    private mutating func readFile() throws(Problem) {
        let url = data.appending(path: "coster.json")
        guard let content = try? Data(contentsOf: url) else { return }
        let document: JSONDocument
        do throws(JSONError) { document = try JSONDocument([UInt8](content)) } catch {
            throw .command(.settingInvalid, cause: "coster.json is not JSON.", context: [("file", "coster.json"), ("error", .text("\(error)"))])
        }
        guard document.root.kind == .object, document.root.doubledMember == nil else {
            throw .command(.settingInvalid, cause: "coster.json is not one JSON object with each setting once.", context: [("file", "coster.json")])
        }
        for (name, value) in document.root.members {
            guard let setting = Configuration.settings.first(where: { $0.name == name }) else {
                throw .command(.settingUnknown, context: [("setting", .text(name)), ("source", "coster.json")])
            }
            let words: [String]
            switch value.kind {
            case .string: words = [value.string ?? ""]
            case .number: words = [value.numberText ?? ""]
            case .bool: words = [value.bool == true ? "true" : "false"]
            case .null: words = ["off"]
            case .array: words = value.elements.compactMap(\.string)
            case .object: throw .command(.settingInvalid, context: [("setting", .text(name)), ("source", "coster.json")])
            }
            try put(setting, words, .file)
        }
    }

    private mutating func put(_ setting: Setting, _ words: [String], _ source: Source) throws(Problem) {
        var isGood = words.count == 1
        switch setting.form {
        case .text: isGood = isGood && !words[0].isEmpty
        case .list: isGood = !words.contains("")
        case .flag: isGood = isGood && ["true", "false"].contains(words[0])
        case .number(let range): isGood = isGood && Int(words[0]).map { range.contains($0) } ?? false
        case .optionalNumber(let range): isGood = isGood && (words[0] == "off" || Int(words[0]).map { range.contains($0) } ?? false)
        }
        guard isGood else {
            throw .command(
                .settingInvalid,
                context: [
                    ("setting", .text(setting.name)), ("source", .text(source.rawValue)), ("allowed", .text(Configuration.allowed(setting.form))),
                ])
        }
        values[setting.name] = (words, source)
    }

    private static func allowed(_ form: Setting.Form) -> String {
        switch form {
        case .text: "text"
        case .list: "one or more texts"
        case .flag: "true or false"
        case .number(let range): "\(range.lowerBound) to \(range.upperBound)"
        case .optionalNumber(let range): "\(range.lowerBound) to \(range.upperBound), or off"
        }
    }

    // MARK: Reading

    func list(_ name: String) -> [String] { values[name]?.value ?? [] }
    func text(_ name: String) -> String? { values[name]?.value.first }
    func flag(_ name: String) -> Bool { text(name) == "true" }
    func number(_ name: String) -> Int { text(name).flatMap { Int($0) } ?? 0 }
    func optionalNumber(_ name: String) -> Int? { text(name).flatMap { Int($0) } }
    func source(_ name: String) -> Source? { values[name]?.source }

    /// A path setting; a relative path counts from the data directory.
    func file(_ name: String) -> URL {
        let path = text(name) ?? ""
        return path.hasPrefix("/") ? URL(filePath: path) : data.appending(path: path)
    }
}
