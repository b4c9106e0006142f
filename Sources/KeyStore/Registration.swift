public import ApplePay
public import Encodings

/// What happens when a token is opened a second time (`design.md` §5).
public enum ReplayPolicy: String, Sendable, CaseIterable {
    /// The caller that opened it first may ask again; anyone else is refused.
    case sameCaller = "same_caller"
    case reject
    /// Never refused, always told.
    case observe
}

/// One (merchant, environment, Apple merchant identifier).
public struct Registration: Sendable {
    public let id: RegistrationID
    public let merchant: MerchantID
    public let environment: Environment
    public let identifier: MerchantIdentifier
    public var displayName: String
    public var replayPolicy: ReplayPolicy
    /// 1…86,400, or nil for no limit (sandbox only).
    public var maximumTokenAgeSeconds: Int?
    /// Whether an Apple certificate issued for a key pair made here has shown who controls the identifier, and until when.
    public var provenUntil: Timestamp?
    public let createdAt: Timestamp
    public var updatedAt: Timestamp

    public static let defaultMaximumTokenAgeSeconds = 300

    public init(
        id: RegistrationID, merchant: MerchantID, environment: Environment, identifier: MerchantIdentifier, displayName: String, replayPolicy: ReplayPolicy,
        maximumTokenAgeSeconds: Int?, provenUntil: Timestamp?, createdAt: Timestamp, updatedAt: Timestamp
    ) {
        self.id = id
        self.merchant = merchant
        self.environment = environment
        self.identifier = identifier
        self.displayName = displayName
        self.replayPolicy = replayPolicy
        self.maximumTokenAgeSeconds = maximumTokenAgeSeconds
        self.provenUntil = provenUntil
        self.createdAt = createdAt
        self.updatedAt = updatedAt
    }
}

/// A `publicKeyHash` that came in tokens for a registration and that no key held answers to. Counted apart: the field is unsigned, anyone can write one.
public struct UnknownPublicKeyHash: Sendable {
    public let publicKeyHash: Digest256
    public let count: Int
    public let firstSeenAt: Timestamp
    public let lastSeenAt: Timestamp
}
