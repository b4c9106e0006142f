import Database
import Encodings
import Problems

/// Finds entries by merchant, registration, certificate or actor without an index over entries.
///
/// The trail is cut into segments of 1,024 entries. Per subject, the table `audit_subjects` names the segments in which it occurs: one small row for
/// the first occurrence in a segment instead of one for each entry, which would dirty a page per merchant in every commit. Once a segment is full,
/// `audit_segments` keeps the span of its times.
struct SubjectIndex {
    static func segment(of sequence: Int64) -> Int64 { sequence >> segmentBits }
    static func sequences(in segment: Int64) -> Range<Int64> { segment << segmentBits..<(segment + 1) << segmentBits }

    private static let segmentBits: Int64 = 10

    /// Ids are distinct over all kinds, being 128 random bits; an actor stands under its text.
    static func subjects(of entry: StoredEntry) -> [[UInt8]] {
        var subjects = [subject(ofActor: entry.actor)]
        if let merchant = entry.merchant { subjects.append(merchant) }
        if let registration = entry.registration { subjects.append(registration) }
        if let certificate = entry.certificate { subjects.append(certificate) }
        return subjects
    }

    static func subject(ofActor id: String) -> [UInt8] { Array(id.utf8) }

    /// Subjects known to stand in the table for `segment`.
    private var known: Set<[UInt8]> = []
    private var segment: Int64 = -1

    mutating func forget() {
        known = []
        segment = -1
    }

    mutating func note(_ entry: StoredEntry, in connection: any WriteConnection) throws(Problem) {
        let present = SubjectIndex.segment(of: entry.sequence)
        if present != segment {
            known = []
            segment = present
            if entry.sequence == SubjectIndex.sequences(in: present).lowerBound { try SubjectIndex.closeSegment(present - 1, in: connection) }
        }
        for subject in SubjectIndex.subjects(of: entry) where known.insert(subject).inserted {
            try connection.execute(
                "INSERT INTO audit_subjects (subject, segment) VALUES ($1, $2) ON CONFLICT DO NOTHING", [.blob(subject), .integer(present)])
        }
    }

    private static func closeSegment(_ segment: Int64, in connection: any WriteConnection) throws(Problem) {
        let sequences = sequences(in: segment)
        try connection.execute(
            """
            INSERT INTO audit_segments (segment, first_at, last_at)
            SELECT $1, min(at), max(at) FROM audit_entries WHERE sequence >= $2 AND sequence < $3 HAVING count(*) > 0
            ON CONFLICT DO NOTHING
            """, [.integer(segment), .integer(sequences.lowerBound), .integer(sequences.upperBound)])
    }
}
