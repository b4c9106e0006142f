public import Accounts
public import ApplePay
import AuditTrail
import Cryptography
import Database
public import Encodings
public import KeyStore
public import Problems

/// A certificate record as it is shown: with what its certificate says, its flags and its warnings of this moment.
public struct CertificateView: Sendable {
    public let record: CertificateRecord
    /// `expired` `expiring` `compromised` `unproven` `key_made_elsewhere`.
    public let flags: [String]
    /// Lower-case hex.
    public let serialNumber: String?
    public let subject: String?
    public let issuer: String?
    public let fingerprint: Digest256?
    public let notBefore: Timestamp?
    public let expiresAt: Timestamp?
    /// Whole days to the end, negative after it.
    public let daysRemaining: Int?
    public let warnings: [Warning]
}

/// What a list of certificates is asked for.
public struct CertificateQuery: Sendable {
    public var merchantIdentifier: String?
    public var status: CertificateStatus?
    public var publicKeyHash: Digest256?
    public var expiringWithinDays: Int?
    public var after: CertificateID?
    public var limit: Int

    public init(
        merchantIdentifier: String? = nil, status: CertificateStatus? = nil, publicKeyHash: Digest256? = nil, expiringWithinDays: Int? = nil,
        after: CertificateID? = nil, limit: Int = 50
    ) {
        self.merchantIdentifier = merchantIdentifier
        self.status = status
        self.publicKeyHash = publicKeyHash
        self.expiringWithinDays = expiringWithinDays
        self.after = after
        self.limit = limit
    }
}

/// Certificates: making keys and requests, reading, and the steps of the state machine.
extension Operations {
    /// Makes a key pair and its certificate signing request.
    /// - Throws: `merchant_identifier.*`, `certificate.too_many_pending`, `certificate.unknown` (the one to be replaced).
    public func createCertificate(
        for reference: String, displayName: String?, algorithm: KeyAlgorithm, replaces: CertificateID?, under grant: Grant<ManageCertificates>, _ call: Call
    ) async throws(Problem) -> Made<CertificateView> {
        let now = clock()
        let scope = scope(grant)
        let registration = try database.read { connection throws(Problem) in
            let registration = try keyStore.registrations.resolve(reference, in: scope, connection)
            if let replaces { try require(replaces, in: registration, scope, connection) }
            return registration
        }
        let name = try DisplayText.checked(displayName ?? registration.displayName, member: "display_name", maximum: 255)
        // The key is made before the transaction: an RSA pair takes longer than all else together.
        let key = try PrivateKey.generate(algorithm)
        let request = try CertificationRequest.make(for: key, merchantIdentifier: registration.identifier.text)
        let draft = CertificateRecord(
            id: .random(), registration: registration, displayName: name, status: .awaitingCertificate, source: .certificateSigningRequest,
            keyAlgorithm: algorithm, publicKeyHash: key.spkiHash, certificate: nil, certificateSigningRequest: request, issuerPinned: false, warnings: [],
            replaces: replaces, createdAt: now)
        return try await made(by: grant, call, at: now) { [self] connection throws(Problem) in
            try keyStore.insert(draft, key: key, in: connection)
            if let replaces { try keyStore.link(replaces, replacedBy: draft.id, at: now, in: connection) }
            try audit.append(
                .action(
                    "certificate.create", by: grant, call, at: now, merchant: draft.merchant, registration: draft.registration, certificate: draft.id,
                    details: ["key_algorithm": .text(algorithm.rawValue), "public_key_hash": .text(draft.publicKeyHash.base64)]), in: connection)
            return (try view(draft, at: now), draft.id.text)
        } again: { [self] id, connection throws(Problem) in
            try view(try certificate(named: id, scope, connection), at: now)
        }
    }

    /// The certificate signing request of a record made here.
    /// - Throws: `certificate.unknown`, `.no_request`.
    public func certificateSigningRequest(
        _ id: CertificateID, under grant: Grant<ReadCertificates>
    ) throws(Problem) -> (der: [UInt8], pem: String, identifier: MerchantIdentifier) {
        let record = try database.read { connection throws(Problem) in try keyStore.certificate(id, in: scope(grant), connection) }
        guard let der = record.certificateSigningRequest else {
            throw Problem(KeyStoreProblem.noRequest, context: [("certificate", .text(id.text)), ("source", .text(record.source.rawValue))])
        }
        return (der, PEM.encode(der, label: "CERTIFICATE REQUEST"), record.merchantIdentifier)
    }

    public func certificate(_ id: CertificateID, under grant: Grant<ReadCertificates>) throws(Problem) -> CertificateView {
        let record = try database.read { connection throws(Problem) in try keyStore.certificate(id, in: scope(grant), connection) }
        return try view(record, at: clock())
    }

    public func certificates(_ query: CertificateQuery, under grant: Grant<ReadCertificates>) throws(Problem) -> Page<CertificateView> {
        let now = clock()
        let scope = scope(grant)
        let found = try database.read { connection throws(Problem) in
            var filter = CertificateFilter(
                status: query.status, publicKeyHash: query.publicKeyHash,
                expiresBefore: query.expiringWithinDays.map { now.adding(seconds: Int64($0) * 86_400) }, after: query.after, limit: query.limit + 1)
            if let reference = query.merchantIdentifier { filter.registration = try keyStore.registrations.resolve(reference, in: scope, connection).id }
            return try keyStore.list(filter, in: scope, connection)
        }
        return try Page(found, limit: query.limit, id: \.id.text).map { record throws(Problem) in try view(record, at: now) }
    }

    public func rename(
        _ id: CertificateID, to name: String, under grant: Grant<ManageCertificates>, _ call: Call
    ) async throws(Problem) -> CertificateView {
        let name = try DisplayText.checked(name, member: "display_name", maximum: 255)
        return try await change(id, "certificate.rename", by: grant, call) { [keyStore] _, now, connection throws(Problem) in
            try keyStore.rename(id, to: name, at: now, in: connection)
        }
    }

    public func activate(_ id: CertificateID, under grant: Grant<ManageCertificates>, _ call: Call) async throws(Problem) -> CertificateView {
        try await step(.activate, id, by: grant, call)
    }

    public func cancel(_ id: CertificateID, under grant: Grant<ManageCertificates>, _ call: Call) async throws(Problem) -> CertificateView {
        try await step(.cancel, id, by: grant, call)
    }

    public func reinstate(_ id: CertificateID, under grant: Grant<RetireCertificates>, _ call: Call) async throws(Problem) -> CertificateView {
        try await step(.reinstate, id, by: grant, call)
    }

    /// - Throws: `certificate.in_recent_use`.
    public func retire(_ id: CertificateID, under grant: Grant<RetireCertificates>, _ call: Call) async throws(Problem) -> CertificateView {
        try await step(.retire, id, by: grant, call) { [self] record, now throws(Problem) in
            if record.status == .retiring { try requireUnused(record, at: now) }
        }
    }

    public func markCompromised(
        _ id: CertificateID, reason: String, under grant: Grant<RetireCertificates>, _ call: Call
    ) async throws(Problem) -> CertificateView {
        let reason = try DisplayText.checked(reason, member: "reason", maximum: 500)
        return try await change(id, "certificate.compromised", by: grant, call) { [keyStore] _, now, connection throws(Problem) in
            try keyStore.markCompromised(id, reason: reason, at: now, in: connection).record
        }
    }

    /// Removes the private key for good. The hash typed in must be the certificate's.
    /// - Throws: `certificate.public_key_hash_mismatch`, `.in_recent_use` (waived once compromised), `.state_conflict`.
    public func destroy(
        _ id: CertificateID, publicKeyHash: String, under grant: Grant<RetireCertificates>, _ call: Call
    ) async throws(Problem) -> CertificateView {
        let view = try await step(.destroy, id, by: grant, call) { [self] record, now throws(Problem) in
            guard Digest256(text: publicKeyHash) == record.publicKeyHash else { throw Problem(KeyStoreProblem.publicKeyHashMismatch) }
            if record.status == .retired, record.compromisedAt == nil { try requireUnused(record, at: now) }
        }
        await forgetDestroyed([id])
        return view
    }

    // MARK: Parts

    /// Their keys are gone from the tables; now from memory and the log too. Where a reader holds an old snapshot, the next checkpoint does it.
    func forgetDestroyed(_ ids: [CertificateID]) async {
        for id in ids { keyStore.forgetOpenedKey(id) }
        try? await database.forgetDeleted()
    }

    private func step<Allowed>(
        _ verb: CertificateVerb, _ id: CertificateID, by grant: Grant<Allowed>, _ call: Call,
        guarded: @escaping @Sendable (CertificateRecord, Timestamp) throws(Problem) -> Void = { _, _ throws(Problem) in }
    ) async throws(Problem) -> CertificateView {
        try await change(id, "certificate.\(verb.rawValue)", by: grant, call) { [keyStore] record, now, connection throws(Problem) in
            try guarded(record, now)
            return try keyStore.apply(verb, to: id, by: grant.caller.text, at: now, in: connection).record
        }
    }

    /// Changes one record and writes its audit entry, a refusal's too.
    private func change<Allowed>(
        _ id: CertificateID, _ action: String, by grant: Grant<Allowed>, _ call: Call,
        _ body: @escaping @Sendable (CertificateRecord, Timestamp, any WriteConnection) throws(Problem) -> CertificateRecord
    ) async throws(Problem) -> CertificateView {
        let now = clock()
        let scope = scope(grant)
        do {
            let record = try await database.write { [keyStore, audit] connection throws(Problem) in
                let before = try keyStore.certificate(id, in: scope, connection)
                var record = try body(before, now, connection)
                record.usage = before.usage
                try audit.append(
                    .action(
                        action, by: grant, call, at: now, merchant: record.merchant, registration: record.registration, certificate: id,
                        details: ["status_before": .text(before.status.rawValue), "status": .text(record.status.rawValue)]), in: connection)
                return record
            }
            return try view(record, at: now)
        } catch {
            try await recordRefusal(error, action, by: grant, call, at: now, certificate: id)
            throw error
        }
    }

    /// Writes the entry of a refusal, but not of the database's own failures: those could not be written.
    func recordRefusal<Allowed>(
        _ problem: Problem, _ action: String, by grant: Grant<Allowed>, _ call: Call, at now: Timestamp, merchant: MerchantID? = nil,
        registration: RegistrationID? = nil, certificate: CertificateID? = nil
    ) async throws(Problem) {
        guard problem.status != 503 else { return }
        try await database.write { [audit] connection throws(Problem) in
            _ = try audit.append(
                .action(
                    action, by: grant, call, at: now, outcome: problem.code, merchant: merchant, registration: registration, certificate: certificate),
                in: connection)
        }
    }

    private func requireUnused(_ record: CertificateRecord, at now: Timestamp) throws(Problem) {
        guard let last = record.usage?.lastUsedAt, now < last.adding(seconds: settings.gracePeriodSeconds) else { return }
        throw Problem(
            KeyStoreProblem.inRecentUse,
            context: [
                ("last_used_at", .text(last.rfc3339)), ("possible_from", .text(last.adding(seconds: settings.gracePeriodSeconds).rfc3339)),
            ])
    }

    private func require(
        _ former: CertificateID, in registration: Registration, _ scope: TenantScope, _ connection: any ReadConnection
    ) throws(Problem) {
        let record = try keyStore.certificate(former, in: scope, connection)
        guard record.registration == registration.id else { throw Problem(KeyStoreProblem.certificateUnknown) }
    }

    func certificate(named id: String, _ scope: TenantScope, _ connection: any ReadConnection) throws(Problem) -> CertificateRecord {
        guard let id = CertificateID(id) else { throw Problem(KeyStoreProblem.certificateUnknown) }
        return try keyStore.certificate(id, in: scope, connection)
    }

    func view(_ record: CertificateRecord, at now: Timestamp) throws(Problem) -> CertificateView {
        let certificate: Certificate? = if let der = record.certificate { try Certificate(der: der) } else { nil }
        var flags: [String] = []
        var warnings = record.warnings.map { CertificateWarnings.named($0) }
        var days: Int?
        if let certificate {
            let seconds = certificate.notAfter.seconds(since: now)
            days = Int(seconds >= 0 ? seconds / 86_400 : -((86_399 - seconds) / 86_400))
            if certificate.notAfter < now {
                flags.append("expired")
                warnings.append(CertificateWarnings.named("expired"))
            } else if seconds < Int64(settings.expiringDays) * 86_400 {
                flags.append("expiring")
            }
            if now < certificate.notBefore { warnings.append(CertificateWarnings.named("not_yet_valid")) }
        }
        if record.compromisedAt != nil { flags.append("compromised") }
        if record.source == .pkcs12 {
            flags += ["unproven", "key_made_elsewhere"]
        } else if certificate != nil, !record.issuerPinned || record.warnings.contains(CertificateWarnings.provenElsewhere) {
            flags.append("unproven")
        }
        return CertificateView(
            record: record, flags: flags, serialNumber: certificate?.serialHex, subject: certificate?.subject.description,
            issuer: certificate?.issuer.description, fingerprint: certificate?.fingerprint, notBefore: certificate?.notBefore,
            expiresAt: certificate?.notAfter, daysRemaining: days, warnings: warnings)
    }
}

extension PrivateKey {
    static func generate(_ algorithm: KeyAlgorithm) throws(Problem) -> PrivateKey {
        switch algorithm {
        case .ecP256: .p256(try P256.AgreementKey.generate())
        case .rsa2048: .rsa(try RSA.DecryptionKey.generate(bits: 2048))
        }
    }
}

/// The warnings that stand beside a certificate record: stored as codes, shown with their sentences.
enum CertificateWarnings {
    static let provenElsewhere = "proven_elsewhere"

    static func named(_ code: String) -> Warning {
        let detail =
            switch code {
            case "expired": "The certificate has ended. Its key still opens late tokens; make a new certificate now."
            case "not_yet_valid": "The certificate is not valid yet."
            case "issuer_unknown": "The certificate's issuer is not one of the Apple authorities pinned here."
            case "no_integrity_protection": "The .p12 file carried no integrity check, so a change on its way could not be noticed."
            case provenElsewhere: "Control of this merchant identifier was proven by somebody else before; the staff will look at it."
            default: "See the documentation for this code."
            }
        return Warning(code: code, detail: detail)
    }
}
