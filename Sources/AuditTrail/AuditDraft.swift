public import Encodings

/// Who did it.
public struct AuditActor: Sendable, Hashable {
    public enum Kind: String, Sendable, CaseIterable {
        /// An API credential.
        case credential
        /// Someone at the shell of the server; the id is the operating system's user name.
        case command
        /// The service by itself: an expiry, a scheduled destruction.
        case system
        /// Nobody who was authenticated.
        case anonymous
    }

    public let kind: Kind
    public let id: String

    public init(kind: Kind, id: String) {
        self.kind = kind
        self.id = id
    }

    public static func credential(_ id: CredentialID) -> AuditActor { AuditActor(kind: .credential, id: id.text) }
    public static func command(user: String) -> AuditActor { AuditActor(kind: .command, id: user) }
    public static let system = AuditActor(kind: .system, id: "coster")
    public static let anonymous = AuditActor(kind: .anonymous, id: "")
}

/// What is to be entered: who did what to which key, and with what outcome.
///
/// No field ever holds a secret or account data: no credential, passphrase, key byte, card number or cryptogram, nor a token or a part of one.
/// What stands here is kept for years, shown to auditors and to the merchant, and can't be taken back.
public struct AuditDraft: Sendable {
    /// `area.verb`, or `decryption`: `certificate.upload`.
    public var action: String
    public var actor: AuditActor
    public var at: Timestamp
    /// `success`, or the code of the problem that was answered.
    public var outcome: String
    public var environment: String?
    public var merchant: MerchantID?
    public var registration: RegistrationID?
    public var certificate: CertificateID?
    public var requestID: String?
    /// Which key: SHA-256 of its SubjectPublicKeyInfo.
    public var publicKeyHash: Digest256?
    /// SHA-256 of Apple's transaction id: enough to find a payment by its id, and nothing to read one from.
    public var transactionDigest: Digest256?
    /// The caller's own text.
    public var reference: String?
    /// Whether the same use had been answered before.
    public var replayed: Bool
    public var details: AuditDetails

    public init(
        action: String, actor: AuditActor, at: Timestamp, outcome: String = AuditDraft.success, environment: String? = nil, merchant: MerchantID? = nil,
        registration: RegistrationID? = nil, certificate: CertificateID? = nil, requestID: String? = nil, publicKeyHash: Digest256? = nil,
        transactionDigest: Digest256? = nil, reference: String? = nil, replayed: Bool = false, details: AuditDetails = [:]
    ) {
        self.action = action
        self.actor = actor
        self.at = at
        self.outcome = outcome
        self.environment = environment
        self.merchant = merchant
        self.registration = registration
        self.certificate = certificate
        self.requestID = requestID
        self.publicKeyHash = publicKeyHash
        self.transactionDigest = transactionDigest
        self.reference = reference
        self.replayed = replayed
        self.details = details
    }

    /// The outcome of what went well.
    public static let success = "success"
}
