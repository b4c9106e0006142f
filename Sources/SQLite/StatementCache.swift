import Problems

/// The statements of one connection, each prepared once and kept under its text.
struct StatementCache {
    private var statements: [Text: Statement] = [:]
    /// Texts are literals, or built from a few filters: more than this means that a caller splices values, and everything is prepared anew.
    private static let capacity = 256

    mutating func statement(_ sql: String, _ prepare: (String) throws(Problem) -> Statement) throws(Problem) -> Statement {
        if let kept = statements[Text(sql: sql)] {
            // In use: a row closure runs the text that is being stepped. The second one lives for that call only.
            return kept.isInUse ? try prepare(sql) : kept
        }
        if statements.count >= StatementCache.capacity { statements.removeAll() }
        let statement = try prepare(sql)
        statements[Text(sql: sql)] = statement
        return statement
    }

    mutating func removeAll() { statements.removeAll() }

    /// A text hashed by its length and its last bytes; the comparison of one literal with itself ends at its address.
    private struct Text: Hashable {
        let sql: String

        func hash(into hasher: inout Hasher) {
            hasher.combine(sql.utf8.count)
            for byte in sql.utf8.suffix(8) { hasher.combine(byte) }
        }
    }
}
