internal import CLibcrypto
public import Problems
public import Secrets

/// Any private key that signs certificates or a CMS.
public enum SigningKey: Sendable {
    case p256(P256.SigningKey)
    case p384(P384.SigningKey)
    case rsa(RSA.SigningKey)

    /// The public key, DER.
    public var spki: [UInt8] {
        switch self {
        case .p256(let key): key.publicKey.spki
        case .p384(let key): key.spki
        case .rsa(let key): key.spki
        }
    }

    public func pkcs8() throws(Problem) -> SecretBytes {
        switch self {
        case .p256(let key): try key.pkcs8()
        case .p384(let key): try key.pkcs8()
        case .rsa(let key): try key.pkcs8()
        }
    }

    /// DER ECDSA, or RSASSA-PKCS1-v1_5.
    public func signature(over message: [UInt8], digest: SignatureDigest) throws(Problem) -> [UInt8] {
        let key =
            switch self {
            case .p256(let key): key.pair.key
            case .p384(let key): key.key
            case .rsa(let key): key.pair.key
            }
        return try unsafe key.signature(over: message, digest: digest.method)
    }

    /// The AlgorithmIdentifier of this key's signatures, DER. RSA's has NULL parameters, ECDSA's none.
    /// - Source: RFC 5758, 3.2; RFC 8017, A.2.4.
    public func signatureAlgorithm(_ digest: SignatureDigest) -> [UInt8] {
        DERWriter.sequence {
            switch (self, digest) {
            case (.rsa, .sha256):
                $0.objectIdentifier(.sha256WithRSA)
                $0.null()
            case (.rsa, .sha1):
                $0.objectIdentifier("1.2.840.113549.1.1.5")
                $0.null()
            case (_, .sha256): $0.objectIdentifier(.ecdsaWithSHA256)
            case (_, .sha1): $0.objectIdentifier("1.2.840.10045.4.1")
            }
        }
    }
}

/// What a signer digests with. SHA-1 is here to make signatures that must be refused.
public enum SignatureDigest: Sendable {
    case sha256, sha1

    /// The AlgorithmIdentifier, DER; without parameters, as Apple's signer writes it since 2023.
    var algorithm: [UInt8] {
        DERWriter.sequence {
            switch self {
            case .sha256: $0.objectIdentifier(.sha256)
            case .sha1: $0.objectIdentifier("1.3.14.3.2.26")
            }
        }
    }

    fileprivate var method: OpaquePointer? {
        switch self {
        case .sha256: unsafe Algorithms.sha256
        case .sha1: unsafe EVP_sha1()
        }
    }

    func digest(_ bytes: [UInt8]) throws(Problem) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: UInt32 = 0
        guard unsafe EVP_Digest(bytes, bytes.count, &digest, &count, method, nil) == 1 else { throw .libraryFailure("EVP_Digest") }
        return Array(digest.prefix(Int(count)))
    }
}
