import ApplePay
import Cryptography
import Encodings
import Foundation
import Problems
import Secrets

/// The whole check and decryption of one token, offline, in one process.
enum DecryptCommand: Command {
    static let name = "decrypt"
    static let synopsis =
        "TOKEN --p12 FILE [--password-file F] [--key-password-file F] --merchant-identifier ID [--at TIME] [--trust-anchor FILE …] [--reveal]"
    static let summary = "Checks and opens a payment token with the key of a .p12; prints the number as first six and last four."
    static let options: Set<String> = ["p12", "password-file", "key-password-file", "merchant-identifier", "at", "trust-anchor"]
    static let switches: Set<String> = ["reveal"]

    static func run(_ arguments: Arguments) throws(Problem) -> Int32 {
        let tokenPath = try arguments.operand("token file")
        let file = try InputFile.read(try arguments.required("p12"))
        let identifier = try MerchantIdentifier(try arguments.required("merchant-identifier"))
        guard case .pkcs12(let p12) = FileRecognizer.recognise(file).kind else {
            throw .command(.fileUnreadable, cause: "The file given by --p12 is no .p12 file.")
        }
        let contents = try PKCS12.open(p12, password: try arguments.secret("password-file"), keyPassword: try arguments.secret("key-password-file"))
        let now = try arguments.time("at") ?? Installation.clock()
        var anchors = [try AppleTrustAnchors.rootCAG3.anchor()]
        anchors += try Installation.certificates(in: arguments.all("trust-anchor"), setting: "trust-anchor").map { TrustAnchor(certificate: $0) }

        let token = try PaymentToken(parsing: try InputFile.read(tokenPath))
        guard let key = contents.keys.first(where: { $0.spkiHash == token.publicKeyHash }) else {
            throw .paymentToken(
                .keyUnknown,
                context: [
                    ("public_key_hash", .text(token.publicKeyHash.base64)), ("held", .list(contents.keys.map { .text($0.spkiHash.base64) })),
                ])
        }
        // Where the certificate is there, it says whose key this is: a wrong identifier is told before it shows as a bad tag.
        for certificate in contents.certificates where certificate.spkiHash == token.publicKeyHash {
            _ = try PaymentProcessingCertificate(certificate: certificate, for: identifier)
        }
        let verified = try SignatureVerifier(anchors: anchors).verify(token, at: now, maximumAgeSeconds: 300, rule: .sandbox)
        let opened = try verified.decrypt(with: key, merchantIdentifier: identifier)
        show(token, verified, opened, reveal: arguments.has("reveal"), asJSON: arguments.asJSON)
        return 0
    }

    private static func show(_ token: PaymentToken, _ verified: VerifiedPaymentToken, _ opened: PaymentData, reveal: Bool, asJSON: Bool) {
        let network = opened.networkToken
        let number = network.number.map { reveal ? $0 : masked($0) }
        let expiry = network.expiryYear.flatMap { year in network.expiryMonth.map { "\(year)-\($0 < 10 ? "0" : "")\($0)" } }
        let amount = [opened.transaction.amount, opened.transaction.currency].compactMap { $0 }.joined(separator: " ")
        if asJSON {
            Terminal.print(
                json: JSONWriter.object { object in
                    object.member("version", token.version.name)
                    object.member("public_key_hash", token.publicKeyHash.base64)
                    object.member("transaction_id", Hex.encode(token.transactionId))
                    object.member("signed_at", verified.signedAt)
                    object.member("signer", verified.signerCommonName)
                    object.member("number", number)
                    object.member("expiry", expiry)
                    object.member("network", network.network?.rawValue)
                    object.member("amount", opened.transaction.amount)
                    object.member("currency", opened.transaction.currency)
                    object.member("eci", network.eci)
                    if reveal { object.member("payment_data", raw: opened.plaintext.copyExposed()) }
                    object.member("warnings", (verified.warnings + opened.warnings).map(\.code))
                })
            return
        }
        var lines = [
            "signature: good, by \(verified.signerCommonName) at \(verified.signedAt.rfc3339)", "version:   \(token.version.name)",
            "number:    \(number ?? "absent")", "expiry:    \(expiry ?? "absent")", "amount:    \(amount.isEmpty ? "absent" : amount)",
            "network:   \(network.network?.rawValue ?? "unknown")",
        ]
        lines += (verified.warnings + opened.warnings).map { "warning:   \($0.code): \($0.detail)" }
        // The content itself only where it was asked for, and never into a file by us.
        if reveal { lines.append("content:   " + String(decoding: opened.plaintext.copyExposed(), as: UTF8.self)) }
        Terminal.print(lines.joined(separator: "\n"))
    }

    /// PCI DSS 3.4.1: at most the first six and the last four digits.
    static func masked(_ number: String) -> String {
        let count = number.count
        guard count > 10 else { return String(repeating: "*", count: count) }
        return number.prefix(6) + String(repeating: "*", count: count - 10) + number.suffix(4)
    }
}
