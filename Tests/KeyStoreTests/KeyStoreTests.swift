import ApplePay
import Cryptography
import Database
import Encodings
import Problems
import SQLite
import Testing

@testable import KeyStore

@Suite struct KeyStoreTests {
    static let stateConflict = Problem(KeyStoreProblem.stateConflict)
    let store: Store
    init() throws { store = try Store() }

    private func noteUse(_ record: CertificateRecord, at now: Timestamp = Store.now) throws -> Bool {
        try store.write { [store] connection throws(Problem) in try store.keyStore.noteUse(of: record, at: now, in: connection) }
    }

    private func open(_ record: CertificateRecord) throws(Problem) -> PrivateKey { try store.keyStore.open(record, in: store.database) }

    // MARK: Activation

    @Test func `activation sends the former active of the same algorithm and registration into retirement, and nobody else`() throws {
        let otherRegistration = Store.registration(merchant: MerchantID(bits: 2))
        try store.insert(otherRegistration)
        let former = try store.certificate(.active)
        let rsa = try store.certificate(.active, key: Store.rsaKey)
        let foreign = try store.certificate(.active, in: otherRegistration)
        let retired = try store.certificate(.retired)
        let fresh = try store.certificate(.staged)
        try store.apply(.activate, fresh)
        #expect(try [fresh, former, rsa, foreign, retired].map { try store.status($0) } == [.active, .retiring, .active, .active, .retired])
        // The recorded activation was wrong.
        try store.apply(.reinstate, former)
        #expect(try [fresh, former].map { try store.status($0) } == [.retiring, .active])
    }

    @Test func `activation and succession stand or fall together`() throws {
        let former = try store.certificate(.active)
        let fresh = try store.certificate(.staged)
        #expect(throws: Problem.database(.unavailable)) {
            try store.write { [store] connection throws(Problem) in
                _ = try store.keyStore.apply(.activate, to: fresh.id, by: "cred_1", at: Store.now, in: connection)
                throw .database(.unavailable)
            }
        }
        #expect(try [fresh, former].map { try store.status($0) } == [.staged, .active])
    }

    @Test(arguments: CertificateStatus.allCases)
    func `use counts, and moves a staged certificate only`(_ status: CertificateStatus) throws {
        let former = try store.certificate(.active)
        let record = try store.certificate(status)
        let later = Store.now.adding(seconds: 60)
        #expect(try noteUse(record, at: later) == (status == .staged))
        #expect(try noteUse(record, at: Store.now) == false)
        #expect(try store.status(record) == (status == .staged ? .active : status))
        #expect(try store.status(former) == (status == .staged ? .retiring : .active))
        #expect(try store.find(record.id).usage == CertificateUsage(firstUsedAt: later, lastUsedAt: later, count: 2))
    }

    /// Two uses read the record while it was staged; before the second is settled, another certificate has become active.
    @Test(arguments: [CertificateVerb.activate, .supersede, .retire])
    func `a use whose record was read before it moved on is counted and moves nothing back`(_ last: CertificateVerb) throws {
        let read = try store.certificate(.staged)
        for verb in [CertificateVerb.activate, .supersede, .retire] {
            try store.apply(verb, read)
            if verb == last { break }
        }
        let status = try store.status(read)
        #expect(try noteUse(read) == false)
        #expect(try store.status(read) == status)
        #expect(try store.find(read.id).usage?.count == 1)
    }

    // MARK: Upload

    private func attach(_ der: [UInt8], to record: CertificateRecord, at now: Timestamp = Store.now) throws(Problem) -> CertificateRecord {
        try store.write { [store] connection throws(Problem) in
            try store.keyStore.attach(certificate: der, issuerPinned: false, warnings: ["w"], to: record.id, at: now, in: connection)
        }
    }

    private func former(of record: CertificateRecord) throws -> [[UInt8]] {
        try store.read { connection throws(Problem) in
            try connection.query("SELECT content FROM former_certificates WHERE certificate = $1 ORDER BY rowid", [.text(record.id.text)]) { row in row.blob(0)
            }
        }
    }

    @Test(arguments: CertificateStatus.allCases)
    func `a certificate completes a request, or replaces the one shown and keeps the former`(_ status: CertificateStatus) throws {
        let record = try store.certificate(status)
        let shown = try #require(record.certificate)
        let later = Store.now.adding(seconds: 5)
        let new = Array(shown.reversed())
        if status == .destroyed {
            #expect(throws: KeyStoreTests.stateConflict) { try attach(shown, to: record) }
            return
        }
        #expect(throws: Problem.cryptography(.notACertificate)) { try attach(new, to: record) }
        let renewed = try Store.certificate(of: try open(record), notAfter: Store.now.adding(seconds: 999_999)).der
        let after = try attach(renewed, to: record, at: later)
        let expected: CertificateStatus = status == .awaitingCertificate || status == .cancelled ? .staged : status
        #expect(after.status == expected)
        #expect(after.cancelledAt == (expected == .staged && status != .staged ? nil : Store.now))
        let found = try store.find(record.id)
        #expect(found.certificate == renewed && found.certificateDigest == SHA256.digest(renewed) && found.status == expected)
        #expect(found.updatedAt == later && !found.issuerPinned && found.warnings == ["w"])
        #expect(try former(of: record) == [shown])
    }

    // MARK: Pending requests

    @Test func `at most so many requests are open at a time`() throws {
        let store = try Store(maximumPending: 3)
        let open = try (0..<3).map { _ in try store.certificate(.awaitingCertificate) }
        let problem = #expect(throws: Problem(KeyStoreProblem.tooManyPending)) { try store.certificate(.awaitingCertificate) }
        #expect(problem?.context.first { $0.name == "limit" }?.value == 3)
        // Other states, and other registrations, don't count.
        try store.certificate(.staged)
        let other = Store.registration(merchant: MerchantID(bits: 2))
        try store.insert(other)
        try store.certificate(.awaitingCertificate, in: other)
        try store.apply(.cancel, open[0])
        try store.certificate(.awaitingCertificate)
    }

    @Test func `twenty, unless something else is set`() throws {
        for _ in 0..<20 { try store.certificate(.awaitingCertificate) }
        #expect(throws: Problem(KeyStoreProblem.tooManyPending)) { try store.certificate(.awaitingCertificate) }
    }

    // MARK: The end of a key

    @Test func `destroy removes the sealed key and leaves a tombstone`() throws {
        let record = try store.certificate(.retired)
        let kept = try store.certificate(.retired)
        try store.apply(.destroy, record)
        let (sealed, tombstone) = try store.read { connection throws(Problem) in
            (
                try connection.query("SELECT certificate FROM sealed_keys", []) { row in row.text(0) },
                try connection.query("SELECT public_key_hash, registration, certificate, destroyed_at, actor FROM tombstones", []) { row in
                    (row.blob(0), row.text(1), row.text(2), row.integer(3), row.text(4))
                }
            )
        }
        #expect(sealed == [kept.id.text])
        #expect(tombstone.count == 1)
        #expect(
            try #require(tombstone.first) == (
                record.publicKeyHash.bytes, record.registration.text, record.id.text, Store.now.milliseconds, "cred_1"
            ))
        #expect(throws: Problem(KeyStoreProblem.keyDoesNotOpen)) { try open(record) }
        // Again is no error and leaves no second stone.
        try store.apply(.destroy, record)
        #expect(try store.read { connection throws(Problem) in try connection.first("SELECT count(*) FROM tombstones") { row in row.integer(0) } } == 1)
    }

    @Test func `a key that was opened before its end is forgotten once that is committed`() throws {
        let record = try store.certificate(.retired)
        _ = try open(record)
        #expect(store.keyStore.openedKeys == 1)
        try store.apply(.destroy, record)
        store.keyStore.forgetOpenedKey(record.id)
        #expect(store.keyStore.openedKeys == 0)
        #expect(throws: Problem(KeyStoreProblem.keyDoesNotOpen)) { try open(record) }
    }

    @Test func `a cancelled request is overdue after its time, oldest first`() throws {
        let first = try store.certificate(.awaitingCertificate)
        let second = try store.certificate(.awaitingCertificate)
        let waiting = try store.certificate(.awaitingCertificate)
        for (record, seconds) in [(second, 10), (first, 0)] as [(CertificateRecord, Int64)] {
            try store.write { [store] connection throws(Problem) in
                _ = try store.keyStore.apply(.cancel, to: record.id, by: "cred_1", at: Store.now.adding(seconds: seconds), in: connection)
            }
        }
        func overdue(_ seconds: Int64, limit: Int = 9) throws -> [CertificateID] {
            try store.read { connection throws(Problem) in
                try store.keyStore.cancelledBefore(Store.now.adding(seconds: seconds), limit: limit, connection)
            }
        }
        #expect(try overdue(0) == [])
        #expect(try overdue(1) == [first.id])
        #expect(try overdue(11) == [first.id, second.id])
        #expect(try overdue(11, limit: 1) == [first.id])
        #expect(try !overdue(99_999).contains(waiting.id))
    }

    @Test func `compromised is said once and stays; a destroyed key is beyond it`() throws {
        let record = try store.certificate(.active)
        let marked = try store.write { [store] connection throws(Problem) in
            try store.keyStore.markCompromised(record.id, reason: "leak", at: Store.now, in: connection)
        }
        #expect(marked.changed && marked.record.compromisedReason == "leak")
        let again = try store.write { [store] connection throws(Problem) in
            try store.keyStore.markCompromised(record.id, reason: "other", at: Store.now.adding(seconds: 9), in: connection)
        }
        #expect(!again.changed && again.record.compromisedReason == "leak" && again.record.compromisedAt == Store.now)
        #expect(try store.status(record) == .active)
        let gone = try store.certificate(.destroyed)
        #expect(throws: KeyStoreTests.stateConflict) {
            try store.write { [store] connection throws(Problem) in
                _ = try store.keyStore.markCompromised(gone.id, reason: "leak", at: Store.now, in: connection)
            }
        }
    }

    @Test func `names and successors change nothing else`() throws {
        let record = try store.certificate(.active)
        let successor = try store.certificate(.awaitingCertificate, replaces: record.id)
        try store.write { [store] connection throws(Problem) in
            _ = try store.keyStore.rename(record.id, to: "new name", at: Store.now.adding(seconds: 1), in: connection)
            try store.keyStore.link(record.id, replacedBy: successor.id, at: Store.now.adding(seconds: 2), in: connection)
        }
        let found = try store.find(record.id)
        #expect(found.displayName == "new name" && found.replacedBy == successor.id && found.status == .active)
        #expect(try store.find(successor.id).replaces == record.id)
    }

    // MARK: Scope

    @Test func `what stands outside the scope is as if it were not there`() throws {
        let record = try store.certificate(.active)
        let scopes = [
            TenantScope(environment: .production, merchants: nil), TenantScope(environment: .sandbox, merchants: [MerchantID(bits: 99)]),
            TenantScope(environment: .sandbox, merchants: []),
        ]
        for scope in scopes {
            try store.read { connection throws(Problem) in
                let foreign = #expect(throws: Problem.self) { try store.keyStore.certificate(record.id, in: scope, connection) }
                let absent = #expect(throws: Problem.self) { try store.keyStore.certificate(.random(), in: scope, connection) }
                #expect(foreign?.code == "certificate.unknown")
                #expect(foreign?.description == absent?.description && foreign?.context.isEmpty == true && absent?.context.isEmpty == true)
                #expect(try store.keyStore.held(record.publicKeyHash, in: scope, connection).isEmpty)
                #expect(try store.keyStore.list(CertificateFilter(), in: scope, connection).isEmpty)
            }
        }
        let own = TenantScope(environment: .sandbox, merchants: [Store.merchant, MerchantID(bits: 99)])
        try store.read { connection throws(Problem) in
            #expect(try store.keyStore.held(record.publicKeyHash, in: own, connection).map(\.record.id) == [record.id])
            #expect(try store.keyStore.list(CertificateFilter(), in: own, connection).map(\.id) == [record.id])
        }
    }

    // MARK: Opening

    @Test func `opens by record, and a second time from memory`() throws {
        for key in [try PrivateKey.p256(P256.AgreementKey.generate()), Store.rsaKey] {
            let record = try store.certificate(.staged, key: key)
            #expect(try open(record).spki == key.spki)
            try store.tamper("DELETE FROM sealed_keys WHERE certificate = $1", [.text(record.id.text)])
            #expect(try open(record).spki == key.spki)
            store.keyStore.forgetOpenedKeys()
            #expect(throws: Problem(KeyStoreProblem.keyDoesNotOpen)) { try open(record) }
        }
    }

    @Test func `a flipped bit anywhere in the sealed key or its wrap does not open, and nothing is written over`() throws {
        let record = try store.certificate(.active)
        let sealed = try #require(
            try store.read { connection throws(Problem) in
                try connection.first("SELECT wrapped, sealed FROM sealed_keys", []) { row in (wrapped: row.blob(0), sealed: row.blob(1)) }
            })
        for (column, bytes) in [("wrapped", sealed.wrapped), ("sealed", sealed.sealed)] {
            for index in bytes.indices {
                var damaged = bytes
                damaged[index] ^= 1 << (index % 8)
                try store.tamper("UPDATE sealed_keys SET \(column) = $1", [.blob(damaged)])
                let problem = #expect(throws: Problem(KeyStoreProblem.keyDoesNotOpen)) { try open(record) }
                #expect(problem?.status == 500)
                #expect(try store.read { connection throws(Problem) in try connection.first("SELECT \(column) FROM sealed_keys") { $0.blob(0) } } == damaged)
            }
            for length in [0, 1, 27, 28, bytes.count - 1] {
                try store.tamper("UPDATE sealed_keys SET \(column) = $1", [.blob(Array(bytes.prefix(length)))])
                #expect(throws: Problem(KeyStoreProblem.keyDoesNotOpen)) { try open(record) }
            }
            try store.tamper("UPDATE sealed_keys SET \(column) = $1", [.blob(bytes)])
        }
        #expect(try open(record).spkiHash == record.publicKeyHash)
    }

    @Test func `sealed rows exchanged between records do not open`() throws {
        let records = [try store.certificate(.active), try store.certificate(.staged)]
        try store.tamper("CREATE TABLE copy AS SELECT * FROM sealed_keys")
        try store.tamper("UPDATE sealed_keys SET (wrapped, sealed) = (SELECT wrapped, sealed FROM copy WHERE copy.certificate <> sealed_keys.certificate)")
        for record in records { #expect(throws: Problem(KeyStoreProblem.keyDoesNotOpen)) { try open(record) } }
    }

    // MARK: Verifying everything

    @Test func `verifies every key and row, and says what is wrong`() throws {
        var records: [CertificateRecord] = []
        for _ in 0..<25 {
            for status in [CertificateStatus.staged, .active, .retired, .destroyed, .cancelled] { records.append(try store.certificate(status)) }
        }
        let all = try store.keyStore.verifyAll(in: store.database)
        #expect(all.opened == 100 && all.problems.isEmpty && store.keyStore.openedKeys == 0)

        try store.tamper("UPDATE certificates SET status = 'active' WHERE id = $1", [.text(records[0].id.text)])
        try store.tamper("UPDATE sealed_keys SET sealed = zeroblob(200) WHERE certificate = $1", [.text(records[1].id.text)])
        try store.tamper("DELETE FROM sealed_keys WHERE certificate = $1", [.text(records[2].id.text)])
        // A sealed key comes back to a record whose key was destroyed.
        try store.tamper("UPDATE sealed_keys SET certificate = $1 WHERE certificate = $2", [.text(records[3].id.text), .text(records[4].id.text)])
        let found = try store.keyStore.verifyAll(in: store.database)
        #expect(found.opened == 96)
        #expect(
            found.problems.map(\.code) == [
                "custody.row_altered", "custody.key_does_not_open", "custody.key_does_not_open", "custody.row_altered", "custody.key_does_not_open",
            ])
    }
}
