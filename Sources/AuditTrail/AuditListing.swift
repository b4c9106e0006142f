public import Database
import Encodings
public import Problems

extension AuditTrail {
    /// Entries that fit `filter`.
    /// - Parameters:
    ///   - after: the sequence to go on behind, in the direction of `order`; nil begins.
    ///   - limit: 1…100; other values are brought to the nearest end.
    public func entries(
        matching filter: AuditFilter = AuditFilter(), after: Int64? = nil, limit: Int = 100, order: AuditOrder = .oldestFirst,
        in connection: any ReadConnection
    ) throws(Problem) -> AuditPage {
        let limit = min(max(limit, 1), 100)
        guard let last = try head(in: connection)?.sequence else { return AuditPage(entries: [], next: nil) }
        let bounds: Range<Int64> =
            switch order {
            case .oldestFirst: min(max(after ?? 0, 0), last) + 1..<last + 1
            case .newestFirst: 1..<max(min(after ?? last + 1, last + 1), 1)
            }
        if bounds.isEmpty { return AuditPage(entries: [], next: nil) }

        let segments = try self.segments(matching: filter, in: bounds, order, connection)
        var found: [StoredEntry] = []
        for segment in segments {
            let stretch = SubjectIndex.sequences(in: segment).clamped(to: bounds)
            found += try select(filter, in: stretch, limit - found.count, order, connection)
            if found.count == limit { break }
        }
        let next: Int64? =
            if found.count == limit {
                found.last?.sequence
            } else if segments.count == AuditTrail.segmentsPerCall, let last = segments.last {
                order == .oldestFirst ? SubjectIndex.sequences(in: last).upperBound - 1 : SubjectIndex.sequences(in: last).lowerBound
            } else {
                nil
            }
        var entries: [AuditEntry] = []
        for stored in found { entries.append(try entry(stored)) }
        return AuditPage(entries: entries, next: next)
    }

    /// Half a million entries: some tenths of a second at most.
    static let segmentsPerCall = 256

    /// The first segments, in order, in which a fitting entry may stand.
    private func segments(
        matching filter: AuditFilter, in bounds: Range<Int64>, _ order: AuditOrder, _ connection: any ReadConnection
    ) throws(Problem) -> [Int64] {
        let first = SubjectIndex.segment(of: bounds.lowerBound)
        let last = SubjectIndex.segment(of: bounds.upperBound - 1)
        // The rarest subject first.
        let subject =
            filter.certificate.map { StoredEntry.bytes($0.bits) } ?? filter.registration.map { StoredEntry.bytes($0.bits) }
            ?? filter.actor.map { SubjectIndex.subject(ofActor: $0) } ?? filter.merchant.map { StoredEntry.bytes($0.bits) }
        let full = try connection.query(
            """
            SELECT segment FROM audit_segments
            WHERE segment >= $1 AND segment <= $2 AND ($3 IS NULL OR last_at >= $3) AND ($4 IS NULL OR first_at < $4)
                AND ($5 IS NULL OR EXISTS (SELECT 1 FROM audit_subjects s WHERE s.segment = audit_segments.segment AND s.subject = $5))
            ORDER BY segment \(order.sql) LIMIT \(AuditTrail.segmentsPerCall)
            """, [.integer(first), .integer(last), Parameter(filter.from?.milliseconds), Parameter(filter.to?.milliseconds), Parameter(subject)]
        ) { row in row.integer(0) }
        // The last segment is not summed up yet, and may hold anything.
        let isFull = try connection.exists("SELECT 1 FROM audit_segments WHERE segment = $1", [.integer(last)])
        if isFull { return full }
        let all = order == .oldestFirst ? full + [last] : [last] + full
        return Array(all.prefix(AuditTrail.segmentsPerCall))
    }

    private func select(
        _ filter: AuditFilter, in stretch: Range<Int64>, _ limit: Int, _ order: AuditOrder, _ connection: any ReadConnection
    ) throws(Problem) -> [StoredEntry] {
        try connection.query(
            """
            SELECT \(StoredEntry.columns) FROM audit_entries
            WHERE sequence >= $1 AND sequence < $2 AND ($3 IS NULL OR merchant = $3) AND ($4 IS NULL OR registration = $4)
                AND ($5 IS NULL OR certificate = $5) AND ($6 IS NULL OR actor = $6) AND ($7 IS NULL OR action = $7) AND ($8 IS NULL OR outcome = $8)
                AND ($9 IS NULL OR at >= $9) AND ($10 IS NULL OR at < $10)
            ORDER BY sequence \(order.sql) LIMIT $11
            """,
            [
                .integer(stretch.lowerBound), .integer(stretch.upperBound), Parameter(filter.merchant.map { StoredEntry.bytes($0.bits) }),
                Parameter(filter.registration.map { StoredEntry.bytes($0.bits) }), Parameter(filter.certificate.map { StoredEntry.bytes($0.bits) }),
                Parameter(filter.actor), Parameter(filter.action), Parameter(filter.outcome), Parameter(filter.from?.milliseconds),
                Parameter(filter.to?.milliseconds), .integer(Int64(limit)),
            ]
        ) { row in StoredEntry(row) }
    }
}

extension AuditOrder {
    fileprivate var sql: String { self == .oldestFirst ? "ASC" : "DESC" }
}
