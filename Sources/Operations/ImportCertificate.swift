public import Accounts
import ApplePay
import AuditTrail
import Cryptography
import Database
import Encodings
import KeyStore
public import Problems
public import Secrets

/// A file as it was uploaded, with the passwords that open it.
public struct Upload: Sendable {
    public let content: [UInt8]
    public let password: SecretBytes?
    /// Where the private key inside has a password of its own.
    public let keyPassword: SecretBytes?

    public init(content: [UInt8], password: SecretBytes? = nil, keyPassword: SecretBytes? = nil) {
        self.content = content
        self.password = password
        self.keyPassword = keyPassword
    }
}

/// Takes the issued certificate, or a `.p12`. Recognised by content; the first thing wrong gives the code, in the order of `design.md` §4.
extension Operations {
    /// - Throws: `certificate.*`, `pkcs12.*`, `merchant_identifier.*`.
    public func upload(
        _ upload: Upload, to reference: String, under grant: Grant<ManageCertificates>, _ call: Call
    ) async throws(Problem) -> Made<CertificateView> {
        let now = clock()
        let scope = scope(grant)
        let (registration, made) = try database.read { connection throws(Problem) in
            (
                try keyStore.registrations.resolve(reference, in: scope, connection),
                try idempotency.made(by: grant.caller, call, at: now, in: connection).map { id throws(Problem) in try certificate(named: id, scope, connection)
                }
            )
        }
        if let made { return Made(try view(made, at: now), isNew: false) }
        do {
            let reader = ImportReader(settings: settings, issuers: issuers(for: registration.environment))
            let candidate = try reader.read(upload, for: registration.identifier, in: registration.environment)
            let taken = try await database.write { [self] connection throws(Problem) in
                let taken = try take(candidate, for: registration, under: grant, call, at: now, connection)
                try idempotency.remember(taken.value.id.text, by: grant.caller, call, at: now, in: connection)
                return taken
            }
            return Made(try view(taken.value, at: now), isNew: taken.isNew)
        } catch {
            try await recordRefusal(error, "certificate.upload", by: grant, call, at: now, merchant: registration.merchant, registration: registration.id)
            throw error
        }
    }

    /// Into the store: the key decides whether a request is completed, a record kept, or a new one made.
    private func take(
        _ candidate: ImportCandidate, for registration: Registration, under grant: Grant<ManageCertificates>, _ call: Call, at now: Timestamp,
        _ connection: any WriteConnection
    ) throws(Problem) -> Made<CertificateRecord> {
        let hash = candidate.certificate.publicKeyHash
        let held = try keyStore.held(hash, in: scope(grant), connection).first { $0.registration.id == registration.id }?.record
        // A destroyed key's hash counts as not held, and its row is never written over.
        if let held, held.status != .destroyed {
            return Made(try attach(candidate, to: held, registration, under: grant, call, at: now, connection), isNew: false)
        }
        guard let key = candidate.key else {
            throw Problem(ImportProblem.noPendingRequest, context: [("public_key_hash", .text(hash.base64))])
        }
        if held != nil { throw Problem(KeyStoreProblem.stateConflict, context: [("status", .text(CertificateStatus.destroyed.rawValue))]) }
        let other = TenantScope(environment: registration.environment == .sandbox ? .production : .sandbox, merchants: [registration.merchant])
        guard try keyStore.held(hash, in: other, connection).allSatisfy({ $0.record.status == .destroyed }) else {
            throw Problem(ImportProblem.alreadyHeld, context: [("public_key_hash", .text(hash.base64))])
        }
        let record = CertificateRecord(
            id: .random(), registration: registration, displayName: registration.displayName, status: .staged, source: .pkcs12,
            keyAlgorithm: candidate.certificate.keyAlgorithm, publicKeyHash: hash, certificate: candidate.certificate.certificate.der,
            certificateSigningRequest: nil, issuerPinned: candidate.issuerPinned, warnings: candidate.warnings, replaces: nil, createdAt: now)
        try keyStore.insert(record, key: key, in: connection)
        try audit.append(uploaded(record, by: grant, call, at: now), in: connection)
        return Made(record, isNew: true)
    }

    /// Completes a request, or replaces the certificate shown of a key that is held.
    private func attach(
        _ candidate: ImportCandidate, to held: CertificateRecord, _ registration: Registration, under grant: Grant<ManageCertificates>, _ call: Call,
        at now: Timestamp, _ connection: any WriteConnection
    ) throws(Problem) -> CertificateRecord {
        var warnings = candidate.warnings
        let der = candidate.certificate.certificate.der
        if held.certificateDigest == SHA256.digest(der), held.status.opensTokens {
            // The same file again.
            return try keyStore.certificate(held.id, in: scope(grant), connection)
        }
        let proves = held.source == .certificateSigningRequest && candidate.issuerPinned && candidate.certificate.certificate.notAfter > now
        if proves {
            // Read again: its policies may have been changed while the file was read.
            guard var proven = try keyStore.registrations.find(registration.id, in: scope(grant), connection) else {
                throw Problem(KeyStoreProblem.registrationUnknown)
            }
            if try keyStore.registrations.provenElsewhere(than: proven, at: now, connection) {
                warnings.append(CertificateWarnings.provenElsewhere)
            } else {
                proven.provenUntil = max(proven.provenUntil ?? now, candidate.certificate.certificate.notAfter)
                proven.updatedAt = now
                try keyStore.registrations.update(proven, in: connection)
            }
        }
        let record = try keyStore.attach(
            certificate: der, issuerPinned: candidate.issuerPinned, warnings: warnings, to: held.id, at: now, in: connection)
        try audit.append(uploaded(record, by: grant, call, at: now), in: connection)
        return record
    }

    private func uploaded(
        _ record: CertificateRecord, by grant: Grant<ManageCertificates>, _ call: Call, at now: Timestamp
    ) -> AuditDraft {
        .action(
            "certificate.upload", by: grant, call, at: now, merchant: record.merchant, registration: record.registration, certificate: record.id,
            details: [
                "source": .text(record.source.rawValue), "public_key_hash": .text(record.publicKeyHash.base64),
                "certificate_sha256": .text(record.certificateDigest?.hex ?? ""), "warnings": .text(record.warnings.joined(separator: " ")),
            ])
    }
}
