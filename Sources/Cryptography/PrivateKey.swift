public import Encodings
public import Problems
public import Secrets

/// The private key of a payment processing certificate.
public enum PrivateKey: Sendable {
    case p256(P256.AgreementKey)
    case rsa(RSA.DecryptionKey)

    /// - Throws: `cryptography.private_key_invalid` or, for other kinds of key, `.private_key_unsupported`.
    public init(pkcs8: SecretBytes) throws(Problem) {
        let isP256 = try PrivateKey.isP256(pkcs8)
        self = isP256 ? .p256(try P256.AgreementKey(pkcs8: pkcs8)) : .rsa(try RSA.DecryptionKey(pkcs8: pkcs8))
    }

    public func pkcs8() throws(Problem) -> SecretBytes {
        switch self {
        case .p256(let key): try key.pkcs8()
        case .rsa(let key): try key.pkcs8()
        }
    }

    /// DER SubjectPublicKeyInfo.
    public var spki: [UInt8] {
        switch self {
        case .p256(let key): key.publicKey.spki
        case .rsa(let key): key.spki
        }
    }

    /// Its SHA-256: Apple's `publicKeyHash`.
    public var spkiHash: Digest256 { SHA256.digest(spki) }

    /// Whether this is the private key of that SubjectPublicKeyInfo.
    public func matches(spki: [UInt8]) -> Bool { self.spki == spki }

    /// Signs a certification request with the key it asks a certificate for: the one signature these keys make.
    /// - Source: RFC 2986, 4.2.
    func proofOfPossession(over request: [UInt8]) throws(Problem) -> (algorithm: OID, signature: [UInt8]) {
        switch self {
        case .p256(let key): (.ecdsaWithSHA256, try unsafe key.pair.key.signature(over: request, digest: Algorithms.sha256))
        case .rsa(let key): (.sha256WithRSA, try unsafe key.pair.key.signature(over: request, digest: Algorithms.sha256))
        }
    }

    private static func isP256(_ pkcs8: SecretBytes) throws(Problem) -> Bool {
        var bytes = pkcs8.copyExposed()  // our DER reader walks arrays; wiped before this returns
        defer { wipe(&bytes) }
        if case .p256 = try PKCS8.read(bytes) { return true }
        return false
    }
}
