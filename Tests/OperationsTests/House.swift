import ApplePay
import AuditTrail
import Cryptography
import Database
import Encodings
import Foundation
import KeyStore
import Problems
import SQLite
import Secrets
import Sandbox
import Synchronization
import TestSupport

@testable import Accounts
@testable import Operations

/// The whole house without its server: real storage in a folder that goes with it, a clock that stands until it is set, the sandbox's authority.
final class House: Sendable {
    let folder: TemporaryFolder
    let database: FailingDatabase
    let keyring: Keyring
    let settings: Settings
    let operations: Operations
    private let clock: Clock

    static let now = Timestamp(seconds: 1_793_534_400)  // 2026-11-01T12:00:00Z
    static let authority = try! SandboxAuthority.generate(now: now)
    static let shop = "merchant.com.example.shop"

    init(at start: Timestamp = House.now, _ configure: (inout Settings) -> Void = { _ in }) throws {
        let folder = try TemporaryFolder()
        self.folder = folder
        var settings = Settings()
        settings.auditHeadFile = URL(filePath: folder.file("audit.head"))
        configure(&settings)
        self.settings = settings
        let sqlite = try SQLiteDatabase(path: folder.file("coster.sqlite"), mode: .create)
        try sqlite.migrate(Operations.migrations)
        let slot = try RootKeyFile.create(at: URL(filePath: folder.file("root.key")))
        try sqlite.writeBlocking { connection throws(Problem) in try Keyring.create(under: slot, at: start, in: connection) }
        let keyring = try sqlite.read { connection throws(Problem) in try Keyring(opening: connection, with: slot) }
        self.keyring = keyring
        database = FailingDatabase(sqlite)
        let clock = Clock(start)
        self.clock = clock
        operations = try Operations(
            database: database, keyring: keyring, settings: settings, sandboxAuthority: House.authority.rootCertificate, clock: { clock.now })
    }

    var now: Timestamp { clock.now }
    func set(_ now: Timestamp) { clock.now = now }
    func wait(_ seconds: Int64) { clock.now = clock.now.adding(seconds: seconds) }

    // MARK: Callers

    /// Somebody of this role; the same number is the same caller.
    func principal(_ role: Role, _ number: Int = 1, environment: Environment = .sandbox, merchants: Set<MerchantID>? = nil) -> Principal {
        Principal(credential: CredentialID(bits: UInt128(number)), role: role, environment: environment, merchants: merchants)
    }

    func grant<Allowed: Permission>(
        _ permission: Allowed.Type, _ role: Role = .operator, _ number: Int = 1, environment: Environment = .sandbox, merchants: Set<MerchantID>? = nil
    ) throws(Problem) -> Grant<Allowed> {
        try principal(role, number, environment: environment, merchants: merchants).grant(permission)
    }

    func call(_ key: String? = nil, body: String = "") -> Call {
        Call(requestID: "req-1", idempotencyKey: key, requestDigest: key.map { _ in SHA256.digest(Array(body.utf8)) })
    }

    // MARK: Making things

    func merchant(_ name: String = "Shop") async throws(Problem) -> Merchant {
        try await operations.createMerchant(name: name, contacts: [], under: try grant(ManageMerchants.self), call()).value
    }

    func registration(
        _ identifier: String = House.shop, merchant: MerchantID? = nil, environment: Environment = .sandbox, policies: TokenPolicies = TokenPolicies()
    ) async throws(Problem) -> Registration {
        let owner: MerchantID = if let merchant { merchant } else { try await self.merchant().id }
        let draft = RegistrationDraft(identifier: identifier, merchant: owner, environment: environment, displayName: nil, policies: policies)
        return try await operations.createRegistration(draft, under: try grant(ManageRegistrations.self, environment: environment), call()).value.registration
    }

    /// A key and its request.
    func request(_ registration: Registration, _ algorithm: KeyAlgorithm = .ecP256) async throws(Problem) -> CertificateRecord {
        try await operations.createCertificate(
            for: registration.id.text, displayName: nil, algorithm: algorithm, replaces: nil,
            under: try grant(ManageCertificates.self, environment: registration.environment), call()
        ).value.record
    }

    /// The sandbox's certificate for a record's request.
    func issue(_ record: CertificateRecord) throws(Problem) -> Certificate {
        try House.authority.issue(
            forRequest: record.certificateSigningRequest ?? [], merchantIdentifier: record.merchantIdentifier, now: now)
    }

    @discardableResult func upload(
        _ content: [UInt8], to reference: String, password: String? = nil, environment: Environment = .sandbox, merchants: Set<MerchantID>? = nil,
        _ call: Call? = nil
    ) async throws(Problem) -> Made<CertificateView> {
        try await operations.upload(
            Upload(content: content, password: password.map { .init(copying: Array($0.utf8)) }), to: reference,
            under: try grant(ManageCertificates.self, environment: environment, merchants: merchants), call ?? self.call())
    }

    /// A certificate that is ready for its first token.
    func staged(_ registration: Registration, _ algorithm: KeyAlgorithm = .ecP256) async throws(Problem) -> CertificateRecord {
        let record = try await request(registration, algorithm)
        return try await upload(try issue(record).der, to: registration.id.text).value.record
    }

    func record(_ id: CertificateID, environment: Environment = .sandbox) throws(Problem) -> CertificateRecord {
        try operations.certificate(id, under: try grant(ReadCertificates.self, environment: environment)).record
    }

    func status(_ record: CertificateRecord) throws(Problem) -> CertificateStatus {
        try self.record(record.id, environment: record.environment).status
    }

    // MARK: Tokens

    func order(_ record: CertificateRecord, payload: TestPayload = .preset(.threeDSecure), defects: Set<Defect> = []) throws -> MintOrder {
        let certificate = try Certificate(der: record.certificate ?? [])
        return MintOrder(recipient: certificate, merchantIdentifier: record.merchantIdentifier, payload: payload, now: now, defects: defects)
    }

    func token(_ record: CertificateRecord, payload: TestPayload = .preset(.threeDSecure), defects: Set<Defect> = []) throws -> [UInt8] {
        try House.authority.mint(try order(record, payload: payload, defects: defects))
    }

    func decrypt(
        _ token: [UInt8], for identifier: String? = nil, expected: Expectation? = nil, reference: String? = nil, by number: Int = 1,
        environment: Environment = .sandbox, merchants: Set<MerchantID>? = nil, _ call: Call? = nil
    ) async throws(Problem) -> Decryption {
        guard let document = try? JSONDocument(token) else {
            _ = try PaymentToken(parsing: token)
            throw .paymentToken(.encodingUnrecognised)
        }
        let order = DecryptionOrder(token: document.root, merchantIdentifier: identifier, expected: expected, reference: reference)
        return try await operations.decrypt(
            order, under: try grant(DecryptTokens.self, .paymentService, number, environment: environment, merchants: merchants), call ?? self.call())
    }

    /// `success`, or the code.
    func outcome(
        _ token: [UInt8], for identifier: String? = nil, expected: Expectation? = nil, by number: Int = 1, merchants: Set<MerchantID>? = nil,
        _ call: Call? = nil
    ) async -> String {
        await code { () async throws(Problem) in
            _ = try await decrypt(token, for: identifier, expected: expected, by: number, merchants: merchants, call)
        }
    }

    // MARK: The trail

    func entries(_ filter: AuditFilter = AuditFilter()) throws(Problem) -> [AuditEntry] {
        try database.read { connection throws(Problem) in
            var all: [AuditEntry] = []
            var after: Int64?
            repeat {
                let page = try operations.audit.entries(matching: filter, after: after, in: connection)
                all += page.entries
                after = page.next
            } while after != nil
            return all
        }
    }

    @discardableResult func sql(_ sql: String, _ parameters: [Parameter] = []) throws(Problem) -> Int {
        try database.inner.writeBlocking { connection throws(Problem) in try connection.execute(sql, parameters) }
    }

    func count(_ table: String) throws(Problem) -> Int {
        try database.read { connection throws(Problem) in try connection.first("SELECT count(*) FROM \(table)") { row in Int(row.integer(0)) } ?? 0 }
    }
}

/// `success`, or the code of what was thrown.
func code(_ body: () async throws(Problem) -> Void) async -> String {
    do throws(Problem) {
        try await body()
        return "success"
    } catch {
        return error.code
    }
}

/// A clock that stands still until it is set.
final class Clock: Sendable {
    private let time: Mutex<Timestamp>
    init(_ start: Timestamp) { time = Mutex(start) }
    var now: Timestamp {
        get { time.withLock { $0 } }
        set { time.withLock { $0 = newValue } }
    }
}

/// Real storage whose writes can be made to fail: as a full disk does, before or at the commit.
final class FailingDatabase: Database {
    enum Failure: Sendable { case atOnce, atCommit }

    let inner: SQLiteDatabase
    private let failure = Mutex<Failure?>(nil)

    init(_ inner: SQLiteDatabase) { self.inner = inner }

    func fail(_ failure: Failure?) { self.failure.withLock { $0 = failure } }

    func read<R>(_ body: (any ReadConnection) throws(Problem) -> R) throws(Problem) -> R { try inner.read(body) }

    func write<R: Sendable>(_ body: @escaping @Sendable (any WriteConnection) throws(Problem) -> R) async throws(Problem) -> R {
        try await inner.write(wrapped(body))
    }

    func writeBlocking<R: Sendable>(_ body: @escaping @Sendable (any WriteConnection) throws(Problem) -> R) throws(Problem) -> R {
        try inner.writeBlocking(wrapped(body))
    }

    func forgetDeleted() async throws(Problem) { try await inner.forgetDeleted() }

    private func wrapped<R>(
        _ body: @escaping @Sendable (any WriteConnection) throws(Problem) -> R
    ) -> @Sendable (any WriteConnection) throws(Problem) -> R {
        let failure = failure.withLock { $0 }
        return { connection throws(Problem) in
            if failure == .atOnce { throw .database(.unavailable) }
            let result = try body(connection)
            if failure == .atCommit { throw .database(.unavailable) }
            return result
        }
    }
}
