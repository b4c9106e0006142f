import Cryptography
public import Database
public import Encodings
public import Problems
public import Secrets

/// Other secrets of the installation, sealed under the keyring by name: today the sandbox's certificate authority.
public struct SealedBlobs: Sendable {
    private let keyring: Keyring

    public init(keyring: Keyring) { self.keyring = keyring }

    static let migrations = [
        Migration(
            "sealed-blobs-1",
            [
                """
                CREATE TABLE sealed_blobs (
                    name TEXT PRIMARY KEY, key_encrypting_key TEXT NOT NULL, wrapped BLOB NOT NULL, sealed BLOB NOT NULL, created_at INTEGER NOT NULL
                ) STRICT
                """
            ])
    ]

    /// Seals a secret under a name that is free. Nothing is ever overwritten.
    public func insert(_ secret: SecretBytes, name: String, at now: Timestamp, in connection: any WriteConnection) throws(Problem) {
        let (kekID, kek) = keyring.currentKeyEncryptingKey
        let dataEncryptingSecret = try SecureRandom.secret(32)
        let sealed = try AEADKey(dataEncryptingSecret).seal(secret, associatedData: context(name, nil))
        let wrapped = try kek.seal(dataEncryptingSecret, associatedData: context(name, kekID))
        try connection.execute(
            "INSERT INTO sealed_blobs (name, key_encrypting_key, wrapped, sealed, created_at) VALUES ($1, $2, $3, $4, $5)",
            [.text(name), .text(kekID), .blob(wrapped), .blob(sealed), .integer(now.milliseconds)])
    }

    /// The secret of this name, or nil where there is none.
    /// - Throws: `custody.key_does_not_open`.
    public func open(_ name: String, in connection: any ReadConnection) throws(Problem) -> SecretBytes? {
        let row = try connection.first("SELECT key_encrypting_key, wrapped, sealed FROM sealed_blobs WHERE name = $1", [.text(name)]) { row in
            (kekID: row.text(0), wrapped: row.blob(1), sealed: row.blob(2))
        }
        guard let row else { return nil }
        let kek = try keyring.keyEncryptingKey(row.kekID)
        do throws(Problem) {
            let secret = try kek.open(row.wrapped, associatedData: context(name, row.kekID))
            return try AEADKey(secret).open(row.sealed, associatedData: context(name, nil))
        } catch {
            throw .keyStore(.keyDoesNotOpen, context: [("sealed_blob", .text(name))])
        }
    }

    private func context(_ name: String, _ kekID: String?) -> [UInt8] {
        var list = LengthPrefixedList(kekID == nil ? "coster sealed blob" : "coster sealed blob wrap")
        list.append(KeySealer.schemaVersion)
        list.append(name)
        list.append(kekID)
        return list.bytes
    }
}
