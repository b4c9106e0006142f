import Cryptography
public import Database
import Encodings
public import Problems

/// What a check of the trail found.
public struct Verification: Sendable {
    /// The first and the last sequence looked at; nil when there was none.
    public let range: ClosedRange<Int64>?
    public let entryCount: Int
    /// The head recorded outside the database that the trail was held against; nil when there was none, and a cut tail could not be seen.
    public let recordedHead: RecordedHead?
    /// What is wrong, in order, ten findings at most; each names its `sequence`. Empty when nothing is.
    public let findings: [Problem]

    public var isIntact: Bool { findings.isEmpty }
}

extension AuditTrail {
    /// Computes the chain again over `range` and holds it against what is stored and against the head recorded outside.
    ///
    /// Reads a segment at a time, each in a snapshot of its own: memory is bounded, and commits and checkpoints go on meanwhile. Entries added after
    /// the beginning are left out. Within a part of the trail, the entry before its first one is taken as it stands.
    /// - Parameter range: nil for everything.
    public func verify(_ range: ClosedRange<Int64>? = nil, against recordedHead: RecordedHead?, in database: any Database) throws(Problem) -> Verification {
        var findings: [Problem] = []
        let lower = max(range?.lowerBound ?? 1, 1)
        let (last, before) = try database.read { connection throws(Problem) -> (Int64, Previous) in
            if let recordedHead, let problem = try difference(from: recordedHead, in: connection) { findings.append(problem) }
            if lower == 1, let stray = try connection.first(AuditTrail.strays, [.integer(AuditTrail.lastPossibleSequence)], { row in row.integer(0) }) {
                findings.append(.audit(.chainBroken, context: [("sequence", .number(Int(stray)))]))
            }
            return (try lastSequence(in: connection), try previous(of: lower, in: connection))
        }
        let upper = min(range?.upperBound ?? last, last)
        guard lower <= upper else { return Verification(range: nil, entryCount: 0, recordedHead: recordedHead, findings: findings) }

        var chain = ChainCheck(key: macKey, expected: lower, previous: before)
        var next = lower
        while next <= upper, chain.findings.count < AuditTrail.findingLimit {
            let isDone = try database.read { connection throws(Problem) in
                // Foreign rows may stand anywhere: the next one there is, not the next number.
                let found = try connection.first(
                    "SELECT sequence FROM audit_entries WHERE sequence >= $1 ORDER BY sequence LIMIT 1", [.integer(next)]
                ) { row in row.integer(0) }
                guard let found, found <= upper else { return true }
                let segment = SubjectIndex.segment(of: found)
                let stretch = SubjectIndex.sequences(in: segment).clamped(to: lower..<upper + 1)
                var segmentCheck = SegmentCheck(segment: segment)
                let rows = try connection.query(
                    "SELECT \(StoredEntry.columns) FROM audit_entries WHERE sequence >= $1 AND sequence < $2 ORDER BY sequence",
                    [.integer(stretch.lowerBound), .integer(stretch.upperBound)]
                ) { row in StoredEntry(row) }
                for stored in rows {
                    chain.check(stored)
                    segmentCheck.add(stored)
                }
                if let problem = try segmentCheck.problem(in: connection) { chain.findings.append(problem) }
                next = stretch.upperBound
                return false
            }
            if isDone { break }
        }
        chain.end(at: upper)
        findings += chain.findings
        return Verification(
            range: lower...upper, entryCount: chain.count, recordedHead: recordedHead, findings: Array(findings.prefix(AuditTrail.findingLimit)))
    }

    private static let findingLimit = 10
    private static let strays = "SELECT sequence FROM audit_entries WHERE sequence < 1 OR sequence > $1 LIMIT 1"

    private func previous(of sequence: Int64, in connection: any ReadConnection) throws(Problem) -> Previous {
        if sequence == 1 { return .none }
        let mac = try connection.first("SELECT mac FROM audit_entries WHERE sequence = $1", [.integer(sequence - 1)]) { row in row.blob(0) }
        return mac.flatMap { Digest256($0) }.map(Previous.mac) ?? .unknown
    }
}

/// What an entry is chained to.
private enum Previous {
    /// The beginning of the trail.
    case none
    case mac(Digest256)
    /// The entry before is missing, so this one can't be checked; the next one can.
    case unknown
}

/// Walks along the chain. After a finding it goes on from what is stored, so that one change makes one finding.
private struct ChainCheck {
    let key: MACKey
    var expected: Int64
    var previous: Previous
    var count = 0
    var findings: [Problem] = []

    mutating func check(_ stored: StoredEntry) {
        count += 1
        if stored.sequence != expected {
            noteMissing(upTo: stored.sequence)
            previous = .unknown
        }
        let before: Digest256?
        switch previous {
        case .none: before = nil
        case .mac(let mac): before = mac
        case .unknown: before = Digest256(stored.mac)
        }
        let mac = stored.authenticated(after: before, with: key)
        let isUnknown = if case .unknown = previous { true } else { false }
        if !isUnknown, mac.bytes != stored.mac {
            findings.append(
                .audit(
                    .chainBroken, cause: "The audit entry \(stored.sequence) was changed after it was written, or was not written by this installation.",
                    context: [("sequence", .number(Int(stored.sequence))), ("stored_time", .text(Timestamp(milliseconds: stored.at).rfc3339))]))
        }
        previous = Digest256(stored.mac).map(Previous.mac) ?? .unknown
        expected = stored.sequence + 1
    }

    mutating func end(at last: Int64) {
        if expected <= last, findings.isEmpty { noteMissing(upTo: last + 1) }
    }

    private mutating func noteMissing(upTo sequence: Int64) {
        let last = sequence - 1
        findings.append(
            .audit(
                .entryMissing,
                cause: expected == last
                    ? "The audit entry \(expected) was removed from the trail." : "The audit entries \(expected) to \(last) were removed from the trail.",
                context: [("sequence", .number(Int(expected))), ("last_missing_sequence", .number(Int(last)))]))
    }
}

/// Holds the index over a segment against its entries.
private struct SegmentCheck {
    let segment: Int64
    private var subjects: Set<[UInt8]> = []
    private var times: ClosedRange<Int64>?

    init(segment: Int64) { self.segment = segment }

    mutating func add(_ stored: StoredEntry) {
        for subject in SubjectIndex.subjects(of: stored) { subjects.insert(subject) }
        times = times.map { min($0.lowerBound, stored.at)...max($0.upperBound, stored.at) } ?? stored.at...stored.at
    }

    func problem(in connection: any ReadConnection) throws(Problem) -> Problem? {
        guard let times else { return nil }
        let span = try connection.first("SELECT first_at, last_at FROM audit_segments WHERE segment = $1", [.integer(segment)]) { row in
            (first: row.integer(0), last: row.integer(1))
        }
        var isComplete = true
        if let span {
            isComplete = span.first <= times.lowerBound && span.last >= times.upperBound
            for subject in subjects where isComplete {
                isComplete = try connection.exists("SELECT 1 FROM audit_subjects WHERE segment = $1 AND subject = $2", [.integer(segment), .blob(subject)])
            }
        } else {
            // Without a span a segment is always looked into, as long as it is the last.
            let next = SubjectIndex.sequences(in: segment).upperBound
            isComplete = try !connection.exists("SELECT 1 FROM audit_entries WHERE sequence >= $1", [.integer(next)])
        }
        if isComplete { return nil }
        return .audit(
            .indexIncomplete, context: [("sequence", .number(Int(SubjectIndex.sequences(in: segment).lowerBound))), ("segment", .number(Int(segment)))])
    }
}
