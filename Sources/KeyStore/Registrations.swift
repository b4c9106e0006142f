import ApplePay
public import Cryptography
public import Database
public import Encodings
public import Problems

/// The registrations table. Each row carries a MAC, checked on each read.
public struct Registrations: Sendable {
    private let rights: MACKey

    public init(rights: MACKey) { self.rights = rights }

    public static let migrations = [
        Migration(
            "registrations-1",
            [
                """
                CREATE TABLE registrations (
                    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, merchant TEXT NOT NULL, environment TEXT NOT NULL, identifier TEXT NOT NULL,
                    display_name TEXT NOT NULL, replay_policy TEXT NOT NULL, maximum_token_age_seconds INTEGER, proven_until INTEGER,
                    created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, mac BLOB NOT NULL,
                    UNIQUE (environment, identifier, merchant)
                ) STRICT
                """,
                // For "differs only in case": a misspelt identifier must not cost a look at every registration.
                "CREATE INDEX registrations_by_folded_identifier ON registrations (lower(identifier))",
                """
                CREATE TABLE unknown_public_key_hashes (
                    registration TEXT NOT NULL REFERENCES registrations (id), public_key_hash BLOB NOT NULL, count INTEGER NOT NULL,
                    first_seen_at INTEGER NOT NULL, last_seen_at INTEGER NOT NULL, PRIMARY KEY (registration, public_key_hash)
                ) STRICT, WITHOUT ROWID
                """,
            ])
    ]

    static let columns =
        "r.id, r.merchant, r.environment, r.identifier, r.display_name, r.replay_policy, r.maximum_token_age_seconds, r.proven_until, r.created_at, "
        + "r.updated_at, r.mac"
    static let columnCount = 11

    /// - Throws: `merchant_identifier.already_registered` with the id of the one there is.
    public func insert(_ registration: Registration, in connection: any WriteConnection) throws(Problem) {
        let there = try connection.first(
            "SELECT id FROM registrations WHERE environment = $1 AND identifier = $2 AND merchant = $3",
            [.text(registration.environment.rawValue), .text(registration.identifier.text), .text(registration.merchant.text)]
        ) { row in row.text(0) }
        if let there { throw .keyStore(.alreadyRegistered, context: [("registration", .text(there))]) }
        try connection.execute(
            """
            INSERT INTO registrations (id, merchant, environment, identifier, display_name, replay_policy, maximum_token_age_seconds, proven_until,
                created_at, updated_at, mac) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
            """,
            [
                .text(registration.id.text), .text(registration.merchant.text), .text(registration.environment.rawValue),
                .text(registration.identifier.text), .text(registration.displayName), .text(registration.replayPolicy.rawValue),
                registration.maximumTokenAgeSeconds.map { .integer(Int64($0)) } ?? .null,
                registration.provenUntil.map { .integer($0.milliseconds) } ?? .null, .integer(registration.createdAt.milliseconds),
                .integer(registration.updatedAt.milliseconds), .blob(mac(registration).bytes),
            ])
    }

    /// Writes what can change: names, policies, proof.
    public func update(_ registration: Registration, in connection: any WriteConnection) throws(Problem) {
        try connection.execute(
            """
            UPDATE registrations SET display_name = $1, replay_policy = $2, maximum_token_age_seconds = $3, proven_until = $4, updated_at = $5, mac = $6
            WHERE id = $7
            """,
            [
                .text(registration.displayName), .text(registration.replayPolicy.rawValue),
                registration.maximumTokenAgeSeconds.map { .integer(Int64($0)) } ?? .null,
                registration.provenUntil.map { .integer($0.milliseconds) } ?? .null, .integer(registration.updatedAt.milliseconds),
                .blob(mac(registration).bytes), .text(registration.id.text),
            ])
    }

    /// The registration with this id, where the scope covers it.
    public func find(_ id: RegistrationID, in scope: TenantScope, _ connection: any ReadConnection) throws(Problem) -> Registration? {
        let found = try connection.first("SELECT \(Registrations.columns) FROM registrations r WHERE r.id = $1", [.text(id.text)]) {
            row throws(Problem) in try read(row)
        }
        guard let found, found.environment == scope.environment, scope.contains(found.merchant) else { return nil }
        return found
    }

    /// The registration that a path names, by its `mid_` id or by the literal identifier.
    /// - Throws: `merchant_identifier.unknown`, `.case_differs`, `.ambiguous` (with the ids the caller may see).
    public func resolve(_ reference: String, in scope: TenantScope, _ connection: any ReadConnection) throws(Problem) -> Registration {
        if let id = RegistrationID(reference) {
            guard let registration = try find(id, in: scope, connection) else { throw .keyStore(.registrationUnknown) }
            return registration
        }
        let visible = try named(reference, in: scope, connection)
        if visible.count > 1 {
            throw .keyStore(.ambiguous, context: [("registrations", .list(visible.map { .text($0.id.text) }))])
        }
        if let only = visible.first { return only }
        let other = try connection.query(
            "SELECT \(Registrations.columns) FROM registrations r WHERE lower(r.identifier) = $1", [.text(reference.lowercased())]
        ) { row throws(Problem) in try read(row) }.first { $0.environment == scope.environment && scope.contains($0.merchant) }
        if let other { throw .keyStore(.caseDiffers, context: [("given", .text(reference)), ("registered", .text(other.identifier.text))]) }
        throw .keyStore(.registrationUnknown)
    }

    /// Every registration of this literal identifier that the scope covers.
    public func named(_ identifier: String, in scope: TenantScope, _ connection: any ReadConnection) throws(Problem) -> [Registration] {
        try connection.query(
            "SELECT \(Registrations.columns) FROM registrations r WHERE r.environment = $1 AND r.identifier = $2",
            [.text(scope.environment.rawValue), .text(identifier)]
        ) { row throws(Problem) in try read(row) }.filter { scope.contains($0.merchant) }
    }

    /// One page in the order of making.
    public func list(
        in scope: TenantScope, merchant: MerchantID?, after: RegistrationID?, limit: Int, _ connection: any ReadConnection
    ) throws(Problem) -> [Registration] {
        let condition = scope.condition(alias: "r", first: 3)
        return try connection.query(
            """
            SELECT \(Registrations.columns) FROM registrations r
            WHERE r.number > coalesce((SELECT number FROM registrations WHERE id = $1), 0) AND ($2 IS NULL OR r.merchant = $2) AND \(condition.sql)
            ORDER BY r.number LIMIT \(limit)
            """, [after.map { .text($0.text) } ?? .null, merchant.map { .text($0.text) } ?? .null] + condition.parameters
        ) { row throws(Problem) in try read(row) }
    }

    /// Another merchant's registration of the same identifier whose proof still holds.
    public func provenElsewhere(than registration: Registration, at now: Timestamp, _ connection: any ReadConnection) throws(Problem) -> Bool {
        try connection.query(
            "SELECT \(Registrations.columns) FROM registrations r WHERE r.environment = $1 AND r.identifier = $2",
            [.text(registration.environment.rawValue), .text(registration.identifier.text)]
        ) { row throws(Problem) in try read(row) }.contains { other in
            guard other.merchant != registration.merchant, let until = other.provenUntil else { return false }
            return until > now
        }
    }

    /// Counts a `publicKeyHash` that no key answers to; at most 100 different ones per registration are kept, the longest unseen goes first.
    public func noteUnknownHash(
        _ hash: Digest256, for registration: RegistrationID, at now: Timestamp, in connection: any WriteConnection
    ) throws(Problem) {
        let changed = try connection.execute(
            "UPDATE unknown_public_key_hashes SET count = count + 1, last_seen_at = $1 WHERE registration = $2 AND public_key_hash = $3",
            [.integer(now.milliseconds), .text(registration.text), .blob(hash.bytes)])
        if changed > 0 { return }
        try connection.execute(
            """
            DELETE FROM unknown_public_key_hashes WHERE registration = $1 AND public_key_hash IN (
                SELECT public_key_hash FROM unknown_public_key_hashes WHERE registration = $1 ORDER BY last_seen_at DESC LIMIT -1 OFFSET 99)
            """, [.text(registration.text)])
        try connection.execute(
            "INSERT INTO unknown_public_key_hashes (registration, public_key_hash, count, first_seen_at, last_seen_at) VALUES ($1, $2, 1, $3, $3)",
            [.text(registration.text), .blob(hash.bytes), .integer(now.milliseconds)])
    }

    public func unknownHashes(of registration: RegistrationID, _ connection: any ReadConnection) throws(Problem) -> [UnknownPublicKeyHash] {
        try connection.query(
            """
            SELECT public_key_hash, count, first_seen_at, last_seen_at FROM unknown_public_key_hashes WHERE registration = $1
            ORDER BY last_seen_at DESC LIMIT 100
            """, [.text(registration.text)]
        ) { row in
            Digest256(row.blob(0)).map {
                UnknownPublicKeyHash(
                    publicKeyHash: $0, count: Int(row.integer(1)), firstSeenAt: Timestamp(milliseconds: row.integer(2)),
                    lastSeenAt: Timestamp(milliseconds: row.integer(3)))
            }
        }.compactMap { $0 }
    }

    /// Reads a row that begins at column `first` and checks its MAC.
    /// - Throws: `custody.row_altered`.
    func read(_ row: any Row, from first: Int = 0) throws(Problem) -> Registration {
        guard let id = RegistrationID(row.text(first)), let merchant = MerchantID(row.text(first + 1)),
            let environment = Environment(rawValue: row.text(first + 2)), let identifier = try? MerchantIdentifier(row.text(first + 3)),
            let policy = ReplayPolicy(rawValue: row.text(first + 5))
        else { throw .keyStore(.rowAltered, context: [("table", "registrations")]) }
        let registration = Registration(
            id: id, merchant: merchant, environment: environment, identifier: identifier, displayName: row.text(first + 4), replayPolicy: policy,
            maximumTokenAgeSeconds: row.isNull(first + 6) ? nil : Int(row.integer(first + 6)),
            provenUntil: row.isNull(first + 7) ? nil : Timestamp(milliseconds: row.integer(first + 7)),
            createdAt: Timestamp(milliseconds: row.integer(first + 8)), updatedAt: Timestamp(milliseconds: row.integer(first + 9)))
        guard rights.verify(row.blob(first + 10), content(registration)) else {
            throw .keyStore(.rowAltered, context: [("registration", .text(id.text))])
        }
        return registration
    }

    private func mac(_ registration: Registration) -> Digest256 { rights.authenticate(content(registration)) }

    private func content(_ registration: Registration) -> [UInt8] {
        var list = LengthPrefixedList("registrations")
        list.append(registration.id.text)
        list.append(registration.merchant.text)
        list.append(registration.environment.rawValue)
        list.append(registration.identifier.text)
        list.append(registration.displayName)
        list.append(registration.replayPolicy.rawValue)
        list.append(registration.maximumTokenAgeSeconds.map { Int64($0) })
        list.append(registration.provenUntil)
        list.append(registration.createdAt)
        list.append(registration.updatedAt)
        return list.bytes
    }
}
