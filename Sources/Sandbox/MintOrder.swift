public import ApplePay
public import Cryptography
public import Encodings

/// One payment token to be minted.
public struct MintOrder: Sendable {
    /// The SubjectPublicKeyInfo the token is encrypted to, DER: P-256 or RSA-2048.
    public var recipient: [UInt8]
    /// Goes into the key derivation of an `EC_v1` token.
    public var merchantIdentifier: MerchantIdentifier
    /// Where the caller wants to be sure: which of Apple's versions it must be. Nil: what the recipient's key asks for.
    public var algorithm: KeyAlgorithm?
    public var payload: TestPayload
    /// In the currency's minor unit.
    public var amount: Int
    /// ISO 4217, three digits.
    public var currency: String
    /// The bytes of the request's `applicationData`; their SHA-256 goes into the token.
    public var applicationData: [UInt8]?
    /// The signing time, where no defect says otherwise.
    public var now: Timestamp
    public var defects: Set<Defect>

    public init(
        recipient: [UInt8], merchantIdentifier: MerchantIdentifier, algorithm: KeyAlgorithm? = nil, payload: TestPayload = .preset(.threeDSecure),
        amount: Int = 1999, currency: String = "840", applicationData: [UInt8]? = nil, now: Timestamp, defects: Set<Defect> = []
    ) {
        self.recipient = recipient
        self.merchantIdentifier = merchantIdentifier
        self.algorithm = algorithm
        self.payload = payload
        self.amount = amount
        self.currency = currency
        self.applicationData = applicationData
        self.now = now
        self.defects = defects
    }

    /// As the other, for the key of a certificate.
    public init(
        recipient: Certificate, merchantIdentifier: MerchantIdentifier, algorithm: KeyAlgorithm? = nil, payload: TestPayload = .preset(.threeDSecure),
        amount: Int = 1999, currency: String = "840", applicationData: [UInt8]? = nil, now: Timestamp, defects: Set<Defect> = []
    ) {
        self.init(
            recipient: recipient.spki, merchantIdentifier: merchantIdentifier, algorithm: algorithm, payload: payload, amount: amount, currency: currency,
            applicationData: applicationData, now: now, defects: defects)
    }
}
