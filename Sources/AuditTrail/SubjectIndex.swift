import Database
import Problems

/// Finds entries by merchant, registration, certificate, actor or time without an index over entries.
///
/// The trail is cut into segments of 2,048 entries. When the first entry of the next one is written, the full one is summed up: its span of times in
/// `audit_segments`, and each subject that occurs in it in `audit_subjects`, once. So an append pays for nothing, no commit writes a page per
/// merchant, and both tables grow at their right edge. A list looks into the segments that name its subject, and always into the last one.
enum SubjectIndex {
    static func segment(of sequence: Int64) -> Int64 { sequence >> segmentBits }
    static func sequences(in segment: Int64) -> Range<Int64> { segment << segmentBits..<(segment + 1) << segmentBits }

    private static let segmentBits: Int64 = 11

    /// Ids are distinct over all kinds, being 128 random bits; an actor stands under its text.
    static func subjects(of entry: StoredEntry) -> [[UInt8]] {
        [subject(ofActor: entry.actor)] + [entry.merchant, entry.registration, entry.certificate].compactMap { $0 }
    }

    static func subject(ofActor id: String) -> [UInt8] { Array(id.utf8) }

    /// Called for every entry, after it was written.
    static func note(_ sequence: Int64, in connection: any WriteConnection) throws(Problem) {
        let present = segment(of: sequence)
        guard sequence == sequences(in: present).lowerBound else { return }
        let full = sequences(in: present - 1)
        let parameters: [Parameter] = [.integer(present - 1), .integer(full.lowerBound), .integer(full.upperBound)]
        try connection.execute(
            """
            INSERT INTO audit_segments (segment, first_at, last_at)
            SELECT $1, min(at), max(at) FROM audit_entries WHERE sequence >= $2 AND sequence < $3 HAVING count(*) > 0
            ON CONFLICT DO NOTHING
            """, parameters)
        // UNION gives each once and in order, as the table keeps them.
        try connection.execute(
            """
            INSERT INTO audit_subjects (segment, subject)
            SELECT $1, CAST(actor AS BLOB) FROM audit_entries WHERE sequence >= $2 AND sequence < $3
            UNION SELECT $1, merchant FROM audit_entries WHERE sequence >= $2 AND sequence < $3 AND merchant IS NOT NULL
            UNION SELECT $1, registration FROM audit_entries WHERE sequence >= $2 AND sequence < $3 AND registration IS NOT NULL
            UNION SELECT $1, certificate FROM audit_entries WHERE sequence >= $2 AND sequence < $3 AND certificate IS NOT NULL
            ON CONFLICT DO NOTHING
            """, parameters)
    }
}
