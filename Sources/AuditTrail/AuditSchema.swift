public import Database

extension AuditTrail {
    /// The tables of this room. Entries are only ever inserted, at the end: the one B-tree grows at its right edge, so that a commit of many entries
    /// writes few pages. There is no index over entries; ``SubjectIndex`` tells in which stretches to look.
    public static let migrations: [Migration] = [
        Migration(
            "audit-1-entries",
            [
                """
                CREATE TABLE audit_entries (
                    sequence INTEGER NOT NULL PRIMARY KEY,
                    at INTEGER NOT NULL,
                    action TEXT NOT NULL,
                    outcome TEXT NOT NULL,
                    actor_kind TEXT NOT NULL,
                    actor TEXT NOT NULL,
                    environment TEXT,
                    merchant BLOB,
                    registration BLOB,
                    certificate BLOB,
                    request_id TEXT,
                    public_key_hash BLOB,
                    transaction_digest BLOB,
                    reference TEXT,
                    replayed INTEGER NOT NULL,
                    details TEXT NOT NULL,
                    mac BLOB NOT NULL
                ) STRICT
                """,
                """
                CREATE TABLE audit_subjects (
                    segment INTEGER NOT NULL,
                    subject BLOB NOT NULL,
                    PRIMARY KEY (segment, subject)
                ) STRICT, WITHOUT ROWID
                """,
                """
                CREATE TABLE audit_segments (
                    segment INTEGER NOT NULL PRIMARY KEY,
                    first_at INTEGER NOT NULL,
                    last_at INTEGER NOT NULL
                ) STRICT
                """,
            ])
    ]
}
