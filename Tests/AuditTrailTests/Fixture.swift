import AuditTrail
import Cryptography
import Database
import Encodings
import Foundation
import Problems
import SQLite
import Secrets
import TestSupport

/// A trail in a database of its own, under keys that are always the same.
struct Fixture {
    let folder: TemporaryFolder
    let database: SQLiteDatabase
    let trail: AuditTrail
    var headFile: URL { URL(filePath: folder.file("audit-head.json")) }

    init() throws {
        folder = try TemporaryFolder()
        database = try SQLiteDatabase(path: folder.file("coster.sqlite"), mode: .create)
        try database.migrate(AuditTrail.migrations)
        trail = try Fixture.trail()
    }

    /// A trail of 2,500 entries: two segments.
    static func filled() throws -> Fixture { try Fixture(file: fileOf2500.get()) }
    /// A trail of 5,000 entries: three segments.
    static func filledWith5000() throws -> Fixture { try Fixture(file: fileOf5000.get()) }

    private init(file: Data) throws {
        folder = try TemporaryFolder()
        try file.write(to: URL(filePath: folder.file("coster.sqlite")))
        database = try SQLiteDatabase(path: folder.file("coster.sqlite"), mode: .readWrite)
        trail = try Fixture.trail()
    }

    // Made once, then copied.
    private static let fileOf2500 = Result { try fileContent(count: 2500) }
    private static let fileOf5000 = Result { try fileContent(count: 5000) }

    private static func fileContent(count: Int) throws -> Data {
        let fixture = try Fixture()
        try fixture.append(0..<count)
        let copy = fixture.folder.file("copy.sqlite")
        try fixture.database.writeCopy(to: copy)
        return try Data(contentsOf: URL(filePath: copy))
    }

    static func trail(key: UInt8 = 1) throws -> AuditTrail {
        AuditTrail(
            macKey: try MACKey(SecretBytes(copying: [UInt8](repeating: key, count: 32))),
            idKey: try BlockPermutationKey(SecretBytes(copying: [UInt8](repeating: 2, count: 32))))
    }

    static let beginning = Timestamp(seconds: 1_790_000_000)
    static let merchants = (0..<7).map { MerchantID(bits: 100 + UInt128($0)) }
    static let credentials = (0..<5).map { CredentialID(bits: 200 + UInt128($0)) }

    /// Entries that differ in everything one can filter by.
    static func draft(_ number: Int) -> AuditDraft {
        let merchant = number * number % 7
        return AuditDraft(
            action: number.isMultiple(of: 5) ? "certificate.upload" : "decryption",
            actor: number.isMultiple(of: 11) ? .command(user: "root") : .credential(credentials[number % 5]), at: beginning.adding(seconds: Int64(number)),
            outcome: number.isMultiple(of: 13) ? "payment_token.undecryptable" : AuditDraft.success, environment: "sandbox", merchant: merchants[merchant],
            registration: RegistrationID(bits: 1000 + UInt128(merchant)), certificate: CertificateID(bits: 2000 + UInt128(number / 100)),
            requestID: "req-\(number)", publicKeyHash: Digest256([UInt8](repeating: UInt8(merchant), count: 32)),
            transactionDigest: Digest256([UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 32)), reference: "order \(number)",
            replayed: number.isMultiple(of: 17), details: ["dress": "json", "bytes": .integer(number)])
    }

    /// Appends the drafts with these numbers, in one transaction.
    @discardableResult func append(_ numbers: some Sequence<Int> & Sendable) throws -> [AuditEntry] {
        try Fixture.append(numbers, to: trail, in: database)
    }

    @discardableResult static func append(
        _ numbers: some Sequence<Int> & Sendable, to trail: AuditTrail, in database: SQLiteDatabase
    ) throws -> [AuditEntry] {
        try database.writeBlocking { connection throws(Problem) in
            var entries: [AuditEntry] = []
            for number in numbers { entries.append(try trail.append(Fixture.draft(number), in: connection)) }
            return entries
        }
    }

    /// What somebody with the file and without the keys can do.
    func tamper(_ sql: [String]) throws {
        let other = try SQLiteDatabase(path: database.path, mode: .readWrite)
        try other.writeBlocking { connection throws(Problem) in
            for statement in sql { try connection.execute(statement) }
        }
        other.close()
    }

    func codes(_ range: ClosedRange<Int64>? = nil, against head: RecordedHead? = nil) throws -> [String] {
        try trail.verify(range, against: head, in: database).findings.map(\.code)
    }
}
