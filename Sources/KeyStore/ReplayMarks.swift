public import Database
public import Encodings
public import Problems

/// Which tokens were opened: (registration, transaction id as bytes) with first caller, time and the digest of the signed bytes. Nothing decrypted.
///
/// A pruned table of its own: a unique index on random ids dirties a page per row, so it must stay small.
public struct ReplayMarks: Sendable {
    /// An earlier use of the same transaction id.
    public struct Mark: Sendable {
        public let caller: String
        public let firstOpenedAt: Timestamp
        public let signedContentDigest: Digest256
        /// The digest of the idempotency key given then, if one was.
        public let idempotencyKeyDigest: Digest256?
    }

    public init() {}

    public static let migrations = [
        Migration(
            "replay-marks-1",
            [
                """
                CREATE TABLE replay_marks (
                    registration TEXT NOT NULL, transaction_id BLOB NOT NULL, caller TEXT NOT NULL, first_opened_at INTEGER NOT NULL,
                    signed_content_digest BLOB NOT NULL, idempotency_key_digest BLOB, expires_at INTEGER,
                    PRIMARY KEY (registration, transaction_id)
                ) STRICT, WITHOUT ROWID
                """,
                "CREATE INDEX replay_marks_by_expiry ON replay_marks (expires_at) WHERE expires_at IS NOT NULL",
            ])
    ]

    /// Sets the mark where there is none and answers nil; otherwise changes nothing and answers the mark there is.
    /// - Parameter expiresAt: when the mark may be pruned; nil: kept as long as the audit entry.
    public func mark(
        registration: RegistrationID, transactionId: [UInt8], caller: String, signedContentDigest: Digest256, idempotencyKeyDigest: Digest256?,
        at now: Timestamp, expiresAt: Timestamp?, in connection: any WriteConnection
    ) throws(Problem) -> Mark? {
        let inserted = try connection.execute(
            """
            INSERT INTO replay_marks (registration, transaction_id, caller, first_opened_at, signed_content_digest, idempotency_key_digest, expires_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING
            """,
            [
                .text(registration.text), .blob(transactionId), .text(caller), .integer(now.milliseconds), .blob(signedContentDigest.bytes),
                idempotencyKeyDigest.map { .blob($0.bytes) } ?? .null, expiresAt.map { .integer($0.milliseconds) } ?? .null,
            ])
        if inserted > 0 { return nil }
        return try connection.first(
            """
            SELECT caller, first_opened_at, signed_content_digest, idempotency_key_digest FROM replay_marks
            WHERE registration = $1 AND transaction_id = $2
            """, [.text(registration.text), .blob(transactionId)]
        ) { row throws(Problem) in
            guard let digest = Digest256(row.blob(2)) else { throw .keyStore(.rowAltered, context: [("table", "replay_marks")]) }
            return Mark(
                caller: row.text(0), firstOpenedAt: Timestamp(milliseconds: row.integer(1)), signedContentDigest: digest,
                idempotencyKeyDigest: row.isNull(3) ? nil : Digest256(row.blob(3)))
        }
    }

    /// Removes at most `limit` marks whose time is over.
    public func prune(at now: Timestamp, limit: Int, in connection: any WriteConnection) throws(Problem) -> Int {
        try connection.execute(
            """
            DELETE FROM replay_marks WHERE (registration, transaction_id) IN (
                SELECT registration, transaction_id FROM replay_marks WHERE expires_at < $1 ORDER BY expires_at LIMIT \(limit))
            """, [.integer(now.milliseconds)])
    }
}
