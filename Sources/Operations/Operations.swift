public import Accounts
import ApplePay
public import AuditTrail
public import Cryptography
public import Database
public import Encodings
public import KeyStore
public import Problems

/// The use cases. Each takes the ``Grant`` that its caller must hold; each mutation and its audit entry are one transaction.
///
/// Methods that are not `async` read, and may block: they are called on a worker thread, never on an event loop.
public final class Operations: Sendable {
    let database: any Database
    let keyStore: KeyStore
    let merchants = Merchants()
    let credentials: Credentials
    let idempotency: Idempotency
    let settings: Settings
    public let audit: AuditTrail
    /// Now, in UTC. Passed in, so that nothing here depends on when it runs.
    public let clock: @Sendable () -> Timestamp
    private let verifiers: (production: SignatureVerifier, sandbox: SignatureVerifier)
    private let issuers: (production: IssuerRegister, sandbox: IssuerRegister)
    let auditVerification = OneAtATime()

    /// Every table of the house, in the order of making.
    public static let migrations =
        KeyStore.migrations + Merchants.migrations + Credentials.migrations + AuditTrail.migrations + Idempotency.migrations

    /// - Parameters:
    ///   - sandboxAuthority: the root certificate of this installation's own throw-away CA, which the sandbox trusts and production does not.
    ///   - sandboxIssuer: that CA's issuer of payment processing certificates.
    public init(
        database: any Database, keyring: Keyring, settings: Settings, sandboxAuthority: Certificate?, sandboxIssuer: Certificate? = nil,
        clock: @escaping @Sendable () -> Timestamp
    ) throws(Problem) {
        self.database = database
        self.settings = settings
        self.clock = clock
        keyStore = KeyStore(keyring: keyring, cachedKeys: settings.cachedKeys, maximumPending: settings.maximumPendingRequests)
        credentials = Credentials(rights: keyring.rights, secrets: keyring.credentials)
        audit = AuditTrail(macKey: keyring.auditTrail, idKey: keyring.auditIdentifiers)
        idempotency = Idempotency(lifetimeSeconds: settings.idempotencySeconds)
        var sandboxAnchors = settings.sandboxAnchors
        if let sandboxAuthority { sandboxAnchors.append(TrustAnchor(certificate: sandboxAuthority)) }
        // Production trusts Apple's pinned root and nothing else, whatever is set for the sandbox.
        let apple = try AppleTrustAnchors.rootCAG3.anchor()
        verifiers = (try SignatureVerifier(anchors: [apple]), try SignatureVerifier(anchors: [apple] + sandboxAnchors))
        issuers = (
            try IssuerRegister(issuers: settings.issuerCertificates),
            try IssuerRegister(issuers: settings.issuerCertificates + (sandboxIssuer.map { [$0] } ?? []), anchors: sandboxAnchors)
        )
    }

    func verifier(for environment: Environment) -> SignatureVerifier {
        switch environment {
        case .production: verifiers.production
        case .sandbox: verifiers.sandbox
        }
    }

    func issuers(for environment: Environment) -> IssuerRegister {
        switch environment {
        case .production: issuers.production
        case .sandbox: issuers.sandbox
        }
    }

    func scope<Allowed>(_ grant: Grant<Allowed>) -> TenantScope { TenantScope(environment: grant.environment, merchants: grant.merchants) }

    // MARK: Authentication

    /// - Throws: `credential.*`.
    public func authenticate(_ presented: PresentedCredential, clientCertificateSPKI: [UInt8]?) throws(Problem) -> Principal {
        try database.read { connection throws(Problem) in
            try credentials.authenticate(presented, clientCertificateSPKI: clientCertificateSPKI, at: clock(), connection)
        }
    }

    // MARK: Making things once

    /// Runs `make` in a transaction and remembers its id under the call's idempotency key; a repeat of the same call answers what `again` finds.
    func made<Value: Sendable, Allowed>(
        by grant: Grant<Allowed>, _ call: Call, at now: Timestamp,
        _ make: @escaping @Sendable (any WriteConnection) throws(Problem) -> (value: Value, id: String),
        again: @escaping @Sendable (String, any ReadConnection) throws(Problem) -> Value
    ) async throws(Problem) -> Made<Value> {
        try await database.write { [idempotency] connection throws(Problem) in
            if let id = try idempotency.made(by: grant.caller, call, at: now, in: connection) { return Made(try again(id, connection), isNew: false) }
            let (value, id) = try make(connection)
            try idempotency.remember(id, by: grant.caller, call, at: now, in: connection)
            return Made(value, isNew: true)
        }
    }
}

extension AuditDraft {
    /// What a caller did, or was refused.
    static func action<Allowed>(
        _ action: String, by grant: Grant<Allowed>, _ call: Call, at now: Timestamp, outcome: String = AuditDraft.success, merchant: MerchantID? = nil,
        registration: RegistrationID? = nil, certificate: CertificateID? = nil, details: AuditDetails = [:]
    ) -> AuditDraft {
        AuditDraft(
            action: action, actor: .credential(grant.caller), at: now, outcome: outcome, environment: grant.environment.rawValue, merchant: merchant,
            registration: registration, certificate: certificate, requestID: call.requestID, details: details)
    }
}
