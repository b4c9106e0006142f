public import Accounts
public import ApplePay
public import AuditTrail
import Cryptography
import Database
public import Encodings
public import KeyStore
public import Problems

/// What a payment service asks for.
public struct DecryptionOrder: Sendable {
    /// The `token` member, in any dress.
    public let token: JSONValue
    /// The literal identifier or the `mid_` id; nil: the hash decides.
    public let merchantIdentifier: String?
    public let expected: Expectation?
    /// The caller's own text, at most 128 characters; it goes into the audit trail.
    public let reference: String?

    public init(token: JSONValue, merchantIdentifier: String?, expected: Expectation?, reference: String?) {
        self.token = token
        self.merchantIdentifier = merchantIdentifier
        self.expected = expected
        self.reference = reference
    }
}

/// An opened payment token. Its content lives in ``paymentData`` until the answer is sent.
public struct Decryption: Sendable {
    public let id: DecryptionID
    public let registration: RegistrationID
    public let merchantIdentifier: MerchantIdentifier
    public let environment: Environment
    public let certificate: CertificateID
    public let certificateStatus: CertificateStatus
    public let token: PaymentToken
    public let signedAt: Timestamp
    public let decryptedAt: Timestamp
    public let replayed: Bool
    public let warnings: [Warning]
    public let paymentData: PaymentData
}

/// Opens a payment token. The order of the steps is `design.md` §5; each hands the next a different type.
extension Operations {
    /// - Throws: `merchant_identifier.*`, `payment_token.*`, `signature.*`, `custody.*`, `database.*`. One audit entry, whatever the outcome, is durable
    ///   before this returns or throws; only where the database itself fails is there none, and nothing is released.
    public func decrypt(_ order: DecryptionOrder, under grant: Grant<DecryptTokens>, _ call: Call) async throws(Problem) -> Decryption {
        let now = clock()
        var trace = Trace()
        do {
            return try await decrypt(order, under: grant, call, at: now, &trace)
        } catch {
            if trace.isRecorded { throw error }
            throw try await record(error, order, trace, under: grant, call, at: now)
        }
    }

    /// What is known so far, for the audit entry of a refusal.
    private struct Trace: Sendable {
        var registration: Registration?
        var record: CertificateRecord?
        var token: PaymentToken?
        /// Whether the entry of this call stands already.
        var isRecorded = false
    }

    private func decrypt(
        _ order: DecryptionOrder, under grant: Grant<DecryptTokens>, _ call: Call, at now: Timestamp, _ trace: inout Trace
    ) async throws(Problem) -> Decryption {
        let (token, held) = try find(order, under: grant, call, at: now, &trace)
        let registration = held.registration
        let rule: TokenEnvironmentRule = registration.environment == .production ? .production(strictSigner: settings.strictSigner) : .sandbox
        let verified = try verifier(for: registration.environment).verify(
            token, at: now, maximumAgeSeconds: registration.maximumTokenAgeSeconds, rule: rule)
        let key = try keyStore.open(held.record, in: database)
        let paymentData = try verified.decrypt(with: key, merchantIdentifier: registration.identifier)
        if let expected = order.expected { try paymentData.check(expected) }

        let use = Use(order: order, call: call, caller: grant.caller, token: token, record: held.record, registration: registration, at: now)
        let settled = try await database.write { [self] connection throws(Problem) in try settle(use, in: connection) }
        if let refusal = settled.refusal {
            trace.isRecorded = true
            throw refusal
        }
        var warnings = verified.warnings + paymentData.warnings
        if settled.isReplay, registration.replayPolicy == .observe {
            warnings.append(Warning(code: "replayed", detail: "A token with this transaction id was opened before."))
        }
        return Decryption(
            id: settled.id, registration: registration.id, merchantIdentifier: registration.identifier, environment: registration.environment,
            certificate: held.record.id, certificateStatus: held.record.status == .staged ? .active : held.record.status, token: token,
            signedAt: verified.signedAt, decryptedAt: now, replayed: settled.isReplay, warnings: warnings, paymentData: paymentData)
    }

    // MARK: The key, by hash

    private func find(
        _ order: DecryptionOrder, under grant: Grant<DecryptTokens>, _ call: Call, at now: Timestamp, _ trace: inout Trace
    ) throws(Problem) -> (token: PaymentToken, held: (record: CertificateRecord, registration: Registration)) {
        let scope = scope(grant)
        var found = trace
        defer { trace = found }
        return try database.read { connection throws(Problem) in
            // A repeat decrypts again; a key that came with another request is refused.
            _ = try idempotency.made(by: grant.caller, call, at: now, in: connection)
            if let reference = order.merchantIdentifier {
                found.registration = try keyStore.registrations.resolve(reference, in: scope, connection)
            }
            let token = try PaymentToken(parsing: order.token)
            found.token = token
            let held = try keyStore.held(token.publicKeyHash, in: scope, connection)
            let chosen = try choose(among: held, for: token, named: found.registration, connection)
            found.registration = chosen.registration
            found.record = chosen.record
            guard chosen.record.keyAlgorithm == token.version.keyAlgorithm else {
                throw .paymentToken(
                    .algorithmMismatch,
                    context: [
                        ("version", .text(token.version.name)), ("key_algorithm", .text(chosen.record.keyAlgorithm.rawValue)),
                        ("public_key_hash", .text(token.publicKeyHash.base64)),
                    ])
            }
            return (token, chosen)
        }
    }

    private func choose(
        among held: [(record: CertificateRecord, registration: Registration)], for token: PaymentToken, named: Registration?,
        _ connection: any ReadConnection
    ) throws(Problem) -> (record: CertificateRecord, registration: Registration) {
        let opening = held.filter { $0.record.status.opensTokens }
        guard let named else {
            if opening.count > 1 {
                throw Problem(
                    KeyStoreProblem.ambiguous, context: [("registrations", .list(opening.map { .text($0.registration.id.text) }))])
            }
            if let only = opening.first { return only }
            throw keyUnknown(token, there: held.first?.record, own: [])
        }
        if let mine = opening.first(where: { $0.registration.id == named.id }) { return mine }
        if let other = opening.first {
            throw .paymentToken(
                .merchantIdentifierMismatch,
                context: [
                    ("merchant_identifier", .text(named.identifier.text)), ("public_key_hash", .text(token.publicKeyHash.base64)),
                    ("held_for", .text(other.registration.identifier.text)),
                ])
        }
        let own = try keyStore.certificates(of: named.id, connection)
        let usable = own.filter { $0.status.opensTokens }
        let there = held.first { $0.registration.id == named.id }?.record
        if there == nil, !usable.isEmpty, usable.allSatisfy({ $0.keyAlgorithm != token.version.keyAlgorithm }) {
            throw .paymentToken(
                .algorithmMismatch,
                context: [
                    ("version", .text(token.version.name)), ("held", .list(usable.map(held(_:)))),
                    ("public_key_hash", .text(token.publicKeyHash.base64)),
                ])
        }
        throw keyUnknown(token, there: there, own: own)
    }

    /// - Parameters:
    ///   - there: the record with this very hash, in a state that opens nothing.
    ///   - own: all records of the registration named.
    private func keyUnknown(_ token: PaymentToken, there: CertificateRecord?, own: [CertificateRecord]) -> Problem {
        let hash = token.publicKeyHash.base64
        var context: [(name: String, value: ContextValue)] = [("public_key_hash", .text(hash)), ("version", .text(token.version.name))]
        if !own.isEmpty { context.append(("held", .list(own.suffix(20).map(held(_:))))) }
        switch there?.status {
        case .awaitingCertificate:
            return .paymentToken(
                .keyUnknown, cause: "The key of this token was made here, but its certificate has not been uploaded.",
                fix: "Upload the certificate that Apple issued for this request.", context: [("status", "awaiting_certificate")] + context)
        case .cancelled:
            return .paymentToken(
                .keyUnknown, cause: "The key of this token belongs to a request that was cancelled here.",
                fix: "Upload the certificate that Apple issued for it, or activate another certificate at Apple.", context: [("status", "cancelled")] + context)
        case .destroyed:
            return .paymentToken(
                .keyUnknown, cause: "The key of this token was destroyed here.",
                fix: "Activate at Apple a certificate whose key is held here; tokens to the destroyed key can't be opened any more.",
                context: [("status", "destroyed")] + context)
        default: return .paymentToken(.keyUnknown, context: context)
        }
    }

    private func held(_ record: CertificateRecord) -> ContextValue {
        .record([
            "public_key_hash": .text(record.publicKeyHash.base64), "status": .text(record.status.rawValue),
            "key_algorithm": .text(record.keyAlgorithm.rawValue), "certificate": .text(record.id.text),
        ])
    }

    // MARK: Replay mark, use and audit entry: one transaction

    private struct Use: Sendable {
        let order: DecryptionOrder
        let call: Call
        let caller: CredentialID
        let token: PaymentToken
        let record: CertificateRecord
        let registration: Registration
        let at: Timestamp
    }

    private struct Settled: Sendable {
        let id: DecryptionID
        let isReplay: Bool
        let refusal: Problem?
    }

    private func settle(_ use: Use, in connection: any WriteConnection) throws(Problem) -> Settled {
        let now = use.at
        let keyDigest = use.call.idempotencyKey.map { Idempotency.digest($0) }
        let isKeyKnown = try idempotency.made(by: use.caller, use.call, at: now, in: connection) != nil
        let earlier: ReplayMarks.Mark? = try keyStore.replayMarks.mark(
            registration: use.registration.id, transactionId: use.token.transactionId, caller: use.caller.text,
            signedContentDigest: use.token.signedContentDigest, idempotencyKeyDigest: keyDigest, at: now,
            expiresAt: use.registration.maximumTokenAgeSeconds.map { now.adding(seconds: Int64($0) + 86_400) }, in: connection)
        let refusal: Problem? = if let earlier { self.refusal(of: use, after: earlier, keyDigest: keyDigest) } else { nil }
        var draft = AuditDraft(
            action: "decryption", actor: .credential(use.caller), at: now, outcome: refusal?.code ?? AuditDraft.success,
            environment: use.registration.environment.rawValue, merchant: use.registration.merchant, registration: use.registration.id,
            certificate: use.record.id, requestID: use.call.requestID, publicKeyHash: use.token.publicKeyHash,
            transactionDigest: SHA256.digest(use.token.transactionId), reference: use.order.reference, replayed: earlier != nil)
        if let earlier, earlier.signedContentDigest != use.token.signedContentDigest { draft.details["other_signed_content"] = true }
        // A use is a token that passed signature, age and GCM, whatever came after.
        if try keyStore.noteUse(of: use.record, at: now, in: connection) { draft.details["first_use"] = true }
        let entry = try audit.append(draft, in: connection)
        if refusal == nil, !isKeyKnown { try idempotency.remember(entry.decryptionID.text, by: use.caller, use.call, at: now, in: connection) }
        return Settled(id: entry.decryptionID, isReplay: earlier != nil, refusal: refusal?.with("decryption", .text(entry.decryptionID.text)))
    }

    /// What the registration's policy says of a transaction id that was opened before.
    private func refusal(of use: Use, after earlier: ReplayMarks.Mark, keyDigest: Digest256?) -> Problem? {
        let policy = use.registration.replayPolicy
        if policy == .observe { return nil }
        let context: [(name: String, value: ContextValue)] = [
            ("transaction_id", .text(Hex.encode(use.token.transactionId))), ("first_opened_at", .text(earlier.firstOpenedAt.rfc3339)),
            ("replay_policy", .text(policy.rawValue)),
        ]
        guard earlier.signedContentDigest == use.token.signedContentDigest else {
            return .paymentToken(
                .replayed, cause: "A different token with the same transaction id was opened before.",
                fix: "Refuse this payment and have the origin of both tokens looked at; a genuine token's transaction id comes once.", context: context)
        }
        let isSameCaller = earlier.caller == use.caller.text
        switch policy {
        case .sameCaller where isSameCaller: return nil
        case .reject where isSameCaller && keyDigest != nil && earlier.idempotencyKeyDigest == keyDigest: return nil
        default: return .paymentToken(.replayed, context: context)
        }
    }

    /// Writes the entry of a refusal.
    /// - Returns: the problem, with the id under which the entry is found.
    private func record(
        _ problem: Problem, _ order: DecryptionOrder, _ trace: Trace, under grant: Grant<DecryptTokens>, _ call: Call, at now: Timestamp
    ) async throws(Problem) -> Problem {
        guard problem.status != 503 else { return problem }
        let isUnknownHash = problem == .paymentToken(.keyUnknown)
        // Once the tag has verified, the key was used, whatever its token said.
        let isUse = problem == .paymentToken(.contentUnexpected) || problem == .paymentToken(.expectationFailed)
        let draft = AuditDraft(
            action: "decryption", actor: .credential(grant.caller), at: now, outcome: problem.code, environment: grant.environment.rawValue,
            merchant: trace.registration?.merchant, registration: trace.registration?.id, certificate: trace.record?.id, requestID: call.requestID,
            publicKeyHash: trace.token?.publicKeyHash, transactionDigest: trace.token.map { SHA256.digest($0.transactionId) }, reference: order.reference)
        let entry = try await database.write { [audit, keyStore] connection throws(Problem) in
            if isUnknownHash, let registration = trace.registration, let token = trace.token {
                try keyStore.registrations.noteUnknownHash(token.publicKeyHash, for: registration.id, at: now, in: connection)
            }
            var draft = draft
            if isUse, let record = trace.record, try keyStore.noteUse(of: record, at: now, in: connection) { draft.details["first_use"] = true }
            return try audit.append(draft, in: connection)
        }
        return problem.with("decryption", .text(entry.decryptionID.text))
    }

    // MARK: The record of a decryption

    /// Who, when, which key, outcome: the audit entry, never content.
    /// - Throws: `decryption.unknown`, for those the caller may not see too.
    public func decryption(_ id: DecryptionID, under grant: Grant<ReadDecryptions>) throws(Problem) -> AuditEntry {
        let entry = try database.read { connection throws(Problem) in try audit.entry(id: AuditID(bits: id.bits), in: connection) }
        guard let entry, entry.content.action == "decryption", entry.content.environment == grant.environment.rawValue else {
            throw .operation(.decryptionUnknown)
        }
        let isVisible: Bool =
            switch grant.principal.role {
            case .paymentService: entry.content.actor == .credential(grant.caller)
            case .operator, .auditor, .merchant:
                if let merchant = entry.content.merchant { grant.covers(merchant) } else { grant.merchants == nil }
            }
        guard isVisible else { throw .operation(.decryptionUnknown) }
        return entry
    }
}
