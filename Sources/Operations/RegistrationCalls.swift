public import Accounts
public import ApplePay
import AuditTrail
public import Encodings
import Database
public import KeyStore
public import Problems

/// What only staff may set about a registration.
public struct TokenPolicies: Sendable {
    public var replayPolicy: ReplayPolicy?
    /// Outer nil: not given. Inner nil: no limit (sandbox only).
    public var maximumTokenAgeSeconds: Int??

    public init(replayPolicy: ReplayPolicy? = nil, maximumTokenAgeSeconds: Int?? = nil) {
        self.replayPolicy = replayPolicy
        self.maximumTokenAgeSeconds = maximumTokenAgeSeconds
    }

    var isEmpty: Bool { replayPolicy == nil && maximumTokenAgeSeconds == nil }
}

/// What a registration is made from.
public struct RegistrationDraft: Sendable {
    public var identifier: String
    public var merchant: MerchantID
    public var environment: Environment
    public var displayName: String?
    public var policies: TokenPolicies

    public init(identifier: String, merchant: MerchantID, environment: Environment, displayName: String?, policies: TokenPolicies) {
        self.identifier = identifier
        self.merchant = merchant
        self.environment = environment
        self.displayName = displayName
        self.policies = policies
    }
}

/// A registration as it is shown.
public struct RegistrationView: Sendable {
    public let registration: Registration
    /// `unproven`.
    public let flags: [String]
    public let unknownPublicKeyHashes: [UnknownPublicKeyHash]
    public let warnings: [Warning]
}

/// Apple merchant identifiers: registering and reading.
extension Operations {
    /// - Throws: `merchant.unknown`, `credential.environment_mismatch`, `credential.permission_missing` (policies), `merchant_identifier.*`.
    public func createRegistration(
        _ draft: RegistrationDraft, under grant: Grant<ManageRegistrations>, _ call: Call
    ) async throws(Problem) -> Made<RegistrationView> {
        let now = clock()
        try grant.require(draft.environment)
        if !draft.policies.isEmpty { _ = try grant.principal.grant(SetTokenPolicies.self) }
        let (identifier, trimmed) = try MerchantIdentifier.reading(draft.identifier)
        let warnings: [Warning] =
            trimmed ? [Warning(code: "identifier_trimmed", detail: "Blanks around the merchant identifier were removed.")] : []
        var registration = Registration(
            id: .random(), merchant: draft.merchant, environment: draft.environment, identifier: identifier,
            displayName: try DisplayText.checked(draft.displayName ?? identifier.text, member: "display_name", maximum: 255),
            replayPolicy: .sameCaller, maximumTokenAgeSeconds: Registration.defaultMaximumTokenAgeSeconds, provenUntil: nil, createdAt: now, updatedAt: now)
        try apply(draft.policies, to: &registration)
        let made = registration
        return try await self.made(by: grant, call, at: now) { [merchants, keyStore, audit] connection throws(Problem) in
            _ = try merchants.find(made.merchant, among: grant.merchants, connection)
            try keyStore.registrations.insert(made, in: connection)
            try audit.append(
                .action("merchant_identifier.create", by: grant, call, at: now, merchant: made.merchant, registration: made.id), in: connection)
            return (RegistrationView(registration: made, flags: ["unproven"], unknownPublicKeyHashes: [], warnings: warnings), made.id.text)
        } again: { [self] id, connection throws(Problem) in
            let found = try keyStore.registrations.resolve(id, in: scope(grant), connection)
            return try view(found, warnings: warnings, at: now, connection)
        }
    }

    public func registration(_ reference: String, under grant: Grant<ReadRegistrations>) throws(Problem) -> RegistrationView {
        try database.read { connection throws(Problem) in
            try view(try keyStore.registrations.resolve(reference, in: scope(grant), connection), at: clock(), connection)
        }
    }

    public func registrations(
        merchant: MerchantID?, after: RegistrationID?, limit: Int, under grant: Grant<ReadRegistrations>
    ) throws(Problem) -> Page<RegistrationView> {
        try database.read { connection throws(Problem) in
            let found = try keyStore.registrations.list(in: scope(grant), merchant: merchant, after: after, limit: limit + 1, connection)
            return try Page(found, limit: limit, id: \.id.text).map { registration throws(Problem) in try view(registration, at: clock(), connection) }
        }
    }

    public func changeRegistration(
        _ reference: String, displayName: String?, policies: TokenPolicies, under grant: Grant<ManageRegistrations>, _ call: Call
    ) async throws(Problem) -> RegistrationView {
        let now = clock()
        if !policies.isEmpty { _ = try grant.principal.grant(SetTokenPolicies.self) }
        let name: String? = if let displayName { try DisplayText.checked(displayName, member: "display_name", maximum: 255) } else { nil }
        return try await database.write { [self] connection throws(Problem) in
            var registration = try keyStore.registrations.resolve(reference, in: scope(grant), connection)
            if let name { registration.displayName = name }
            try apply(policies, to: &registration)
            registration.updatedAt = now
            try keyStore.registrations.update(registration, in: connection)
            try audit.append(
                .action(
                    "merchant_identifier.change", by: grant, call, at: now, merchant: registration.merchant, registration: registration.id,
                    details: [
                        "replay_policy": .text(registration.replayPolicy.rawValue),
                        "max_token_age_seconds": .text(registration.maximumTokenAgeSeconds.map(String.init) ?? "null"),
                    ]), in: connection)
            return try view(registration, at: now, connection)
        }
    }

    private func apply(_ policies: TokenPolicies, to registration: inout Registration) throws(Problem) {
        if let policy = policies.replayPolicy { registration.replayPolicy = policy }
        guard let age = policies.maximumTokenAgeSeconds else { return }
        guard let age else {
            guard registration.environment == .sandbox else {
                throw .operation(.valueOutOfRange, context: [("member", "max_token_age_seconds"), ("allowed", "1 to 86400; null in the sandbox only")])
            }
            registration.maximumTokenAgeSeconds = nil
            return
        }
        guard (1...86_400).contains(age) else {
            throw .operation(
                .valueOutOfRange, context: [("member", "max_token_age_seconds"), ("allowed", "1 to 86400; null in the sandbox only"), ("given", .number(age))])
        }
        registration.maximumTokenAgeSeconds = age
    }

    private func view(
        _ registration: Registration, warnings: [Warning] = [], at now: Timestamp, _ connection: any ReadConnection
    ) throws(Problem) -> RegistrationView {
        RegistrationView(
            registration: registration, flags: registration.isProven(at: now) ? [] : ["unproven"],
            unknownPublicKeyHashes: try keyStore.registrations.unknownHashes(of: registration.id, connection), warnings: warnings)
    }
}

extension Registration {
    func isProven(at now: Timestamp) -> Bool { provenUntil.map { $0 > now } ?? false }
}
