import AuditTrail
import Database
import Encodings
import Problems
import SQLite
import Testing

@Suite struct AuditTrailTests {
    let fixture: Fixture

    init() throws { fixture = try Fixture() }

    @Test func `counts from one without a gap and gives every entry its own id`() throws {
        let entries = try fixture.append(0..<10) + fixture.append(10..<20)
        #expect(entries.map(\.sequence) == Array(1...20))
        #expect(Set(entries.map(\.id)).count == 20)
        #expect(Set(entries.map(\.mac)).count == 20)
        #expect(try fixture.codes() == [])
    }

    @Test func `an entry comes back as it went in`() throws {
        let empty = AuditDraft(action: "serve.start", actor: .system, at: Fixture.beginning)
        let odd = AuditDraft(
            action: "certificate.upload", actor: AuditActor(kind: .anonymous, id: ""), at: Timestamp(milliseconds: -1), outcome: "x", reference: "\"\u{0}\n✓𝄞",
            details: ["text": "\"quoted\" \\ \u{1}", "number": -7, "yes": true, "no": false])
        for draft in [Fixture.draft(1), Fixture.draft(17), empty, odd] {
            let written = try fixture.database.writeBlocking { [trail = fixture.trail] connection throws(Problem) in
                try trail.append(draft, in: connection)
            }
            let read = try #require(try fixture.database.read { connection throws(Problem) in try fixture.trail.entry(id: written.id, in: connection) })
            #expect(read.sequence == written.sequence && read.id == written.id && read.mac == written.mac)
            let content = read.content
            #expect(content.action == draft.action)
            #expect(content.actor == draft.actor)
            #expect(content.at == draft.at)
            #expect(content.outcome == draft.outcome)
            #expect(content.environment == draft.environment)
            #expect(content.merchant == draft.merchant)
            #expect(content.registration == draft.registration)
            #expect(content.certificate == draft.certificate)
            #expect(content.requestID == draft.requestID)
            #expect(content.publicKeyHash == draft.publicKeyHash)
            #expect(content.transactionDigest == draft.transactionDigest)
            #expect(content.reference == draft.reference)
            #expect(content.replayed == draft.replayed)
            #expect(content.details == draft.details)
        }
    }

    @Test func `only an id that was given out finds an entry`() throws {
        let entry = try fixture.append(0..<3)[1]
        try fixture.database.read { connection throws(Problem) in
            for bit in 0..<128 {
                let id = AuditID(bits: entry.id.bits ^ (1 << UInt128(bit)))
                #expect(try fixture.trail.entry(id: id, in: connection) == nil)
            }
            #expect(try fixture.trail.entry(id: AuditID(bits: entry.decryptionID.bits), in: connection)?.sequence == 2)
        }
    }

    @Test func `an entry stands if and only if its transaction does`() async throws {
        let trail = fixture.trail
        let database = fixture.database
        let kept = await withTaskGroup(of: Int64?.self) { group in
            for number in 0..<300 {
                group.addTask {
                    do throws(Problem) {
                        return try await database.write { connection throws(Problem) in
                            let entry = try trail.append(Fixture.draft(number), in: connection)
                            if number.isMultiple(of: 3) { throw .database(.missing) }
                            return entry.sequence
                        }
                    } catch {
                        return nil
                    }
                }
            }
            return await group.reduce(into: [Int64]()) { $0 += $1.map { [$0] } ?? [] }
        }
        #expect(kept.sorted() == Array(1...200))
        let verification = try trail.verify(against: nil, in: database)
        #expect(verification.isIntact && verification.entryCount == 200 && verification.range == 1...200)
    }

    @Test func `a body that looks away from a failed entry does not break the chain`() throws {
        let trail = fixture.trail
        try fixture.append(0..<3)
        // The sequence that is next is taken by a row in this very transaction.
        try fixture.database.writeBlocking { connection throws(Problem) in
            try trail.append(Fixture.draft(3), in: connection)
            try connection.execute(
                "INSERT INTO audit_entries (sequence, at, action, outcome, actor_kind, actor, replayed, details, mac) VALUES (5, 0, '', '', '', '', 0, '', x'')"
            )
            do { try trail.append(Fixture.draft(4), in: connection) } catch {}
            try connection.execute("DELETE FROM audit_entries WHERE sequence = 5")
            try trail.append(Fixture.draft(5), in: connection)
        }
        #expect(try fixture.codes() == [])
        #expect(try fixture.trail.verify(against: nil, in: fixture.database).entryCount == 5)
    }

    @Test func `two processes append to one chain`() throws {
        let other = try SQLiteDatabase(path: fixture.database.path, mode: .readWrite)
        let otherTrail = try Fixture.trail()
        for round in 0..<30 {
            try fixture.append(round * 2..<round * 2 + 1)
            try Fixture.append(round * 2 + 1..<round * 2 + 2, to: otherTrail, in: other)
        }
        let verification = try fixture.trail.verify(against: nil, in: fixture.database)
        #expect(verification.isIntact && verification.entryCount == 60)
    }

    @Test func `goes on where the last process ended`() throws {
        try fixture.append(0..<1500)
        let trail = try Fixture.trail()
        let next = try Fixture.append(1500..<3000, to: trail, in: fixture.database)
        #expect(next.first?.sequence == 1501)
        #expect(try fixture.codes() == [])
    }
}
