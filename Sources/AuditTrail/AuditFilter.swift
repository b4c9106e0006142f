public import Encodings

/// Which entries; every member that is set must fit.
public struct AuditFilter: Sendable {
    public var merchant: MerchantID?
    public var registration: RegistrationID?
    public var certificate: CertificateID?
    /// An actor's id: `cred_…`, or a user's name.
    public var actor: String?
    public var action: String?
    public var outcome: String?
    /// The earliest time, included.
    public var from: Timestamp?
    /// The latest time, not included.
    public var to: Timestamp?

    public init(
        merchant: MerchantID? = nil, registration: RegistrationID? = nil, certificate: CertificateID? = nil, actor: String? = nil, action: String? = nil,
        outcome: String? = nil, from: Timestamp? = nil, to: Timestamp? = nil
    ) {
        self.merchant = merchant
        self.registration = registration
        self.certificate = certificate
        self.actor = actor
        self.action = action
        self.outcome = outcome
        self.from = from
        self.to = to
    }
}

public enum AuditOrder: Sendable { case oldestFirst, newestFirst }

/// Some entries, and from where to go on.
public struct AuditPage: Sendable {
    public let entries: [AuditEntry]
    /// The `after` of the next page; nil when nothing can follow. A page may hold fewer entries than asked for, even none, and still have a next one:
    /// one call looks through a bounded stretch.
    public let next: Int64?
}
