import ApplePay
import Cryptography
import Database
public import Encodings
import Problems

/// The certificates table. Each row carries a MAC over state, ownership, key hash and the certificate's digest, checked on each read.
struct Certificates: Sendable {
    private let rights: MACKey
    private let registrations: Registrations

    init(rights: MACKey, registrations: Registrations) {
        self.rights = rights
        self.registrations = registrations
    }

    static let migrations = [
        Migration(
            "certificates-1",
            [
                """
                CREATE TABLE certificates (
                    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, registration TEXT NOT NULL REFERENCES registrations (id),
                    public_key_hash BLOB NOT NULL, status TEXT NOT NULL, source TEXT NOT NULL, key_algorithm TEXT NOT NULL, display_name TEXT NOT NULL,
                    certificate_digest BLOB, issuer_pinned INTEGER NOT NULL, warnings TEXT NOT NULL, replaces TEXT, replaced_by TEXT,
                    cancelled_at INTEGER, compromised_at INTEGER, compromised_reason TEXT, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
                    request_digest BLOB, mac BLOB NOT NULL, expires_at INTEGER, certificate BLOB, request BLOB,
                    UNIQUE (public_key_hash, registration)
                ) STRICT
                """,
                "CREATE INDEX certificates_by_registration ON certificates (registration, status)",
                "CREATE INDEX certificates_cancelled ON certificates (cancelled_at) WHERE status = 'cancelled'",
                """
                CREATE TABLE sealed_keys (
                    certificate TEXT PRIMARY KEY REFERENCES certificates (id), key_encrypting_key TEXT NOT NULL, wrapped BLOB NOT NULL, sealed BLOB NOT NULL
                ) STRICT
                """,
                """
                CREATE TABLE former_certificates (
                    certificate TEXT NOT NULL REFERENCES certificates (id), replaced_at INTEGER NOT NULL, content BLOB NOT NULL
                ) STRICT
                """,
                """
                CREATE TABLE certificate_usage (
                    certificate TEXT PRIMARY KEY REFERENCES certificates (id), first_used_at INTEGER NOT NULL, last_used_at INTEGER NOT NULL,
                    count INTEGER NOT NULL
                ) STRICT, WITHOUT ROWID
                """,
                """
                CREATE TABLE tombstones (
                    public_key_hash BLOB NOT NULL, registration TEXT NOT NULL, certificate TEXT NOT NULL, destroyed_at INTEGER NOT NULL, actor TEXT NOT NULL
                ) STRICT
                """,
            ])
    ]

    static let columns =
        "c.id, c.public_key_hash, c.status, c.source, c.key_algorithm, c.display_name, c.certificate_digest, c.issuer_pinned, c.warnings, c.replaces, "
        + "c.replaced_by, c.cancelled_at, c.compromised_at, c.compromised_reason, c.created_at, c.updated_at, c.request_digest, c.mac"
    private static let columnCount = 18
    /// Everything: the row, its registration, the two documents, when the certificate ends, and the usage.
    private static let fullSelect =
        "SELECT \(columns), \(Registrations.columns), c.certificate, c.request, c.expires_at, u.first_used_at, u.last_used_at, u.count "
        + "FROM certificates c JOIN registrations r ON r.id = c.registration LEFT JOIN certificate_usage u ON u.certificate = c.id"
    private static let leanSelect =
        "SELECT \(columns), \(Registrations.columns) FROM certificates c JOIN registrations r ON r.id = c.registration"
    private static let selectByHash = leanSelect + " WHERE c.public_key_hash = $1"

    // MARK: Reading

    func find(_ id: CertificateID, in scope: TenantScope?, _ connection: any ReadConnection) throws(Problem) -> CertificateRecord? {
        let found = try connection.first("\(Certificates.fullSelect) WHERE c.id = $1", [.text(id.text)]) { row throws(Problem) in try readFull(row) }
        guard let found else { return nil }
        if let scope, found.environment != scope.environment || !scope.contains(found.merchant) { return nil }
        return found
    }

    /// The keys with this hash in the scope, without documents or usage: the decryption path's one read.
    func held(
        _ hash: Digest256, in scope: TenantScope, _ connection: any ReadConnection
    ) throws(Problem) -> [(record: CertificateRecord, registration: Registration)] {
        let rows = try connection.query(Certificates.selectByHash, [.blob(hash.bytes)]) { row throws(Problem) in
            let registration = try registrations.read(row, from: Certificates.columnCount)
            return (record: try read(row, of: registration, certificate: nil, request: nil), registration: registration)
        }
        return rows.filter { $0.registration.environment == scope.environment && scope.contains($0.registration.merchant) }
    }

    /// All records of one registration, in the order of making.
    func all(of registration: RegistrationID, _ connection: any ReadConnection) throws(Problem) -> [CertificateRecord] {
        try connection.query("\(Certificates.fullSelect) WHERE c.registration = $1 ORDER BY c.number", [.text(registration.text)]) { row throws(Problem) in
            try readFull(row)
        }
    }

    func list(_ filter: CertificateFilter, in scope: TenantScope, _ connection: any ReadConnection) throws(Problem) -> [CertificateRecord] {
        let condition = scope.condition(alias: "r", first: 6)
        return try connection.query(
            """
            \(Certificates.fullSelect)
            WHERE c.number > coalesce((SELECT number FROM certificates WHERE id = $1), 0) AND ($2 IS NULL OR c.status = $2)
                AND ($3 IS NULL OR c.public_key_hash = $3) AND ($4 IS NULL OR c.registration = $4) AND ($5 IS NULL OR c.expires_at <= $5)
                AND \(condition.sql) ORDER BY c.number LIMIT \(filter.limit)
            """,
            [
                filter.after.map { .text($0.text) } ?? .null, filter.status.map { .text($0.rawValue) } ?? .null,
                filter.publicKeyHash.map { .blob($0.bytes) } ?? .null, filter.registration.map { .text($0.text) } ?? .null,
                filter.expiresBefore.map { .integer($0.milliseconds) } ?? .null,
            ] + condition.parameters
        ) { row throws(Problem) in try readFull(row) }
    }

    func count(_ status: CertificateStatus, of registration: RegistrationID, _ connection: any ReadConnection) throws(Problem) -> Int {
        try connection.first(
            "SELECT count(*) FROM certificates WHERE registration = $1 AND status = $2", [.text(registration.text), .text(status.rawValue)]
        ) { row in Int(row.integer(0)) } ?? 0
    }

    func sealedKey(of id: CertificateID, _ connection: any ReadConnection) throws(Problem) -> SealedPrivateKey? {
        try connection.first("SELECT key_encrypting_key, wrapped, sealed FROM sealed_keys WHERE certificate = $1", [.text(id.text)]) { row in
            SealedPrivateKey(keyEncryptingKeyID: row.text(0), wrappedDataEncryptingKey: row.blob(1), sealedPKCS8: row.blob(2))
        }
    }

    // MARK: Writing

    func insert(_ record: CertificateRecord, sealed: SealedPrivateKey, in connection: any WriteConnection) throws(Problem) {
        try connection.execute(
            """
            INSERT INTO certificates (id, registration, public_key_hash, status, source, key_algorithm, display_name, certificate_digest, issuer_pinned,
                warnings, replaces, replaced_by, cancelled_at, compromised_at, compromised_reason, created_at, updated_at, request_digest, mac, expires_at,
                certificate, request) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, NULL, NULL, NULL, NULL, $12, $13, $14, $15, $16, $17, $18)
            """,
            [
                .text(record.id.text), .text(record.registration.text), .blob(record.publicKeyHash.bytes), .text(record.status.rawValue),
                .text(record.source.rawValue), .text(record.keyAlgorithm.rawValue), .text(record.displayName),
                record.certificateDigest.map { .blob($0.bytes) } ?? .null, .integer(record.issuerPinned ? 1 : 0),
                .text(record.warnings.joined(separator: " ")), record.replaces.map { .text($0.text) } ?? .null,
                .integer(record.createdAt.milliseconds), .integer(record.updatedAt.milliseconds), Parameter(record.requestDigest?.bytes),
                .blob(mac(record).bytes), try expiry(record),
                record.certificate.map { .blob($0) } ?? .null, record.certificateSigningRequest.map { .blob($0) } ?? .null,
            ])
        try connection.execute(
            "INSERT INTO sealed_keys (certificate, key_encrypting_key, wrapped, sealed) VALUES ($1, $2, $3, $4)",
            [.text(record.id.text), .text(sealed.keyEncryptingKeyID), .blob(sealed.wrappedDataEncryptingKey), .blob(sealed.sealedPKCS8)])
    }

    /// Writes what can change, the certificate itself apart: see ``updateDocument(_:at:in:)``.
    func update(_ record: CertificateRecord, in connection: any WriteConnection) throws(Problem) {
        try connection.execute(
            """
            UPDATE certificates SET status = $1, display_name = $2, issuer_pinned = $3, warnings = $4, replaced_by = $5, cancelled_at = $6,
                compromised_at = $7, compromised_reason = $8, updated_at = $9, mac = $10 WHERE id = $11
            """,
            [
                .text(record.status.rawValue), .text(record.displayName), .integer(record.issuerPinned ? 1 : 0),
                .text(record.warnings.joined(separator: " ")), record.replacedBy.map { .text($0.text) } ?? .null,
                record.cancelledAt.map { .integer($0.milliseconds) } ?? .null, record.compromisedAt.map { .integer($0.milliseconds) } ?? .null,
                record.compromisedReason.map { .text($0) } ?? .null, .integer(record.updatedAt.milliseconds), .blob(mac(record).bytes),
                .text(record.id.text),
            ])
    }

    /// Writes the record with its new certificate; the former certificate goes into the history.
    func updateDocument(_ record: CertificateRecord, at now: Timestamp, in connection: any WriteConnection) throws(Problem) {
        try connection.execute(
            """
            INSERT INTO former_certificates (replaced_at, certificate, content)
            SELECT $1, id, certificate FROM certificates WHERE id = $2 AND certificate IS NOT NULL
            """, [.integer(now.milliseconds), .text(record.id.text)])
        try connection.execute(
            "UPDATE certificates SET certificate = $1, certificate_digest = $2, expires_at = $3 WHERE id = $4",
            [
                record.certificate.map { .blob($0) } ?? .null, record.certificateDigest.map { .blob($0.bytes) } ?? .null, try expiry(record),
                .text(record.id.text),
            ])
        try update(record, in: connection)
    }

    /// Removes the sealed key and its wrapped data-encrypting key, and leaves a tombstone.
    func removeKey(of record: CertificateRecord, by actor: String, at now: Timestamp, in connection: any WriteConnection) throws(Problem) {
        try connection.execute("DELETE FROM sealed_keys WHERE certificate = $1", [.text(record.id.text)])
        try connection.execute(
            "INSERT INTO tombstones (public_key_hash, registration, certificate, destroyed_at, actor) VALUES ($1, $2, $3, $4, $5)",
            [
                .blob(record.publicKeyHash.bytes), .text(record.registration.text), .text(record.id.text), .integer(now.milliseconds), .text(actor),
            ])
    }

    // MARK: Rows

    private func readFull(_ row: any Row) throws(Problem) -> CertificateRecord {
        let registration = try registrations.read(row, from: Certificates.columnCount)
        let next = Certificates.columnCount + Registrations.columnCount
        var record = try read(
            row, of: registration, certificate: row.isNull(next) ? nil : row.blob(next), request: row.isNull(next + 1) ? nil : row.blob(next + 1))
        // Lists are narrowed by the column, which follows from the certificate.
        guard try expiry(record) == Parameter(row.optionalInteger(next + 2)) else {
            throw .keyStore(.rowAltered, context: [("certificate", .text(record.id.text))])
        }
        if !row.isNull(next + 3) {
            record.usage = CertificateUsage(
                firstUsedAt: Timestamp(milliseconds: row.integer(next + 3)), lastUsedAt: Timestamp(milliseconds: row.integer(next + 4)),
                count: Int(row.integer(next + 5)))
        }
        return record
    }

    private func read(_ row: any Row, of registration: Registration, certificate: [UInt8]?, request: [UInt8]?) throws(Problem) -> CertificateRecord {
        guard let id = CertificateID(row.text(0)), let hash = Digest256(row.blob(1)), let status = CertificateStatus(rawValue: row.text(2)),
            let source = KeySource(rawValue: row.text(3)), let algorithm = KeyAlgorithm(rawValue: row.text(4))
        else { throw .keyStore(.rowAltered, context: [("table", "certificates")]) }
        var record = CertificateRecord(
            id: id, registration: registration, displayName: row.text(5), status: status, source: source, keyAlgorithm: algorithm, publicKeyHash: hash,
            certificate: certificate, certificateSigningRequest: request, issuerPinned: row.integer(7) == 1,
            warnings: row.text(8).split(separator: " ").map(String.init), replaces: row.isNull(9) ? nil : CertificateID(row.text(9)),
            createdAt: Timestamp(milliseconds: row.integer(14)))
        let digest = row.optionalBlob(6).flatMap { Digest256($0) }
        let requestDigest = row.optionalBlob(16).flatMap { Digest256($0) }
        // The two documents are under the MAC by their digests, so that the decryption path need not read them.
        guard certificate == nil || record.certificateDigest == digest, request == nil || record.requestDigest == requestDigest else {
            throw .keyStore(.rowAltered, context: [("certificate", .text(id.text))])
        }
        record.certificateDigest = digest
        record.requestDigest = requestDigest
        record.replacedBy = row.isNull(10) ? nil : CertificateID(row.text(10))
        record.cancelledAt = row.isNull(11) ? nil : Timestamp(milliseconds: row.integer(11))
        record.compromisedAt = row.isNull(12) ? nil : Timestamp(milliseconds: row.integer(12))
        record.compromisedReason = row.isNull(13) ? nil : row.text(13)
        record.updatedAt = Timestamp(milliseconds: row.integer(15))
        guard rights.verify(row.blob(17), content(record)) else { throw .keyStore(.rowAltered, context: [("certificate", .text(id.text))]) }
        return record
    }

    private func expiry(_ record: CertificateRecord) throws(Problem) -> Parameter {
        guard let der = record.certificate else { return .null }
        return .integer(try Certificate(der: der).notAfter.milliseconds)
    }

    private func mac(_ record: CertificateRecord) -> Digest256 { rights.authenticate(content(record)) }

    private func content(_ record: CertificateRecord) -> [UInt8] {
        var list = LengthPrefixedList("certificates", reserving: 512)
        list.append(record.id.text)
        list.append(record.registration.text)
        list.append(record.publicKeyHash)
        list.append(record.status.rawValue)
        list.append(record.source.rawValue)
        list.append(record.keyAlgorithm.rawValue)
        list.append(record.displayName)
        list.append(record.certificateDigest)
        list.append(record.requestDigest)
        list.append(record.issuerPinned ? Int64(1) : Int64(0))
        list.append(record.warnings.joined(separator: " "))
        list.append(record.replaces?.text)
        list.append(record.replacedBy?.text)
        list.append(record.cancelledAt)
        list.append(record.compromisedAt)
        list.append(record.compromisedReason)
        list.append(record.createdAt)
        list.append(record.updatedAt)
        return list.bytes
    }
}

/// What a list of certificates is narrowed by.
public struct CertificateFilter: Sendable {
    public var registration: RegistrationID?
    public var status: CertificateStatus?
    public var publicKeyHash: Digest256?
    public var expiresBefore: Timestamp?
    public var after: CertificateID?
    /// 1…100.
    public var limit: Int

    public init(
        registration: RegistrationID? = nil, status: CertificateStatus? = nil, publicKeyHash: Digest256? = nil, expiresBefore: Timestamp? = nil,
        after: CertificateID? = nil, limit: Int = 100
    ) {
        self.registration = registration
        self.status = status
        self.publicKeyHash = publicKeyHash
        self.expiresBefore = expiresBefore
        self.after = after
        self.limit = limit
    }
}
