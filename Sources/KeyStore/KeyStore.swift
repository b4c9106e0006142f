public import Cryptography
public import Database
public import Encodings
public import Problems

/// Sealed private keys by (registration, public key hash), and the states of their certificate records.
///
/// Reads take a ``TenantScope``; what stands outside it is as if it were not there. Writes run in the caller's transaction, beside its audit entry.
public final class KeyStore: Sendable {
    public let registrations: Registrations
    public let replayMarks = ReplayMarks()
    private let certificates: Certificates
    private let sealer: KeySealer
    private let cache: OpenedKeyCache
    private let usage = UsageLedger()
    /// How many open requests one registration may have.
    private let maximumPending: Int

    /// - Parameter cachedKeys: how many opened keys are kept at most.
    public init(keyring: Keyring, cachedKeys: Int, maximumPending: Int = 20) {
        registrations = Registrations(rights: keyring.rights)
        certificates = Certificates(rights: keyring.rights, registrations: registrations)
        sealer = KeySealer(keyring: keyring)
        cache = OpenedKeyCache(capacity: cachedKeys)
        self.maximumPending = maximumPending
    }

    public static let migrations = Keyring.migrations + Registrations.migrations + Certificates.migrations + ReplayMarks.migrations + SealedBlobs.migrations

    // MARK: Reading

    /// - Throws: `certificate.unknown`, for ids outside the scope too.
    public func certificate(_ id: CertificateID, in scope: TenantScope, _ connection: any ReadConnection) throws(Problem) -> CertificateRecord {
        guard let record = try certificates.find(id, in: scope, connection) else { throw .keyStore(.certificateUnknown) }
        return record
    }

    /// The keys with this hash that the scope covers, whatever their state.
    public func held(
        _ hash: Digest256, in scope: TenantScope, _ connection: any ReadConnection
    ) throws(Problem) -> [(record: CertificateRecord, registration: Registration)] {
        try certificates.held(hash, in: scope, connection)
    }

    public func certificates(of registration: RegistrationID, _ connection: any ReadConnection) throws(Problem) -> [CertificateRecord] {
        try certificates.all(of: registration, connection)
    }

    public func list(_ filter: CertificateFilter, in scope: TenantScope, _ connection: any ReadConnection) throws(Problem) -> [CertificateRecord] {
        try certificates.list(filter, in: scope, connection)
    }

    /// Opens the private key of a record: from the cache, or by one indexed read, unsealing, and comparing the public key derived anew.
    /// - Throws: `custody.key_does_not_open`.
    public func open(_ record: CertificateRecord, in database: any Database) throws(Problem) -> PrivateKey {
        if let key = cache.key(record.id) { return key }
        let moment = cache.moment
        let sealed = try database.read { connection throws(Problem) in try certificates.sealedKey(of: record.id, connection) }
        guard let sealed else { throw .keyStore(.keyDoesNotOpen, context: [("certificate", .text(record.id.text))]) }
        let key: PrivateKey
        do throws(Problem) {
            key = try sealer.open(sealed, for: record)
        } catch {
            // The protected memory is full of keys kept for speed: a payment comes before those.
            guard error.retryable, cache.count > 0 else { throw error }
            cache.removeAll()
            key = try sealer.open(sealed, for: record)
        }
        cache.insert(key, for: record.id, readAt: moment)
        return key
    }

    /// Opens every key that has not been destroyed, without leaving one in the cache, and checks every row's MAC on the way. A hundred rows a snapshot, so
    /// that commits and checkpoints go on meanwhile.
    /// - Returns: how many opened, and what is wrong with the others, at most 100.
    public func verifyAll(in database: any Database) throws(Problem) -> (opened: Int, problems: [Problem]) {
        var opened = 0
        var problems: [Problem] = []
        var last: Int64 = 0
        while problems.count < 100 {
            let end = try database.read { connection throws(Problem) -> Int64? in
                let rows = try connection.query("SELECT number, id FROM certificates WHERE number > $1 ORDER BY number LIMIT 100", [.integer(last)]) { row in
                    (number: row.integer(0), id: row.text(1))
                }
                for row in rows {
                    do throws(Problem) { if try verify(row.id, connection) { opened += 1 } } catch { problems.append(error) }
                }
                return rows.last?.number
            }
            guard let end else { break }
            last = end
        }
        return (opened, Array(problems.prefix(100)))
    }

    /// - Returns: whether there is a key, and it opens; false for one that was destroyed.
    private func verify(_ text: String, _ connection: any ReadConnection) throws(Problem) -> Bool {
        guard let id = CertificateID(text), let record = try certificates.find(id, in: nil, connection) else {
            throw .keyStore(.rowAltered, context: [("certificate", .text(text))])
        }
        let sealed = try certificates.sealedKey(of: id, connection)
        if record.status == .destroyed {
            guard sealed == nil else { throw .keyStore(.rowAltered, context: [("certificate", .text(text))]) }
            return false
        }
        guard let sealed else { throw .keyStore(.keyDoesNotOpen, context: [("certificate", .text(text))]) }
        _ = try sealer.open(sealed, for: record)
        return true
    }

    public func forgetOpenedKeys() { cache.removeAll() }

    /// To be called once the destruction of a key is committed: until then a reader of an older snapshot could put it back.
    public func forgetOpenedKey(_ id: CertificateID) { cache.remove(id) }
    public var openedKeys: Int { cache.count }

    // MARK: Writing

    /// Seals a new key and inserts its record.
    /// - Throws: `certificate.too_many_pending`.
    public func insert(_ record: CertificateRecord, key: PrivateKey, in connection: any WriteConnection) throws(Problem) {
        if record.status == .awaitingCertificate {
            let pending = try certificates.count(.awaitingCertificate, of: record.registration, connection)
            guard pending < maximumPending else {
                throw .keyStore(.tooManyPending, context: [("limit", .number(maximumPending)), ("pending", .number(pending))])
            }
        }
        try certificates.insert(record, sealed: try sealer.seal(key, for: record), in: connection)
    }

    /// Gives a record its certificate: completes a request, or replaces the certificate shown of a key already held (the former stays in the history).
    public func attach(
        certificate: [UInt8], issuerPinned: Bool, warnings: [String], to id: CertificateID, at now: Timestamp, in connection: any WriteConnection
    ) throws(Problem) -> CertificateRecord {
        var record = try reload(id, connection)
        switch record.status.transition(.upload, compromised: record.compromisedAt != nil) {
        case .becomes(let status):
            record.status = status
            record.cancelledAt = nil
        case .alreadyDone: break
        case .refused: throw conflict(record, .upload)
        }
        record.certificate = certificate
        record.issuerPinned = issuerPinned
        record.warnings = warnings
        record.updatedAt = now
        try certificates.updateDocument(record, at: now, in: connection)
        return record
    }

    /// Takes one step of the state machine.
    /// - Returns: the record, and whether anything changed (false: the step had been taken before).
    /// - Throws: `certificate.state_conflict`.
    public func apply(
        _ verb: CertificateVerb, to id: CertificateID, by actor: String, at now: Timestamp, in connection: any WriteConnection
    ) throws(Problem) -> (record: CertificateRecord, changed: Bool) {
        var record = try reload(id, connection)
        switch record.status.transition(verb, compromised: record.compromisedAt != nil) {
        case .refused: throw conflict(record, verb)
        case .alreadyDone: return (record, false)
        case .becomes(let status):
            if status == .active { try supersede(others: record, at: now, in: connection) }
            record.status = status
            record.updatedAt = now
            if verb == .cancel { record.cancelledAt = now }
            if status == .destroyed { try certificates.removeKey(of: record, by: actor, at: now, in: connection) }
            try certificates.update(record, in: connection)
            return (record, true)
        }
    }

    /// Flags a key as leaked. It goes on opening tokens until it is destroyed.
    public func markCompromised(
        _ id: CertificateID, reason: String, at now: Timestamp, in connection: any WriteConnection
    ) throws(Problem) -> (record: CertificateRecord, changed: Bool) {
        var record = try reload(id, connection)
        guard record.status != .destroyed else { throw conflict(record, nil) }
        guard record.compromisedAt == nil else { return (record, false) }
        record.compromisedAt = now
        record.compromisedReason = reason
        record.updatedAt = now
        try certificates.update(record, in: connection)
        return (record, true)
    }

    public func rename(_ id: CertificateID, to name: String, at now: Timestamp, in connection: any WriteConnection) throws(Problem) -> CertificateRecord {
        var record = try reload(id, connection)
        record.displayName = name
        record.updatedAt = now
        try certificates.update(record, in: connection)
        return record
    }

    /// Says in the former record that another takes its place.
    public func link(_ former: CertificateID, replacedBy successor: CertificateID, at now: Timestamp, in connection: any WriteConnection) throws(Problem) {
        var record = try reload(former, connection)
        record.replacedBy = successor
        record.updatedAt = now
        try certificates.update(record, in: connection)
    }

    /// Notes that a token was opened with this key. The first use of a staged certificate makes it active.
    ///
    /// The record was read before this transaction, and another use, or a person, may have taken it further since: then the use is counted and moves nothing.
    /// - Returns: whether this was the first use, which activated it.
    @discardableResult public func noteUse(of record: CertificateRecord, at now: Timestamp, in connection: any WriteConnection) throws(Problem) -> Bool {
        try usage.note(record.id, at: now, in: connection)
        guard record.status == .staged, try reload(record.id, connection).status == .staged else { return false }
        return try apply(.activate, to: record.id, by: "first use", at: now, in: connection).changed
    }

    /// Cancelled requests whose certificate can no longer be expected.
    public func cancelledBefore(_ time: Timestamp, limit: Int, _ connection: any ReadConnection) throws(Problem) -> [CertificateID] {
        try connection.query(
            "SELECT id FROM certificates WHERE status = 'cancelled' AND cancelled_at < $1 ORDER BY cancelled_at LIMIT \(limit)", [.integer(time.milliseconds)]
        ) { row in CertificateID(row.text(0)) }.compactMap { $0 }
    }

    private func reload(_ id: CertificateID, _ connection: any WriteConnection) throws(Problem) -> CertificateRecord {
        guard let record = try certificates.find(id, in: nil, connection) else { throw .keyStore(.certificateUnknown) }
        return record
    }

    private func supersede(others record: CertificateRecord, at now: Timestamp, in connection: any WriteConnection) throws(Problem) {
        for other in try certificates.all(of: record.registration, connection)
        where other.id != record.id && other.status == .active && other.keyAlgorithm == record.keyAlgorithm {
            _ = try apply(.supersede, to: other.id, by: record.id.text, at: now, in: connection)
        }
    }

    private func conflict(_ record: CertificateRecord, _ verb: CertificateVerb?) -> Problem {
        var context: [(name: String, value: ContextValue)] = [("certificate", .text(record.id.text)), ("status", .text(record.status.rawValue))]
        if let verb { context.append(("step", .text(verb.rawValue))) }
        return .keyStore(.stateConflict, context: context)
    }
}
