public import ApplePay
public import Encodings
import Secrets

/// What is known of an API credential; never its secret.
public struct Credential: Sendable {
    public let id: CredentialID
    /// The public half: `ck_` and 32 hex digits. The same after a rotation.
    public let apiKey: String
    public let role: Role
    public let name: String
    public let environment: Environment
    /// nil: every merchant's registrations in the environment.
    public let merchants: [MerchantID]?
    /// SHA-256 of the SubjectPublicKeyInfo of the TLS client certificate that must come with it.
    public let clientCertificateSPKI: Digest256?
    public let createdAt: Timestamp
    public let expiresAt: Timestamp
    public internal(set) var revokedAt: Timestamp?
    /// When the secret before the last rotation ends.
    public internal(set) var formerSecretEndsAt: Timestamp?

    public init(
        id: CredentialID, apiKey: String, role: Role, name: String, environment: Environment, merchants: [MerchantID]?, clientCertificateSPKI: Digest256?,
        createdAt: Timestamp, expiresAt: Timestamp
    ) {
        self.id = id
        self.apiKey = apiKey
        self.role = role
        self.name = name
        self.environment = environment
        self.merchants = merchants
        self.clientCertificateSPKI = clientCertificateSPKI
        self.createdAt = createdAt
        self.expiresAt = expiresAt
    }
}

/// A credential as the caller sends it: `api_key` + `.` + `api_secret`.
public struct PresentedCredential: Sendable {
    public let apiKey: String
    let secret: SecretBytes

    /// Both halves' forms are checked; nil for anything else.
    public init?(apiKey: String, apiSecret: String) { self.init(Array(apiKey.utf8)[...], Array(apiSecret.utf8)[...]) }

    /// From the one text that a Bearer header carries.
    public init?(bearer text: String) {
        let bytes = Array(text.utf8)
        guard let dot = bytes.firstIndex(of: UInt8(ascii: ".")) else { return nil }
        self.init(bytes[..<dot], bytes[(dot + 1)...])
    }

    private init?(_ key: ArraySlice<UInt8>, _ secret: ArraySlice<UInt8>) {
        guard key.count == 35, key.starts(with: "ck_".utf8), secret.count == 46, secret.starts(with: "cs_".utf8) else { return nil }
        self.apiKey = String(decoding: key, as: UTF8.self)
        self.secret = SecretBytes(copying: secret)
    }
}
