import ApplePay
import Cryptography
import Database
import Encodings
import Problems
import Testing

@testable import KeyStore

@Suite struct CertificatesTests {
    static let rowAltered = Problem(KeyStoreProblem.rowAltered)
    let store: Store
    init() throws { store = try Store() }

    /// Every column but `number`, which only orders. To each another value that its type takes.
    static let alterations: [(column: String, value: String)] = [
        ("id", "'cert_00000000000000000000000000000009'"), ("registration", "'mid_00000000000000000000000000000009'"),
        ("public_key_hash", "zeroblob(32)"), ("public_key_hash", "zeroblob(31)"), ("status", "'retired'"), ("status", "'unheard'"), ("source", "'pkcs12'"),
        ("key_algorithm", "'rsa_2048'"), ("key_algorithm", "'dsa'"), ("display_name", "'other'"), ("certificate_digest", "zeroblob(32)"),
        ("certificate_digest", "NULL"), ("issuer_pinned", "0"), ("warnings", "''"), ("warnings", "warnings || ' more'"), ("replaces", "NULL"),
        ("replaces", "'cert_00000000000000000000000000000009'"), ("replaced_by", "NULL"), ("replaced_by", "'cert_00000000000000000000000000000009'"),
        ("cancelled_at", "NULL"), ("cancelled_at", "1"), ("compromised_at", "NULL"), ("compromised_at", "1"), ("compromised_reason", "NULL"),
        ("compromised_reason", "'other'"), ("created_at", "created_at + 1"), ("updated_at", "updated_at + 1"), ("request_digest", "zeroblob(32)"),
        ("request_digest", "NULL"), ("mac", "zeroblob(32)"), ("mac", "zeroblob(0)"), ("expires_at", "expires_at + 1000"), ("expires_at", "NULL"),
        ("certificate", "request"), ("certificate", "substr(certificate, 1, length(certificate) - 1)"), ("request", "certificate"),
    ]

    @Test(arguments: alterations)
    func `any column altered by somebody else is noticed`(_ column: String, _ value: String) throws {
        let other = Store.registration(merchant: MerchantID(bits: 2))
        let target = Registration(
            id: RegistrationID(bits: 9), merchant: other.merchant, environment: .sandbox, identifier: other.identifier, displayName: "", replayPolicy: .reject,
            maximumTokenAgeSeconds: nil, provenUntil: nil, createdAt: Store.now, updatedAt: Store.now)
        try store.insert(target)
        let record = try store.certificate(.active, compromised: true, replaces: CertificateID(bits: 5))
        try store.tamper("DELETE FROM sealed_keys")
        #expect(try store.tamper("UPDATE certificates SET \(column) = \(value)") == 1)
        try store.read { connection throws(Problem) in
            #expect(throws: CertificatesTests.rowAltered) { try store.keyStore.list(CertificateFilter(), in: Store.sandbox, connection) }
            let id = try connection.first("SELECT id FROM certificates") { row in row.text(0) }.flatMap { CertificateID($0) } ?? record.id
            #expect(throws: CertificatesTests.rowAltered) { try store.keyStore.certificate(id, in: Store.sandbox, connection) }
        }
    }

    @Test func `the columns of the table are those tried here`() throws {
        let columns = try store.read { connection throws(Problem) in
            try connection.query("SELECT name FROM pragma_table_info('certificates')") { row in row.text(0) }
        }
        #expect(Set(columns) == Set(CertificatesTests.alterations.map(\.column)).union(["number"]))
    }

    /// The decryption path reads no document; what decides there is under the MAC all the same.
    @Test(arguments: alterations.filter { !["certificate", "request", "expires_at", "public_key_hash", "registration"].contains($0.column) })
    func `the decryption path notices too`(_ column: String, _ value: String) throws {
        let record = try store.certificate(.active, compromised: true, replaces: CertificateID(bits: 5))
        try store.tamper("DELETE FROM sealed_keys")
        try store.tamper("UPDATE certificates SET \(column) = \(value)")
        try store.read { connection throws(Problem) in
            #expect(throws: CertificatesTests.rowAltered) { try store.keyStore.held(record.publicKeyHash, in: Store.sandbox, connection) }
        }
    }

    @Test func `a record comes back as it went in, with and without its documents`() throws {
        let record = try store.certificate(.active, compromised: true, replaces: CertificateID(bits: 5))
        let found = try store.find(record.id)
        #expect(found.certificate == record.certificate && found.certificateSigningRequest == record.certificateSigningRequest)
        #expect(found.registration == store.registration.id && found.merchant == Store.merchant && found.merchantIdentifier == Store.identifier)
        #expect(found.warnings == record.warnings && found.compromisedReason == "laptop stolen" && found.usage == nil)
        try store.read { connection throws(Problem) in
            let held = try store.keyStore.held(record.publicKeyHash, in: Store.sandbox, connection)
            #expect(held.count == 1 && held.first?.record.certificate == nil && held.first?.record.certificateSigningRequest == nil)
            #expect(held.first?.record.certificateDigest == record.certificateDigest && held.first?.registration.id == store.registration.id)
        }
    }

    @Test func `lists by status, hash, registration and end, page by page`() throws {
        let other = Store.registration(merchant: MerchantID(bits: 2))
        try store.insert(other)
        let records = [
            try store.certificate(.active), try store.certificate(.staged), try store.certificate(.staged, in: other),
            try store.certificate(.awaitingCertificate),
        ]
        func list(_ filter: CertificateFilter) throws -> [CertificateID] {
            try store.read { connection throws(Problem) in try store.keyStore.list(filter, in: Store.sandbox, connection).map(\.id) }
        }
        let ids = records.map(\.id)
        #expect(try list(CertificateFilter()) == ids)
        #expect(try list(CertificateFilter(status: .staged)) == [ids[1], ids[2]])
        #expect(try list(CertificateFilter(registration: other.id)) == [ids[2]])
        #expect(try list(CertificateFilter(publicKeyHash: records[1].publicKeyHash)) == [ids[1]])
        #expect(try list(CertificateFilter(expiresBefore: Store.now)) == [])
        #expect(try list(CertificateFilter(expiresBefore: Store.now.adding(seconds: 86_400))).count == 4)
        #expect(try list(CertificateFilter(after: ids[0], limit: 2)) == [ids[1], ids[2]])
        #expect(try list(CertificateFilter(after: ids[3])) == [])
        try store.read { connection throws(Problem) in
            #expect(try store.keyStore.certificates(of: store.registration.id, connection).map(\.id) == [ids[0], ids[1], ids[3]])
        }
    }

    @Test func `one key in one registration is one record`() throws {
        let key = try PrivateKey.p256(P256.AgreementKey.generate())
        try store.certificate(.staged, key: key)
        #expect(throws: Problem.database(.duplicate)) { try store.certificate(.staged, key: key) }
        let other = Store.registration(merchant: MerchantID(bits: 2))
        try store.insert(other)
        try store.certificate(.staged, key: key, in: other)
    }
}
