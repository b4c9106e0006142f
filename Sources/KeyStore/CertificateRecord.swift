public import ApplePay
import Cryptography
public import Encodings

/// How a key came here.
public enum KeySource: String, Sendable, CaseIterable {
    /// Made here; the certificate was issued for our request.
    case certificateSigningRequest = "certificate_signing_request"
    /// Made elsewhere and imported.
    case pkcs12
}

/// One key pair and what belongs to it. Never the private key.
public struct CertificateRecord: Sendable {
    public let id: CertificateID
    public let registration: RegistrationID
    public let merchant: MerchantID
    public let environment: Environment
    public let merchantIdentifier: MerchantIdentifier
    public var displayName: String
    public var status: CertificateStatus
    public let source: KeySource
    public let keyAlgorithm: KeyAlgorithm
    public let publicKeyHash: Digest256
    /// DER, from the upload on. Not read on the decryption path: there it is nil, and ``certificateDigest`` says whether one is held.
    public var certificate: [UInt8]? {
        didSet { certificateDigest = certificate.map { SHA256.digest($0) } }
    }
    /// SHA-256 of the certificate.
    public internal(set) var certificateDigest: Digest256?
    /// DER; nil for a key made elsewhere, and on the decryption path.
    public let certificateSigningRequest: [UInt8]?
    /// SHA-256 of the request: whoever could exchange the stored request would have Apple encrypt to a key of their own.
    var requestDigest: Digest256?
    /// Whether the certificate's issuer is a pinned Apple CA by signature.
    public var issuerPinned: Bool
    /// Codes of the warnings given when the certificate was taken, apart from those that follow from the clock.
    public var warnings: [String]
    public var replaces: CertificateID?
    public var replacedBy: CertificateID?
    public var cancelledAt: Timestamp?
    public var compromisedAt: Timestamp?
    public var compromisedReason: String?
    public let createdAt: Timestamp
    public var updatedAt: Timestamp
    public var usage: CertificateUsage?

    public init(
        id: CertificateID, registration: Registration, displayName: String, status: CertificateStatus, source: KeySource, keyAlgorithm: KeyAlgorithm,
        publicKeyHash: Digest256, certificate: [UInt8]?, certificateSigningRequest: [UInt8]?, issuerPinned: Bool, warnings: [String],
        replaces: CertificateID?, createdAt: Timestamp
    ) {
        self.id = id
        self.registration = registration.id
        self.merchant = registration.merchant
        self.environment = registration.environment
        self.merchantIdentifier = registration.identifier
        self.displayName = displayName
        self.status = status
        self.source = source
        self.keyAlgorithm = keyAlgorithm
        self.publicKeyHash = publicKeyHash
        self.certificate = certificate
        self.certificateDigest = certificate.map { SHA256.digest($0) }
        self.certificateSigningRequest = certificateSigningRequest
        self.requestDigest = certificateSigningRequest.map { SHA256.digest($0) }
        self.issuerPinned = issuerPinned
        self.warnings = warnings
        self.replaces = replaces
        self.replacedBy = nil
        self.cancelledAt = nil
        self.compromisedAt = nil
        self.compromisedReason = nil
        self.createdAt = createdAt
        self.updatedAt = createdAt
        self.usage = nil
    }
}

/// When tokens were opened with a key: tokens that passed signature, age and GCM, nothing less.
public struct CertificateUsage: Sendable, Equatable {
    public var firstUsedAt: Timestamp
    public var lastUsedAt: Timestamp
    public var count: Int
}
