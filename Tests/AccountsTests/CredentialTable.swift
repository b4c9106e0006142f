import ApplePay
import Cryptography
import Database
import Encodings
import Problems
import SQLite
import Secrets
import TestSupport

@testable import Accounts

/// A table of credentials in a database of its own.
struct CredentialTable {
    let folder: TemporaryFolder
    let database: SQLiteDatabase
    let credentials: Credentials

    static let now = Timestamp(seconds: 1_793_534_400)  // 2026-11-01T12:00:00Z
    static let pin = SHA256.digest(Array("a client certificate's key".utf8))

    init() throws {
        folder = try TemporaryFolder()
        database = try SQLiteDatabase(path: folder.file("coster.sqlite"), mode: .create)
        try database.migrate(Credentials.migrations + Merchants.migrations)
        credentials = Credentials(rights: try MACKey.generate(), secrets: try MACKey.generate())
    }

    /// A credential that ends in an hour, and its secret.
    func make(
        _ role: Role = .paymentService, environment: Environment = .sandbox, merchants: [MerchantID]? = nil, pin: Digest256? = nil,
        expiresIn seconds: Int64 = 3600
    ) throws -> (credential: Credential, secret: String) {
        let credential = Credential(
            id: .random(), apiKey: try Credentials.freshAPIKey(), role: role, name: "shop", environment: environment, merchants: merchants,
            clientCertificateSPKI: pin, createdAt: Self.now, expiresAt: Self.now.adding(seconds: seconds))
        return (credential, try write { [credentials] connection throws(Problem) in try credentials.insert(credential, in: connection) })
    }

    func rotate(_ credential: Credential, overlap: Int, at seconds: Int64 = 0) throws(Problem) -> (credential: Credential, secret: String) {
        try write { [credentials] connection throws(Problem) in
            try credentials.rotate(credential.id, overlapSeconds: overlap, at: Self.now.adding(seconds: seconds), in: connection)
        }
    }

    @discardableResult func revoke(_ credential: Credential, at seconds: Int64 = 0) throws(Problem) -> Credential {
        try write { [credentials] connection throws(Problem) in
            try credentials.revoke(credential.id, at: Self.now.adding(seconds: seconds), in: connection)
        }
    }

    func authenticate(
        _ credential: Credential, _ secret: String, pin: [UInt8]? = nil, at seconds: Int64 = 0
    ) throws(Problem) -> Principal {
        guard let presented = PresentedCredential(apiKey: credential.apiKey, apiSecret: secret) else { throw .credential(.malformed) }
        return try database.read { connection throws(Problem) in
            try credentials.authenticate(presented, clientCertificateSPKI: pin, at: Self.now.adding(seconds: seconds), connection)
        }
    }

    @discardableResult func write<R: Sendable>(_ body: @escaping @Sendable (any WriteConnection) throws(Problem) -> R) throws(Problem) -> R {
        try database.writeBlocking(body)
    }
}
