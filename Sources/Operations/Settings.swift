public import Cryptography
public import Foundation

/// What the operator can set about the use cases. Each limit prevents an accident, named with it.
public struct Settings: Sendable {
    /// How long a key must have opened nothing before it is retired or destroyed: late tokens and slow spreading at Apple.
    public var gracePeriodSeconds: Int64 = 7 * 86_400
    /// How long the key of a cancelled request is kept: its certificate may still arrive.
    public var cancelledKeySeconds: Int64 = 30 * 86_400
    /// How long a credential lives when nobody says: forgotten credentials end by themselves.
    public var credentialSeconds: Int64 = 365 * 86_400
    /// How long an idempotency key is remembered.
    public var idempotencySeconds: Int64 = 86_400
    /// Largest `.p12`, decoded: 256 KiB…1 MiB. A chain inside makes large files; more is an accident or an attack.
    public var maximumPKCS12Bytes = 1_048_576
    /// Largest certificate, decoded.
    public var maximumCertificateBytes = 65_536
    /// How many opened keys are kept in memory.
    public var cachedKeys = 4096
    /// How many open requests a registration may have.
    public var maximumPendingRequests = 20
    /// Whether production refuses Apple's sandbox signer.
    public var strictSigner = true
    /// Days before its end from which a certificate is flagged `expiring`.
    public var expiringDays = 30
    /// Roots that the sandbox trusts beside Apple's.
    public var sandboxAnchors: [TrustAnchor] = []
    /// Certificates of newer Apple issuers, given by the operator.
    public var issuerCertificates: [Certificate] = []

    /// Where the head of the audit trail is recorded, outside the database, so that a cut tail or an old copy shows.
    public var auditHeadFile: URL?

    public init() {}
}
