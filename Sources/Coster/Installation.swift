import AuditTrail
import Cryptography
import Database
import Encodings
import Foundation
import KeyStore
import Operations
import Problems
import SQLite
import Sandbox

/// A data directory and what is in it.
///
/// `coster.db` the database · `root.key` what opens its keyring, unless the setting `root_key` names another place · `tls/` the server's certificate and key ·
/// `audit-head.json` where the audit trail stood a minute ago · `owner.lock` who serves · `coster.json` settings.
struct Installation {
    let configuration: Configuration
    let database: SQLiteDatabase
    let keyring: Keyring
    let sandbox: SandboxAuthority
    let operations: Operations

    static let sandboxAuthorityName = "sandbox_authority"
    static let clock: @Sendable () -> Timestamp = { Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)) }

    /// Opens an installation, or throws before anything is written.
    /// - Throws: `configuration.data_directory_missing`, `database.*`, `custody.*`.
    init(opening configuration: Configuration, mode: SQLiteDatabase.Mode = .readWrite) throws(Problem) {
        let database = try Installation.database(configuration, mode)
        try self.init(configuration, database, keyring: try Installation.keyring(configuration, database))
    }

    init(_ configuration: Configuration, _ database: SQLiteDatabase, keyring: Keyring) throws(Problem) {
        self.configuration = configuration
        self.database = database
        self.keyring = keyring
        let blobs = SealedBlobs(keyring: keyring)
        let exported = try database.read { connection throws(Problem) in try blobs.open(Installation.sandboxAuthorityName, in: connection) }
        guard let exported else { throw Problem(KeyStoreProblem.keyringIncomplete, context: [("missing", "sandbox authority")]) }
        sandbox = try SandboxAuthority(exported)
        operations = try Operations(
            database: database, keyring: keyring, settings: try Installation.settings(configuration), sandboxAuthority: sandbox.rootCertificate,
            sandboxIssuer: sandbox.issuerCertificate, clock: Installation.clock)
    }

    static func database(_ configuration: Configuration, _ mode: SQLiteDatabase.Mode) throws(Problem) -> SQLiteDatabase {
        let file = configuration.data.appending(path: "coster.db")
        guard FileManager.default.fileExists(atPath: file.path) else {
            throw .command(.dataDirectoryMissing, context: [("data", .text(configuration.data.path))])
        }
        let database = try SQLiteDatabase(path: file.path, mode: mode)
        if case .readWrite = mode { try database.migrate(Operations.migrations) }
        return database
    }

    /// - Throws: `custody.root_key_missing`, with the fingerprint that is needed; `custody.root_key_mismatch`, with both.
    static func keyring(_ configuration: Configuration, _ database: SQLiteDatabase) throws(Problem) -> Keyring {
        let file = configuration.file("root_key")
        let slot: RootKeyFile
        do throws(Problem) { slot = try RootKeyFile(reading: file) } catch {
            let needed = try database.read { connection throws(Problem) in try Keyring.slotFingerprints(in: connection) }
            throw error.with("fingerprint_needed", .list(needed.map { .text($0.hex) }))
        }
        return try database.read { connection throws(Problem) in try Keyring(opening: connection, with: slot) }
    }

    static func settings(_ configuration: Configuration) throws(Problem) -> Settings {
        var settings = Settings()
        settings.gracePeriodSeconds = Int64(configuration.number("grace_period_days")) * 86_400
        settings.cancelledKeySeconds = Int64(configuration.number("cancelled_key_days")) * 86_400
        settings.expiringDays = configuration.number("expiring_days")
        settings.maximumPKCS12Bytes = configuration.number("maximum_pkcs12_bytes")
        settings.maximumPendingRequests = configuration.number("maximum_pending_requests")
        settings.cachedKeys = configuration.number("cached_keys")
        settings.strictSigner = configuration.flag("strict_signer")
        settings.sandboxAnchors = try certificates(in: configuration.list("trust_anchor"), setting: "trust_anchor").map { TrustAnchor(certificate: $0) }
        settings.issuerCertificates = try certificates(in: configuration.list("issuer_certificates"), setting: "issuer_certificates")
        settings.auditHeadFile = configuration.data.appending(path: "audit-head.json")
        return settings
    }

    /// The certificates in files, in any form.
    static func certificates(in paths: [String], setting: String) throws(Problem) -> [Certificate] {
        var certificates: [Certificate] = []
        for path in paths {
            let found = FileRecognizer.recognise(try InputFile.read(path)).certificates
            guard !found.isEmpty else {
                throw .command(
                    .settingInvalid, cause: "The file named holds no certificate.", context: [("setting", .text(setting)), ("file", .text(path))])
            }
            certificates += found
        }
        return certificates
    }
}
