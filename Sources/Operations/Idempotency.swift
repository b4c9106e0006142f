import Accounts
import Cryptography
import Database
import Encodings
import Problems

/// Which calls made what: (caller, Idempotency-Key) to the digest of what was asked and the id of what came of it. No answer is kept.
struct Idempotency: Sendable {
    let lifetimeSeconds: Int64

    static let migrations = [
        Migration(
            "idempotency-1",
            [
                """
                CREATE TABLE idempotency_keys (
                    caller TEXT NOT NULL, key_digest BLOB NOT NULL, request_digest BLOB NOT NULL, made TEXT NOT NULL, created_at INTEGER NOT NULL,
                    PRIMARY KEY (caller, key_digest)
                ) STRICT, WITHOUT ROWID
                """,
                "CREATE INDEX idempotency_keys_by_time ON idempotency_keys (created_at)",
            ])
    ]

    /// The id of what this very call made before; nil for a first call or one without a key.
    /// - Throws: `request.idempotency_key_reused`.
    func made(by caller: CredentialID, _ call: Call, at now: Timestamp, in connection: any ReadConnection) throws(Problem) -> String? {
        guard let key = call.idempotencyKey, let digest = call.requestDigest else { return nil }
        let found = try connection.first(
            "SELECT request_digest, made, created_at FROM idempotency_keys WHERE caller = $1 AND key_digest = $2",
            [.text(caller.text), .blob(Idempotency.digest(key).bytes)]
        ) { row in (digest: row.blob(0), made: row.text(1), createdAt: Timestamp(milliseconds: row.integer(2))) }
        guard let found, now < found.createdAt.adding(seconds: lifetimeSeconds) else { return nil }
        guard found.digest == digest.bytes else { throw .operation(.idempotencyKeyReused) }
        return found.made
    }

    func remember(_ made: String, by caller: CredentialID, _ call: Call, at now: Timestamp, in connection: any WriteConnection) throws(Problem) {
        guard let key = call.idempotencyKey, let digest = call.requestDigest else { return }
        try connection.execute(
            """
            INSERT INTO idempotency_keys (caller, key_digest, request_digest, made, created_at) VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT (caller, key_digest) DO UPDATE SET request_digest = excluded.request_digest, made = excluded.made, created_at = excluded.created_at
            """,
            [
                .text(caller.text), .blob(Idempotency.digest(key).bytes), .blob(digest.bytes), .text(made), .integer(now.milliseconds),
            ])
    }

    /// Forgets at most `limit` keys whose time is over.
    func prune(at now: Timestamp, limit: Int, in connection: any WriteConnection) throws(Problem) -> Int {
        try connection.execute(
            """
            DELETE FROM idempotency_keys WHERE (caller, key_digest) IN (
                SELECT caller, key_digest FROM idempotency_keys WHERE created_at < $1 ORDER BY created_at LIMIT \(limit))
            """, [.integer(now.adding(seconds: -lifetimeSeconds).milliseconds)])
    }

    static func digest(_ key: String) -> Digest256 { SHA256.digest(Array(key.utf8)) }
}
