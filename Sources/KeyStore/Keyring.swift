public import Cryptography
public import Database
public import Encodings
public import Problems
import Secrets

/// The keys that only a root slot opens: key-encrypting keys, and the keys of the MACs.
///
/// Stored wrapped, one wrap per root slot; the wrap binds the key's id, purpose and version and the slot, so that no two can be exchanged.
public final class Keyring: Sendable {
    /// What a keyring key is for. The raw value is stored and bound into the wrap.
    public enum Purpose: String, Sendable, CaseIterable {
        /// Wraps data-encrypting keys.
        case keyEncryption = "key_encryption"
        /// MACs over rows that decide rights.
        case rights
        /// MACs of API secrets.
        case credentials
        /// The chain of the audit trail.
        case auditTrail = "audit_trail"
        /// The permutation that makes audit and decryption ids.
        case auditIdentifiers = "audit_identifiers"
    }

    /// The key-encrypting key that seals from now on, and its id. Older ones stay for opening.
    public let currentKeyEncryptingKey: (id: String, key: AEADKey)
    public let rights: MACKey
    public let credentials: MACKey
    public let auditTrail: MACKey
    public let auditIdentifiers: BlockPermutationKey
    private let keyEncryptingKeys: [String: AEADKey]

    public static let migrations = [
        Migration(
            "keyring-1",
            [
                """
                CREATE TABLE root_slots (
                    id TEXT PRIMARY KEY, kind TEXT NOT NULL, fingerprint BLOB NOT NULL, created_at INTEGER NOT NULL
                ) STRICT
                """,
                """
                CREATE TABLE keyring (
                    id TEXT PRIMARY KEY, purpose TEXT NOT NULL, version INTEGER NOT NULL, is_current INTEGER NOT NULL, created_at INTEGER NOT NULL,
                    UNIQUE (purpose, version)
                ) STRICT
                """,
                """
                CREATE TABLE keyring_wraps (
                    key TEXT NOT NULL REFERENCES keyring (id), slot TEXT NOT NULL REFERENCES root_slots (id), wrapped BLOB NOT NULL,
                    PRIMARY KEY (key, slot)
                ) STRICT
                """,
            ])
    ]

    /// Makes a whole new keyring under one slot, in the caller's transaction. Refused by the tables' keys where one exists.
    public static func create(under slot: any RootSlot, at now: Timestamp, in connection: any WriteConnection) throws(Problem) {
        let slotID = "slot_1"
        try connection.execute(
            "INSERT INTO root_slots (id, kind, fingerprint, created_at) VALUES ($1, $2, $3, $4)",
            [.text(slotID), .text(slot.kind), .blob(slot.fingerprint.bytes), .integer(now.milliseconds)])
        for purpose in Purpose.allCases {
            let id = "\(purpose.rawValue)_1"
            let secret = try SecureRandom.secret(32)
            let wrapped = try slot.wrap(secret, associatedData: context(id: id, purpose: purpose, version: 1, slot: slotID))
            try connection.execute(
                "INSERT INTO keyring (id, purpose, version, is_current, created_at) VALUES ($1, $2, 1, 1, $3)",
                [.text(id), .text(purpose.rawValue), .integer(now.milliseconds)])
            try connection.execute(
                "INSERT INTO keyring_wraps (key, slot, wrapped) VALUES ($1, $2, $3)", [.text(id), .text(slotID), .blob(wrapped)])
        }
    }

    /// The fingerprints of the root slots that open this data directory.
    public static func slotFingerprints(in connection: any ReadConnection) throws(Problem) -> [Digest256] {
        try connection.query("SELECT fingerprint FROM root_slots ORDER BY id", []) { row in Digest256(row.blob(0)) }.compactMap { $0 }
    }

    /// Opens the keyring with a root slot.
    /// - Throws: `custody.root_key_mismatch` with both fingerprints, `custody.key_does_not_open`, `custody.keyring_incomplete`.
    public init(opening connection: any ReadConnection, with slot: any RootSlot) throws(Problem) {
        let slots = try connection.query("SELECT id, fingerprint FROM root_slots", []) { row in (id: row.text(0), fingerprint: Digest256(row.blob(1))) }
        guard let matching = slots.first(where: { $0.fingerprint == slot.fingerprint }) else {
            throw .keyStore(
                .rootKeyMismatch,
                context: [
                    ("fingerprint_stored", .list(slots.map { .text($0.fingerprint?.hex ?? "unreadable") })),
                    ("fingerprint_given", .text(slot.fingerprint.hex)),
                ])
        }
        let rows = try connection.query(
            """
            SELECT k.id, k.purpose, k.version, k.is_current, w.wrapped FROM keyring k JOIN keyring_wraps w ON w.key = k.id
            WHERE w.slot = $1 ORDER BY k.version
            """, [.text(matching.id)]
        ) { row in
            (id: row.text(0), purpose: row.text(1), version: row.integer(2), isCurrent: row.integer(3) == 1, wrapped: row.blob(4))
        }
        var keyEncryptingKeys: [String: AEADKey] = [:]
        var current: (id: String, key: AEADKey)?
        var secrets: [Purpose: SecretBytes] = [:]
        for row in rows {
            guard let purpose = Purpose(rawValue: row.purpose) else { continue }
            let secret: SecretBytes
            do {
                secret = try slot.unwrap(
                    row.wrapped, associatedData: Keyring.context(id: row.id, purpose: purpose, version: row.version, slot: matching.id))
            } catch {
                throw .keyStore(.keyDoesNotOpen, context: [("keyring_key", .text(row.id))])
            }
            if purpose == .keyEncryption {
                let key = try AEADKey(secret)
                keyEncryptingKeys[row.id] = key
                if row.isCurrent { current = (row.id, key) }
            } else if row.isCurrent {
                secrets[purpose] = secret
            }
        }
        guard let current, let rights = secrets[.rights], let credentials = secrets[.credentials], let auditTrail = secrets[.auditTrail],
            let auditIdentifiers = secrets[.auditIdentifiers]
        else { throw .keyStore(.keyringIncomplete) }
        self.keyEncryptingKeys = keyEncryptingKeys
        self.currentKeyEncryptingKey = current
        self.rights = try MACKey(rights)
        self.credentials = try MACKey(credentials)
        self.auditTrail = try MACKey(auditTrail)
        self.auditIdentifiers = try BlockPermutationKey(auditIdentifiers)
    }

    /// The key-encrypting key with this id.
    /// - Throws: `custody.key_does_not_open` where it is not held.
    func keyEncryptingKey(_ id: String) throws(Problem) -> AEADKey {
        guard let key = keyEncryptingKeys[id] else { throw .keyStore(.keyDoesNotOpen, context: [("key_encrypting_key", .text(id))]) }
        return key
    }

    private static func context(id: String, purpose: Purpose, version: Int64, slot: String) -> [UInt8] {
        var list = LengthPrefixedList("coster keyring wrap 1")
        list.append(id)
        list.append(purpose.rawValue)
        list.append(version)
        list.append(slot)
        return list.bytes
    }
}
