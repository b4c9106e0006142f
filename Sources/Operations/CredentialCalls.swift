public import Accounts
public import ApplePay
public import AuditTrail
import Database
public import Encodings
public import Problems

/// What a credential is made from.
public struct CredentialDraft: Sendable {
    public var role: Role
    public var name: String
    /// nil: every merchant's registrations in the environment.
    public var merchants: [MerchantID]?
    /// nil: the maker's own.
    public var environment: Environment?
    /// nil: a year from now.
    public var expiresAt: Timestamp?
    public var clientCertificateSPKI: Digest256?

    public init(
        role: Role, name: String, merchants: [MerchantID]? = nil, environment: Environment? = nil, expiresAt: Timestamp? = nil,
        clientCertificateSPKI: Digest256? = nil
    ) {
        self.role = role
        self.name = name
        self.merchants = merchants
        self.environment = environment
        self.expiresAt = expiresAt
        self.clientCertificateSPKI = clientCertificateSPKI
    }
}

/// A credential with its secret, which is shown once.
public struct CredentialSecret: Sendable {
    public let credential: Credential
    /// The `api_secret`; nil on an idempotent repeat.
    public let secret: String?
}

/// API credentials: making, rotating, ending.
extension Operations {
    /// - Throws: `credential.role_not_allowed`, `.merchants_invalid`, `.environment_mismatch`, `merchant.unknown`.
    public func createCredential(
        _ draft: CredentialDraft, under grant: Grant<ManageCredentials>, _ call: Call
    ) async throws(Problem) -> Made<CredentialSecret> {
        let now = clock()
        guard draft.role == .merchant || draft.role == .paymentService else {
            throw .credential(.roleNotAllowed, context: [("role", .text(draft.role.rawValue))])
        }
        try grant.require(draft.environment ?? grant.environment)
        if let own = grant.merchants {
            // Within its own merchants: all of the environment would reach beyond them.
            guard let merchants = draft.merchants, Set(merchants).isSubset(of: own) else { throw .credential(.merchantsInvalid) }
        }
        let credential = try self.credential(from: draft, environment: grant.environment, at: now)
        return try await made(by: grant, call, at: now) { [self] connection throws(Problem) in
            let secret = try insert(credential, by: .credential(grant.caller), requestID: call.requestID, at: now, in: connection)
            return (CredentialSecret(credential: credential, secret: secret), credential.id.text)
        } again: { [credentials] id, connection throws(Problem) in
            guard let id = CredentialID(id) else { throw .credential(.unknown) }
            let there = try credentials.find(id, environment: grant.environment, merchants: grant.merchants, connection)
            return CredentialSecret(credential: there, secret: nil)
        }
    }

    /// For the command line, where the operating system has said who may: any role, beside a running server.
    /// - Parameter actor: the user who runs the command.
    public func createCredential(_ draft: CredentialDraft, actor: AuditActor) throws(Problem) -> CredentialSecret {
        let now = clock()
        let credential = try self.credential(from: draft, environment: draft.environment ?? .sandbox, at: now)
        let secret = try database.writeBlocking { [self] connection throws(Problem) in
            try insert(credential, by: actor, requestID: nil, at: now, in: connection)
        }
        return CredentialSecret(credential: credential, secret: secret)
    }

    public func credential(_ id: CredentialID, under grant: Grant<ReadCredentials>) throws(Problem) -> Credential {
        try database.read { connection throws(Problem) in
            try credentials.find(id, environment: grant.environment, merchants: grant.merchants, connection)
        }
    }

    public func credentials(after: CredentialID?, limit: Int, under grant: Grant<ReadCredentials>) throws(Problem) -> Page<Credential> {
        let found = try database.read { connection throws(Problem) in
            try credentials.list(environment: grant.environment, merchants: grant.merchants, after: after, limit: limit + 1, connection)
        }
        return Page(found, limit: limit, id: \.id.text)
    }

    /// Ends a credential from the next request on.
    public func revokeCredential(_ id: CredentialID, under grant: Grant<ManageCredentials>, _ call: Call) async throws(Problem) -> Credential {
        let now = clock()
        return try await database.write { [credentials, audit] connection throws(Problem) in
            try Operations.requireManageable(try credentials.find(id, environment: grant.environment, merchants: grant.merchants, connection))
            let credential = try credentials.revoke(id, at: now, in: connection)
            try audit.append(.action("credential.revoke", by: grant, call, at: now, details: ["credential": .text(id.text)]), in: connection)
            return credential
        }
    }

    /// Gives a new secret under the same key.
    /// - Parameter overlapSeconds: how long the former secret lives on: 0…2,592,000; 0 for a leak, which ends both former ones.
    /// - Throws: `credential.unknown`, `.rotation_pending`, `.ended`, `request.value_out_of_range`.
    public func rotateCredential(
        _ id: CredentialID, overlapSeconds: Int, under grant: Grant<ManageCredentials>, _ call: Call
    ) async throws(Problem) -> Made<CredentialSecret> {
        guard (0...2_592_000).contains(overlapSeconds) else {
            throw .operation(
                .valueOutOfRange, context: [("member", "overlap_seconds"), ("allowed", "0 to 2592000"), ("given", .number(overlapSeconds))])
        }
        let now = clock()
        return try await made(by: grant, call, at: now) { [credentials, audit] connection throws(Problem) in
            try Operations.requireManageable(try credentials.find(id, environment: grant.environment, merchants: grant.merchants, connection))
            let (credential, secret) = try credentials.rotate(id, overlapSeconds: overlapSeconds, at: now, in: connection)
            try audit.append(
                .action(
                    "credential.rotate", by: grant, call, at: now, details: ["credential": .text(id.text), "overlap_seconds": .integer(overlapSeconds)]),
                in: connection)
            return (CredentialSecret(credential: credential, secret: secret), id.text)
        } again: { [credentials] _, connection throws(Problem) in
            let there = try credentials.find(id, environment: grant.environment, merchants: grant.merchants, connection)
            return CredentialSecret(credential: there, secret: nil)
        }
    }

    /// An operator has no say over credentials of staff roles: those are for the command line.
    private static func requireManageable(_ credential: Credential) throws(Problem) {
        guard credential.role == .merchant || credential.role == .paymentService else {
            throw .credential(.roleNotAllowed, context: [("role", .text(credential.role.rawValue))])
        }
    }

    private func credential(from draft: CredentialDraft, environment: Environment, at now: Timestamp) throws(Problem) -> Credential {
        if let merchants = draft.merchants {
            guard (1...1000).contains(merchants.count) else { throw .credential(.merchantsInvalid) }
        } else if draft.role == .merchant {
            throw .credential(.merchantsInvalid)
        }
        let expiry = draft.expiresAt ?? now.adding(seconds: settings.credentialSeconds)
        guard expiry > now else { throw .operation(.valueOutOfRange, context: [("member", "expires_at"), ("allowed", "a time to come")]) }
        return Credential(
            id: .random(), apiKey: try Credentials.freshAPIKey(), role: draft.role, name: try DisplayText.checked(draft.name, member: "name", maximum: 200),
            environment: environment, merchants: draft.merchants, clientCertificateSPKI: draft.clientCertificateSPKI, createdAt: now, expiresAt: expiry)
    }

    private func insert(
        _ credential: Credential, by actor: AuditActor, requestID: String?, at now: Timestamp, in connection: any WriteConnection
    ) throws(Problem) -> String {
        for merchant in credential.merchants ?? [] { _ = try merchants.find(merchant, among: nil, connection) }
        let secret = try credentials.insert(credential, in: connection)
        try audit.append(
            AuditDraft(
                action: "credential.create", actor: actor, at: now, environment: credential.environment.rawValue, requestID: requestID,
                details: ["credential": .text(credential.id.text), "role": .text(credential.role.rawValue)]), in: connection)
        return secret
    }
}
