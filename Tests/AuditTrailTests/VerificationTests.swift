import AuditTrail
import Database
import Encodings
import Foundation
import Problems
import SQLite
import TestSupport
import Testing

@Suite struct VerificationTests {
    let fixture: Fixture

    init() throws { fixture = try Fixture() }

    private func sequence(_ problem: Problem?) -> Int? {
        if case .number(let number)? = problem?.context.first(where: { $0.name == "sequence" })?.value { number } else { nil }
    }

    @Test func `an untouched trail is intact, whole and in part, and an empty one too`() throws {
        #expect(try self.fixture.codes() == [])
        let fixture = try Fixture.filled()
        let head = try fixture.trail.recordHead(to: fixture.headFile, at: Fixture.beginning, in: fixture.database)
        let verification = try fixture.trail.verify(against: head, in: fixture.database)
        #expect(verification.isIntact && verification.entryCount == 2500 && verification.range == 1...2500 && verification.recordedHead == head)
        for range in [1...1, 1...1023, 1023...1025, 1500...1500, 2500...2500, 2400...9999, -5...10] as [ClosedRange<Int64>] {
            let part = try fixture.trail.verify(range, against: nil, in: fixture.database)
            #expect(part.isIntact && part.range == max(range.lowerBound, 1)...min(range.upperBound, 2500), "\(range)")
        }
        #expect(try fixture.trail.verify(2501...3000, against: nil, in: fixture.database).range == nil)
        #expect(try fixture.trail.verify(Int64.max...Int64.max, against: nil, in: fixture.database).range == nil)
    }

    static let changes = [
        "at = at + 1", "action = 'decryption '", "outcome = 'x'", "actor_kind = 'system'", "actor = 'cred_x'", "environment = 'production'",
        "environment = NULL",
        "merchant = x'00'", "merchant = NULL", "registration = x''", "certificate = x'0000000000000000000000000000000000'", "request_id = NULL",
        "public_key_hash = NULL", "transaction_digest = x'01'", "reference = 'order'", "reference = NULL", "replayed = 1 - replayed", "replayed = 7",
        "details = '{}'", "details = details || ' '", "mac = x'00'",
        "mac = (SELECT mac FROM audit_entries WHERE sequence = 1199)",
    ]

    @Test(arguments: changes) func `a changed field shows at its sequence`(change: String) throws {
        let fixture = try Fixture.filled()
        try fixture.tamper(["UPDATE audit_entries SET \(change) WHERE sequence = 1200"])
        let findings = try fixture.trail.verify(against: nil, in: fixture.database).findings
        #expect(findings.first == .audit(.chainBroken))
        #expect(sequence(findings.first) == 1200)
        #expect(try fixture.codes(1...1199) == [])
        #expect(try fixture.codes(1202...2500) == [])
    }

    @Test func `one changed field is one finding, and later ones are found too`() throws {
        let fixture = try Fixture.filled()
        try fixture.tamper(["UPDATE audit_entries SET outcome = 'x' WHERE sequence IN (10, 20, 1250)"])
        let findings = try fixture.trail.verify(against: nil, in: fixture.database).findings
        #expect(findings.map { sequence($0) } == [10, 20, 1250])
        try fixture.tamper(["UPDATE audit_entries SET outcome = 'x'"])
        #expect(try fixture.trail.verify(against: nil, in: fixture.database).findings.count == 10)
    }

    static let removals: [(removed: ClosedRange<Int64>, found: Int)] = [(1...1, 1), (5...5, 5), (1000...1100, 1000), (1024...2047, 1024), (2...2498, 2)]

    @Test(arguments: removals) func `a removed entry shows`(removal: (removed: ClosedRange<Int64>, found: Int)) throws {
        let fixture = try Fixture.filled()
        try fixture.tamper(["DELETE FROM audit_entries WHERE sequence BETWEEN \(removal.removed.lowerBound) AND \(removal.removed.upperBound)"])
        let findings = try fixture.trail.verify(against: nil, in: fixture.database).findings
        #expect(findings.first == .audit(.entryMissing))
        #expect(sequence(findings.first) == removal.found)
        #expect(findings.filter { $0 == .audit(.chainBroken) }.isEmpty)
    }

    @Test func `a removed stretch shows also when the check is of it alone`() throws {
        try fixture.append(0..<50)
        try fixture.tamper(["DELETE FROM audit_entries WHERE sequence BETWEEN 20 AND 30"])
        #expect(try fixture.codes(22...28) == ["audit.entry_missing"])
        #expect(try fixture.codes(15...25) == ["audit.entry_missing"])
        #expect(try fixture.codes(25...35) == ["audit.entry_missing"])
    }

    @Test func `exchanged entries show`() throws {
        try fixture.append(0..<50)
        try fixture.tamper([
            "UPDATE audit_entries SET sequence = 999 WHERE sequence = 7", "UPDATE audit_entries SET sequence = 7 WHERE sequence = 8",
            "UPDATE audit_entries SET sequence = 8 WHERE sequence = 999",
        ])
        let findings = try fixture.trail.verify(against: nil, in: fixture.database).findings
        #expect(findings.first == .audit(.chainBroken) && sequence(findings.first) == 7)
    }

    @Test func `a removed entry whose followers moved up shows`() throws {
        try fixture.append(0..<50)
        try fixture.tamper(["DELETE FROM audit_entries WHERE sequence = 20"])
        for number in 21...50 { try fixture.tamper(["UPDATE audit_entries SET sequence = \(number - 1) WHERE sequence = \(number)"]) }
        let findings = try fixture.trail.verify(against: nil, in: fixture.database).findings
        #expect(findings.first == .audit(.chainBroken) && sequence(findings.first) == 20)
    }

    static let strangers: [Int64] = [.min, -1, 0, 51, 60, 5000, 1 << 40, 1 << 53, 1 << 53 + 1, .max]

    @Test(arguments: strangers) func `a foreign entry shows wherever it stands, and is no trap`(place: Int64) throws {
        try fixture.append(0..<50)
        try fixture.tamper([
            """
            INSERT INTO audit_entries (sequence, at, action, outcome, actor_kind, actor, replayed, details, mac)
            SELECT \(place == .min ? "-9223372036854775807 - 1" : String(place)), at, action, outcome, actor_kind, actor, replayed, details, mac
            FROM audit_entries WHERE sequence = 50
            """
        ])
        #expect(try !fixture.codes().isEmpty)
        // Listing and appending go on or refuse; they don't stop the process.
        _ = try? fixture.database.read { connection throws(Problem) in try fixture.trail.entries(order: .newestFirst, in: connection) }
        _ = try? fixture.append(50..<51)
        #expect(try !fixture.codes().isEmpty)
    }

    @Test func `entries of another installation show`() throws {
        try Fixture.append(0..<10, to: try Fixture.trail(key: 9), in: fixture.database)
        #expect(try fixture.codes().first == "audit.chain_broken")
        #expect(try fixture.trail.verify(against: nil, in: fixture.database).findings.count == 10)
    }

    // MARK: Against the recorded head

    @Test func `a cut tail shows by the recorded head alone`() throws {
        try fixture.append(0..<50)
        let head = try fixture.trail.recordHead(to: fixture.headFile, at: Fixture.beginning, in: fixture.database)
        try fixture.tamper(["DELETE FROM audit_entries WHERE sequence > 45"])
        #expect(try fixture.codes() == [])
        #expect(try fixture.codes(against: head) == ["audit.tail_missing"])
        try fixture.tamper(["DELETE FROM audit_entries"])
        #expect(try fixture.codes(against: head) == ["audit.tail_missing"])
    }

    @Test func `an old copy shows, and also one that was gone on with`() throws {
        try fixture.append(0..<50)
        let copy = fixture.folder.file("old.sqlite")
        try fixture.database.writeCopy(to: copy)
        try fixture.append(50..<60)
        let head = try fixture.trail.recordHead(to: fixture.headFile, at: Fixture.beginning, in: fixture.database)
        #expect(try fixture.codes(against: head) == [])

        let old = try SQLiteDatabase(path: copy, mode: .readWrite)
        let trail = try Fixture.trail()
        #expect(try trail.verify(against: head, in: old).findings == [.audit(.tailMissing)])
        try Fixture.append(150..<250, to: trail, in: old)
        #expect(try trail.verify(against: head, in: old).findings == [.audit(.headDiffers)])
        #expect(try trail.verify(against: nil, in: old).isIntact)
    }

    // MARK: The index

    static let hidings = [
        "DELETE FROM audit_subjects WHERE segment = 1 AND subject = (SELECT merchant FROM audit_entries WHERE sequence = 2100)",
        "DELETE FROM audit_subjects WHERE segment = 0 AND length(subject) = 37", "UPDATE audit_subjects SET segment = segment + 100 WHERE segment = 0",
        "DELETE FROM audit_segments WHERE segment = 1", "UPDATE audit_segments SET last_at = first_at WHERE segment = 0",
        "UPDATE audit_segments SET first_at = last_at WHERE segment = 0", "INSERT INTO audit_segments (segment, first_at, last_at) VALUES (2, 0, 0)",
    ]

    @Test(arguments: hidings) func `entries that are hidden from the lists show`(change: String) throws {
        let fixture = try Fixture.filledWith5000()
        #expect(try fixture.codes() == [])
        try fixture.tamper([change])
        #expect(try fixture.codes() == ["audit.index_incomplete"])
    }
}
