public import ApplePay
public import Cryptography
public import Database
public import Encodings
public import Problems
import Secrets

/// The credentials table. Secrets are stored as HMAC under a keyring key; each row carries a MAC, checked on each read.
public struct Credentials: Sendable {
    private let rights: MACKey
    private let secrets: MACKey

    /// - Parameters:
    ///   - rights: the key of the rows' MACs.
    ///   - secrets: the key of the secrets' MACs.
    public init(rights: MACKey, secrets: MACKey) {
        self.rights = rights
        self.secrets = secrets
    }

    public static let migrations = [
        Migration(
            "credentials-1",
            [
                """
                CREATE TABLE credentials (
                    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, api_key TEXT NOT NULL UNIQUE, role TEXT NOT NULL, name TEXT NOT NULL,
                    environment TEXT NOT NULL, merchants TEXT, client_certificate_spki BLOB, created_at INTEGER NOT NULL, expires_at INTEGER NOT NULL,
                    revoked_at INTEGER, secret BLOB NOT NULL, former_secret BLOB, former_secret_ends_at INTEGER, mac BLOB NOT NULL
                ) STRICT
                """
            ])
    ]

    private static let columns =
        "id, api_key, role, name, environment, merchants, client_certificate_spki, created_at, expires_at, revoked_at, secret, former_secret, "
        + "former_secret_ends_at, mac"
    private static let selectByAPIKey = "SELECT \(columns) FROM credentials WHERE api_key = $1"

    /// A row with its secrets' MACs.
    private struct Stored {
        var credential: Credential
        var secret: Digest256
        var formerSecret: Digest256?
    }

    // MARK: Authentication

    /// Who this is. All that is said before the secret has matched is `credential.invalid`, so a stranger learns nothing of a credential.
    /// - Parameter clientCertificateSPKI: SHA-256 of the SubjectPublicKeyInfo of the connection's client certificate.
    /// - Throws: `credential.invalid`, `.revoked`, `.expired`, `.client_certificate_required`; `custody.credential_altered`.
    public func authenticate(
        _ presented: PresentedCredential, clientCertificateSPKI: [UInt8]?, at now: Timestamp, _ connection: any ReadConnection
    ) throws(Problem) -> Principal {
        let stored = try connection.first(Credentials.selectByAPIKey, [.text(presented.apiKey)]) { row throws(Problem) in try read(row) }
        let given = mac(of: presented.secret, apiKey: presented.apiKey).bytes
        guard let stored else { throw .credential(.invalid) }
        let isCurrent = constantTimeEqual(given, stored.secret.bytes)
        let isFormer = stored.formerSecret.map { constantTimeEqual(given, $0.bytes) } ?? false
        let formerLives = stored.credential.formerSecretEndsAt.map { now < $0 } ?? false
        guard isCurrent || (isFormer && formerLives) else { throw .credential(.invalid) }
        let credential = stored.credential
        if credential.revokedAt != nil { throw .credential(.revoked) }
        guard now < credential.expiresAt else { throw .credential(.expired, context: [("expired_at", .text(credential.expiresAt.rfc3339))]) }
        if let pinned = credential.clientCertificateSPKI {
            guard let clientCertificateSPKI, constantTimeEqual(clientCertificateSPKI, pinned.bytes) else {
                throw .credential(.clientCertificateRequired)
            }
        }
        return Principal(
            credential: credential.id, role: credential.role, environment: credential.environment, merchants: credential.merchants.map { Set($0) })
    }

    // MARK: Making, rotating, ending

    /// Inserts a credential with a fresh secret.
    /// - Returns: the secret's text, to be shown once.
    public func insert(_ credential: Credential, in connection: any WriteConnection) throws(Problem) -> String {
        let secret = try Credentials.freshSecret()
        let stored = Stored(credential: credential, secret: mac(of: SecretBytes(copying: Array(secret.utf8)), apiKey: credential.apiKey), formerSecret: nil)
        try connection.execute(
            "INSERT INTO credentials (\(Credentials.columns)) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)",
            [
                .text(credential.id.text), .text(credential.apiKey), .text(credential.role.rawValue), .text(credential.name),
                .text(credential.environment.rawValue), Parameter(encode(credential.merchants)), Parameter(credential.clientCertificateSPKI?.bytes),
                .integer(credential.createdAt.milliseconds), .integer(credential.expiresAt.milliseconds), nil, .blob(stored.secret.bytes), nil, nil,
                .blob(rights.authenticate(content(stored)).bytes),
            ])
        return secret
    }

    /// Gives a new secret under the same key; the former one lives on for `overlapSeconds`.
    /// - Throws: `credential.unknown`, `.ended`, `.rotation_pending` while two secrets are live (an overlap of 0 ends both former ones).
    public func rotate(
        _ id: CredentialID, overlapSeconds: Int, at now: Timestamp, in connection: any WriteConnection
    ) throws(Problem) -> (credential: Credential, secret: String) {
        guard var stored = try load(id, connection) else { throw .credential(.unknown) }
        guard stored.credential.revokedAt == nil else { throw .credential(.ended) }
        if overlapSeconds > 0, let ends = stored.credential.formerSecretEndsAt, now < ends {
            throw .credential(.rotationPending, context: [("former_secret_ends_at", .text(ends.rfc3339))])
        }
        let secret = try Credentials.freshSecret()
        stored.formerSecret = overlapSeconds > 0 ? stored.secret : nil
        stored.credential.formerSecretEndsAt = overlapSeconds > 0 ? now.adding(seconds: Int64(overlapSeconds)) : nil
        stored.secret = mac(of: SecretBytes(copying: Array(secret.utf8)), apiKey: stored.credential.apiKey)
        try store(stored, in: connection)
        return (stored.credential, secret)
    }

    /// Ends a credential from the next request on. Again is no error.
    /// - Throws: `credential.unknown`.
    public func revoke(_ id: CredentialID, at now: Timestamp, in connection: any WriteConnection) throws(Problem) -> Credential {
        guard var stored = try load(id, connection) else { throw .credential(.unknown) }
        if stored.credential.revokedAt == nil {
            stored.credential.revokedAt = now
            try store(stored, in: connection)
        }
        return stored.credential
    }

    /// A fresh public half.
    public static func freshAPIKey() throws(Problem) -> String { "ck_" + Hex.encode(try SecureRandom.bytes(16)) }

    // MARK: Reading

    /// - Throws: `credential.unknown`, for those of the other environment or reaching beyond `merchants` too.
    public func find(
        _ id: CredentialID, environment: Environment, merchants: Set<MerchantID>?, _ connection: any ReadConnection
    ) throws(Problem) -> Credential {
        guard let stored = try load(id, connection), visible(stored.credential, environment, merchants) else { throw .credential(.unknown) }
        return stored.credential
    }

    /// One page in the order of making.
    public func list(
        environment: Environment, merchants: Set<MerchantID>?, after: CredentialID?, limit: Int, _ connection: any ReadConnection
    ) throws(Problem) -> [Credential] {
        var found: [Credential] = []
        var cursor = after
        // A caller limited to some merchants sees few of many: read on until the page is full.
        while found.count < limit {
            let page = try connection.query(
                """
                SELECT \(Credentials.columns) FROM credentials
                WHERE number > coalesce((SELECT number FROM credentials WHERE id = $1), 0) AND environment = $2 ORDER BY number LIMIT 100
                """, [Parameter(cursor?.text), .text(environment.rawValue)]
            ) { row throws(Problem) in try read(row).credential }
            found += page.filter { visible($0, environment, merchants) }
            guard page.count == 100, let last = page.last else { break }
            cursor = last.id
        }
        return Array(found.prefix(limit))
    }

    private func visible(_ credential: Credential, _ environment: Environment, _ merchants: Set<MerchantID>?) -> Bool {
        guard credential.environment == environment else { return false }
        guard let merchants else { return true }
        guard let own = credential.merchants else { return false }
        return Set(own).isSubset(of: merchants)
    }

    // MARK: Rows

    private func load(_ id: CredentialID, _ connection: any ReadConnection) throws(Problem) -> Stored? {
        try connection.first("SELECT \(Credentials.columns) FROM credentials WHERE id = $1", [.text(id.text)]) { row throws(Problem) in try read(row) }
    }

    private func store(_ stored: Stored, in connection: any WriteConnection) throws(Problem) {
        try connection.execute(
            "UPDATE credentials SET revoked_at = $1, secret = $2, former_secret = $3, former_secret_ends_at = $4, mac = $5 WHERE id = $6",
            [
                Parameter(stored.credential.revokedAt?.milliseconds), .blob(stored.secret.bytes), Parameter(stored.formerSecret?.bytes),
                Parameter(stored.credential.formerSecretEndsAt?.milliseconds), .blob(rights.authenticate(content(stored)).bytes),
                .text(stored.credential.id.text),
            ])
    }

    private func read(_ row: any Row) throws(Problem) -> Stored {
        guard let id = CredentialID(row.text(0)), let role = Role(rawValue: row.text(2)), let environment = Environment(rawValue: row.text(4)),
            let secret = Digest256(row.blob(10))
        else { throw .credential(.altered) }
        var credential = Credential(
            id: id, apiKey: row.text(1), role: role, name: row.text(3), environment: environment,
            merchants: row.optionalText(5)?.split(separator: " ").compactMap { MerchantID(String($0)) },
            clientCertificateSPKI: row.optionalBlob(6).flatMap { Digest256($0) }, createdAt: Timestamp(milliseconds: row.integer(7)),
            expiresAt: Timestamp(milliseconds: row.integer(8)))
        credential.revokedAt = row.optionalInteger(9).map { Timestamp(milliseconds: $0) }
        credential.formerSecretEndsAt = row.optionalInteger(12).map { Timestamp(milliseconds: $0) }
        let stored = Stored(credential: credential, secret: secret, formerSecret: row.optionalBlob(11).flatMap { Digest256($0) })
        guard rights.verify(row.blob(13), content(stored)) else { throw .credential(.altered, context: [("credential", .text(id.text))]) }
        return stored
    }

    private func content(_ stored: Stored) -> [UInt8] {
        let credential = stored.credential
        var list = LengthPrefixedList("credentials", reserving: 512)
        list.append(credential.id.text)
        list.append(credential.apiKey)
        list.append(credential.role.rawValue)
        list.append(credential.name)
        list.append(credential.environment.rawValue)
        list.append(encode(credential.merchants))
        list.append(credential.clientCertificateSPKI)
        list.append(credential.createdAt)
        list.append(credential.expiresAt)
        list.append(credential.revokedAt)
        list.append(stored.secret)
        list.append(stored.formerSecret)
        list.append(credential.formerSecretEndsAt)
        return list.bytes
    }

    private func encode(_ merchants: [MerchantID]?) -> String? { merchants.map { $0.sorted().map(\.text).joined(separator: " ") } }

    // MARK: Secrets

    /// `cs_` and 43 characters: 256 random bits.
    private static func freshSecret() throws(Problem) -> String { "cs_" + Base64.encodeURL(try SecureRandom.bytes(32)) }

    private func mac(of secret: SecretBytes, apiKey: String) -> Digest256 {
        var list = LengthPrefixedList("credential secret")
        list.append(apiKey)
        list.append(secret.copyExposed())  // the MAC's input; freed with this call
        return secrets.authenticate(list.bytes)
    }
}
