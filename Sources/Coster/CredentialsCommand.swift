import Accounts
import ApplePay
import AuditTrail
import Cryptography
import Encodings
import Foundation
import Operations
import Problems
import SQLite

/// Makes credentials beside a running server: who may run this on the server may make any role.
enum CredentialsCommand: Command {
    static let name = "credentials"
    static let synopsis =
        "create --role R [--name N] [--merchant ID …] [--environment E] [--expires-at TIME] [--client-certificate FILE]"
    static let summary = "Makes an API credential; live on the next request. Roles: operator, merchant, payment_service, auditor."
    static let options: Set<String> = Configuration.flags.union(["role", "name", "merchant", "environment", "expires-at", "client-certificate"])

    static func run(_ arguments: Arguments) throws(Problem) -> Int32 {
        guard arguments.operands == ["create"] else { throw .command(.usage, cause: "The one thing to do with credentials here is create.") }
        let roleName = try arguments.required("role")
        guard let role = Role(rawValue: roleName) else {
            throw .command(.usage, cause: "There is no role \(roleName); there are \(Role.allCases.map(\.rawValue).joined(separator: ", ")).")
        }
        let environmentName = try arguments.one("environment") ?? Environment.sandbox.rawValue
        guard let environment = Environment(rawValue: environmentName) else {
            throw .command(.usage, cause: "There is no environment \(environmentName); there are sandbox and production.")
        }
        var merchants: [MerchantID] = []
        for text in arguments.all("merchant") {
            guard let id = MerchantID(text) else { throw Problem(MerchantProblem.unknown, context: [("merchant", .text(text))]) }
            merchants.append(id)
        }
        var pin: Digest256?
        if let path = try arguments.one("client-certificate") {
            guard let certificate = FileRecognizer.recognise(try InputFile.read(path)).certificates.first else {
                throw Problem(CryptographyProblem.notACertificate, context: [("file", .text(path))])
            }
            pin = certificate.spkiHash
        }
        let draft = CredentialDraft(
            role: role, name: try arguments.one("name") ?? role.rawValue, merchants: merchants.isEmpty ? nil : merchants, environment: environment,
            expiresAt: try arguments.time("expires-at"), clientCertificateSPKI: pin)
        let installation = try Installation(opening: try Configuration(arguments))
        defer { installation.database.close() }
        let made = try installation.operations.createCredential(draft, actor: .command(user: NSUserName()))
        show(made, asJSON: arguments.asJSON)
        return 0
    }

    private static func show(_ made: CredentialSecret, asJSON: Bool) {
        let credential = made.credential
        let secret = made.secret ?? ""
        guard asJSON else {
            Terminal.print(
                """
                \(credential.id.text) (\(credential.role.rawValue), \(credential.environment.rawValue)), until \(credential.expiresAt.rfc3339)
                credential: \(credential.apiKey).\(secret)
                It is shown this once. Send it as Authorization: Bearer <credential>, or as X-API-Key and X-API-Secret (the parts before and after the dot).
                """)
            return
        }
        Terminal.print(
            json: JSONWriter.object { object in
                object.member("id", credential.id.text)
                object.member("credential", "\(credential.apiKey).\(secret)")
                object.member("api_key", credential.apiKey)
                object.member("api_secret", secret)
                object.member("role", credential.role.rawValue)
                object.member("environment", credential.environment.rawValue)
                if let merchants = credential.merchants {
                    object.member("merchants", merchants.map(\.text))
                } else {
                    object.member("merchants", nil as String?)
                }
                object.member("expires_at", credential.expiresAt)
            })
    }
}
