import ApplePay
import Cryptography
import Database
import Encodings
import Problems
import Testing

@testable import KeyStore

@Suite struct RegistrationsTests {
    let store: Store
    init() throws { store = try Store() }

    static let alterations: [(column: String, value: String)] = [
        ("id", "'mid_00000000000000000000000000000009'"), ("id", "'mid_9'"), ("merchant", "'mer_00000000000000000000000000000009'"), ("merchant", "''"),
        ("environment", "'production'"), ("environment", "'test'"), ("identifier", "'merchant.com.example.shoq'"), ("identifier", "'example'"),
        ("display_name", "'other'"), ("replay_policy", "'observe'"), ("replay_policy", "''"), ("maximum_token_age_seconds", "NULL"),
        ("maximum_token_age_seconds", "86400"), ("proven_until", "NULL"), ("proven_until", "proven_until + 1"), ("created_at", "created_at + 1"),
        ("updated_at", "updated_at + 1"), ("mac", "zeroblob(32)"), ("mac", "zeroblob(0)"),
    ]

    @Test(arguments: alterations)
    func `any column altered by somebody else is noticed`(_ column: String, _ value: String) throws {
        let scopes = [Store.sandbox, TenantScope(environment: .production, merchants: nil)]
        #expect(try store.tamper("UPDATE registrations SET \(column) = \(value)") == 1)
        try store.read { connection throws(Problem) in
            let ids = [store.registration.id, RegistrationID(bits: 9)]
            let codes = ids.flatMap { id in
                scopes.compactMap { scope in
                    do throws(Problem) { return try store.keyStore.registrations.find(id, in: scope, connection).map { _ in "found" } } catch {
                        return error.code
                    }
                }
            }
            if value != "'mid_9'" { #expect(codes == [String](repeating: "custody.row_altered", count: 2)) }
            if column != "environment" {
                #expect(throws: CertificatesTests.rowAltered) {
                    try store.keyStore.registrations.list(in: Store.sandbox, merchant: nil, after: nil, limit: 9, connection)
                }
            }
        }
    }

    @Test func `the columns of the table are those tried here`() throws {
        let columns = try store.read { connection throws(Problem) in
            try connection.query("SELECT name FROM pragma_table_info('registrations')") { row in row.text(0) }
        }
        #expect(Set(columns) == Set(RegistrationsTests.alterations.map(\.column)).union(["number"]))
    }

    @Test func `a certificate of an altered registration is not believed`() throws {
        let record = try store.certificate(.active)
        try store.tamper("UPDATE registrations SET merchant = 'mer_00000000000000000000000000000009'")
        try store.read { connection throws(Problem) in
            let scope = TenantScope(environment: .sandbox, merchants: [MerchantID(bits: 9)])
            #expect(throws: CertificatesTests.rowAltered) { try store.keyStore.held(record.publicKeyHash, in: scope, connection) }
            #expect(throws: CertificatesTests.rowAltered) { try store.keyStore.certificate(record.id, in: scope, connection) }
        }
    }

    @Test func `the same merchant, environment and identifier is registered once`() throws {
        let problem = #expect(throws: Problem(KeyStoreProblem.alreadyRegistered)) { try store.insert(Store.registration()) }
        #expect(problem?.context.first?.value == .text(store.registration.id.text))
        try store.insert(Store.registration(environment: .production))
        try store.insert(Store.registration(merchant: MerchantID(bits: 2)))
        try store.insert(Store.registration(identifier: try MerchantIdentifier("merchant.com.example.Shop")))
    }

    @Test func `what can change changes, and nothing else`() throws {
        var changed = store.registration
        changed.displayName = "New"
        changed.replayPolicy = .reject
        changed.maximumTokenAgeSeconds = nil
        changed.provenUntil = nil
        changed.updatedAt = Store.now.adding(seconds: 1)
        let written = changed
        try store.write { [store] connection throws(Problem) in try store.keyStore.registrations.update(written, in: connection) }
        let found = try #require(
            try store.read { connection throws(Problem) in try store.keyStore.registrations.find(written.id, in: Store.sandbox, connection) })
        #expect(found.displayName == "New" && found.replayPolicy == .reject && found.maximumTokenAgeSeconds == nil && found.provenUntil == nil)
        #expect(found.createdAt == Store.now && found.identifier == Store.identifier)
    }

    // MARK: Resolving

    private func resolve(_ reference: String, _ scope: TenantScope = Store.sandbox) throws(Problem) -> Registration {
        try store.read { connection throws(Problem) in try store.keyStore.registrations.resolve(reference, in: scope, connection) }
    }

    @Test func `a path names by id or by the literal identifier, within the scope`() throws {
        let text = Store.identifier.text
        #expect(try resolve(text).id == store.registration.id)
        #expect(try resolve(store.registration.id.text).id == store.registration.id)
        let foreign = [TenantScope(environment: .production, merchants: nil), TenantScope(environment: .sandbox, merchants: [MerchantID(bits: 99)])]
        for scope in foreign {
            for reference in [text, text.uppercased(), store.registration.id.text, "merchant.none", RegistrationID(bits: 4).text, ""] {
                let problem = #expect(throws: Problem(KeyStoreProblem.registrationUnknown)) { try resolve(reference, scope) }
                #expect(problem?.context.isEmpty == true)
            }
        }
    }

    @Test func `a literal that fits several is ambiguous, with the ids the caller may see`() throws {
        let second = Store.registration(merchant: MerchantID(bits: 2))
        let third = Store.registration(merchant: MerchantID(bits: 3))
        try store.insert(second)
        try store.insert(third)
        try store.insert(Store.registration(merchant: MerchantID(bits: 2), environment: .production))
        let problem = #expect(throws: Problem(KeyStoreProblem.ambiguous)) {
            try resolve(Store.identifier.text, TenantScope(environment: .sandbox, merchants: [MerchantID(bits: 2), Store.merchant]))
        }
        #expect(problem?.status == 409)
        guard case .list(let ids) = problem?.context.first?.value else { return #expect(Bool(false)) }
        #expect(ids.count == 2 && ids.contains(.text(second.id.text)) && ids.contains(.text(store.registration.id.text)))
        #expect(try resolve(Store.identifier.text, TenantScope(environment: .sandbox, merchants: [MerchantID(bits: 3)])).id == third.id)
        #expect(try resolve(third.id.text).id == third.id)
    }

    @Test func `another case is told apart, and only about one's own`() throws {
        let problem = #expect(throws: Problem(KeyStoreProblem.caseDiffers)) { try resolve("merchant.com.EXAMPLE.shop") }
        #expect(problem?.status == 404)
        #expect(problem?.context.map(\.value) == ["merchant.com.EXAMPLE.shop", "merchant.com.example.shop"])
        // Both spellings can be registered; then each is itself.
        let other = Store.registration(identifier: try MerchantIdentifier("merchant.com.EXAMPLE.shop"))
        try store.insert(other)
        #expect(try resolve("merchant.com.EXAMPLE.shop").id == other.id)
    }

    @Test func `a misspelt identifier is looked up by an index`() throws {
        let plan = try store.read { connection throws(Problem) in
            try connection.query("EXPLAIN QUERY PLAN SELECT r.id FROM registrations r WHERE lower(r.identifier) = 'x'") { row in
                row.text(3)
            }
        }
        #expect(plan.allSatisfy { $0.contains("registrations_by_folded_identifier") })
    }

    @Test func `lists page by page, by merchant and scope`() throws {
        var ids = [store.registration.id]
        for number in 2...5 {
            let next = Store.registration(merchant: MerchantID(bits: UInt128(number)))
            try store.insert(next)
            ids.append(next.id)
        }
        func list(_ scope: TenantScope = Store.sandbox, merchant: MerchantID? = nil, after: RegistrationID? = nil, limit: Int = 9) throws -> [RegistrationID] {
            try store.read { connection throws(Problem) in
                try store.keyStore.registrations.list(in: scope, merchant: merchant, after: after, limit: limit, connection).map(\.id)
            }
        }
        #expect(try list() == ids)
        #expect(try list(after: ids[1], limit: 2) == [ids[2], ids[3]])
        #expect(try list(merchant: MerchantID(bits: 4)) == [ids[3]])
        #expect(try list(TenantScope(environment: .sandbox, merchants: [MerchantID(bits: 2), MerchantID(bits: 5)])) == [ids[1], ids[4]])
        #expect(try list(TenantScope(environment: .sandbox, merchants: [MerchantID(bits: 2)]), merchant: MerchantID(bits: 4)) == [])
        #expect(try list(TenantScope(environment: .production, merchants: nil)) == [])
    }

    // MARK: Proof

    @Test func `somebody else's proof counts while it lasts, in the same environment, for the same identifier`() throws {
        func registration(_ merchant: Int, _ environment: Environment = .sandbox, _ identifier: String = Store.identifier.text, until: Int64?) throws {
            var registration = Store.registration(
                merchant: MerchantID(bits: UInt128(merchant)), environment: environment, identifier: try MerchantIdentifier(identifier))
            registration.provenUntil = until.map { Store.now.adding(seconds: $0) }
            try store.insert(registration)
        }
        func isProvenElsewhere(at seconds: Int64 = 0) throws -> Bool {
            try store.read { connection throws(Problem) in
                try store.keyStore.registrations.provenElsewhere(than: store.registration, at: Store.now.adding(seconds: seconds), connection)
            }
        }
        #expect(try !isProvenElsewhere())
        try registration(1, .production, until: 1000)
        try registration(2, .production, until: 1000)
        try registration(2, .sandbox, "merchant.com.example.other", until: 1000)
        try registration(2, until: nil)
        #expect(try !isProvenElsewhere())
        try registration(3, until: 100)
        #expect(try isProvenElsewhere(at: 99))
        #expect(try !isProvenElsewhere(at: 100))
    }

    // MARK: Unknown hashes

    @Test func `unknown hashes are counted, and the hundred seen last are kept`() throws {
        func note(_ number: Int, at seconds: Int64) throws {
            try store.write { [store] connection throws(Problem) in
                try store.keyStore.registrations.noteUnknownHash(
                    SHA256.digest(Array("\(number)".utf8)), for: store.registration.id, at: Store.now.adding(seconds: seconds), in: connection)
            }
        }
        func unknown() throws -> [UnknownPublicKeyHash] {
            try store.read { connection throws(Problem) in try store.keyStore.registrations.unknownHashes(of: store.registration.id, connection) }
        }
        for number in 0..<100 { try note(number, at: Int64(number)) }
        try note(0, at: 200)
        #expect(try unknown().count == 100)
        let first = try #require(try unknown().first)
        #expect(first.publicKeyHash == SHA256.digest(Array("0".utf8)) && first.count == 2)
        #expect(first.firstSeenAt == Store.now && first.lastSeenAt == Store.now.adding(seconds: 200))
        for number in 100..<150 { try note(number, at: 300) }
        let kept = Set(try unknown().map(\.publicKeyHash))
        #expect(kept.count == 100 && kept.contains(SHA256.digest(Array("0".utf8))))
        #expect(!kept.contains(SHA256.digest(Array("1".utf8))) && kept.contains(SHA256.digest(Array("51".utf8))))
    }
}
