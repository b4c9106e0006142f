public import ApplePay
public import Cryptography
public import Encodings
public import Problems
public import Secrets

/// The throw-away CA that plays Apple: a root, the issuer of payment processing certificates, and the signers of payment tokens.
///
/// Shaped like Apple's (curves, markers, order of names), and named so that nobody takes it for Apple's. Whoever holds its keys can mint tokens, so only
/// sandbox registrations trust it. All its certificates end 25 years after they were made.
public final class SandboxAuthority: Sendable {
    /// P-384; the trust anchor of all that this authority makes.
    public let rootCertificate: Certificate
    /// Issues payment processing certificates, as Apple Worldwide Developer Relations CA - G2 does; marker 6.2.15.
    public let issuerCertificate: Certificate
    /// Issues the certificates of token signers, as Apple Application Integration CA - G3 does; marker 6.2.14.
    public let integrationCertificate: Certificate

    let rootKey: P384.SigningKey
    let issuerKey: P256.SigningKey
    let integrationKey: P256.SigningKey
    let ecSigner: CMSBuilder.Signer
    let rsaSigner: CMSBuilder.Signer
    let shapes: CertificateShapes

    /// A new authority with five new keys.
    /// - Parameter now: its certificates begin one day before.
    public static func generate(now: Timestamp) throws(Problem) -> SandboxAuthority {
        let rootKey = try P384.SigningKey.generate()
        let issuerKey = try P256.SigningKey.generate()
        let integrationKey = try P256.SigningKey.generate()
        let ecKey = SigningKey.p256(try P256.SigningKey.generate())
        let rsaKey = SigningKey.rsa(try RSA.SigningKey.generate(bits: 2048))
        let shapes = CertificateShapes(rootSPKI: rootKey.spki, notBefore: now.adding(seconds: -86_400))
        return SandboxAuthority(
            root: (rootKey, try shapes.root(key: rootKey)),
            issuer: (issuerKey, try shapes.issuer(spki: issuerKey.publicKey.spki, root: rootKey)),
            integration: (integrationKey, try shapes.integration(spki: integrationKey.publicKey.spki, root: rootKey)),
            ecSigner: CMSBuilder.Signer(key: ecKey, certificate: try shapes.signer(ecKey, issuer: integrationKey)),
            rsaSigner: CMSBuilder.Signer(key: rsaKey, certificate: try shapes.signer(rsaKey, issuer: integrationKey)))
    }

    private init(
        root: (key: P384.SigningKey, certificate: Certificate), issuer: (key: P256.SigningKey, certificate: Certificate),
        integration: (key: P256.SigningKey, certificate: Certificate), ecSigner: CMSBuilder.Signer, rsaSigner: CMSBuilder.Signer
    ) {
        (rootKey, rootCertificate) = root
        (issuerKey, issuerCertificate) = issuer
        (integrationKey, integrationCertificate) = integration
        self.ecSigner = ecSigner
        self.rsaSigner = rsaSigner
        shapes = CertificateShapes(rootSPKI: root.key.spki, notBefore: root.certificate.notBefore)
    }

    /// A payment processing certificate for the key of a PKCS#10 request, as Apple's portal would make it; the request's subject is not looked at.
    /// - Parameters:
    ///   - bytes: the request, DER or PEM.
    ///   - now: the certificate begins here and ends 760 days less one second later.
    /// - Throws: `certificate.request_malformed`, `certificate.request_signature_invalid`, `sandbox.request_key_unsupported`.
    public func issue(forRequest bytes: [UInt8], merchantIdentifier: MerchantIdentifier, now: Timestamp) throws(Problem) -> Certificate {
        let request = try CertificationRequest(parsing: bytes)
        try request.requireProofOfPossession()
        let certificate = try shapes.processing(
            merchantIdentifier, spki: request.spki, issuer: (issuerKey, issuerCertificate), notBefore: now)
        switch certificate.keyKind {
        case .p256, .rsa(bits: 2048): return certificate
        default: throw .sandbox(.requestKeyUnsupported)
        }
    }
}

// The sealed form.
extension SandboxAuthority {
    private static let formatVersion = 1

    /// All keys and certificates in one blob, for the caller to seal.
    ///
    /// Shape: DER `SEQUENCE { INTEGER 1, 5 × SEQUENCE { OCTET STRING PKCS#8, OCTET STRING certificate } }`; the five are root, issuer, integration, EC
    /// signer, RSA signer.
    public func exported() throws(Problem) -> SecretBytes {
        let pairs: [(key: SecretBytes, certificate: Certificate)] = [
            (try rootKey.pkcs8(), rootCertificate), (try issuerKey.pkcs8(), issuerCertificate), (try integrationKey.pkcs8(), integrationCertificate),
            (try ecSigner.key.pkcs8(), ecSigner.certificate), (try rsaSigner.key.pkcs8(), rsaSigner.certificate),
        ]
        var blob = DERWriter.sequence {
            $0.integer(SandboxAuthority.formatVersion)
            for pair in pairs {
                $0.sequence {
                    // Exposed: spliced into the blob; the copies end here and are overwritten when freed.
                    $0.octetString(pair.key.copyExposed())
                    $0.octetString(pair.certificate.der)
                }
            }
        }
        return SecretBytes(consuming: &blob)
    }

    /// The authority that ``exported()`` wrote.
    /// - Throws: `sandbox.authority_unreadable` for anything else, also where a key isn't that of its certificate.
    public convenience init(_ secret: SecretBytes) throws(Problem) {
        let parts: ExportedParts
        do {
            // Exposed: the reader works on plain bytes; the copy ends here and is overwritten when freed.
            parts = try ExportedParts(secret.copyExposed(), formatVersion: SandboxAuthority.formatVersion)
        } catch {
            throw .sandbox(.authorityUnreadable, underlying: String(describing: error))
        }
        guard parts.keysFitCertificates else { throw .sandbox(.authorityUnreadable) }
        self.init(root: parts.root, issuer: parts.issuer, integration: parts.integration, ecSigner: parts.ecSigner, rsaSigner: parts.rsaSigner)
    }
}

/// What the sealed form holds, in its order.
private struct ExportedParts {
    let root: (key: P384.SigningKey, certificate: Certificate)
    let issuer: (key: P256.SigningKey, certificate: Certificate)
    let integration: (key: P256.SigningKey, certificate: Certificate)
    let ecSigner: CMSBuilder.Signer
    let rsaSigner: CMSBuilder.Signer

    init(_ blob: [UInt8], formatVersion: Int) throws {
        var outside = DERReader(blob)
        var list = try outside.enter(.sequence)
        try outside.finish()
        guard try list.smallInteger() == formatVersion else { throw DERError(.value, at: list.position) }
        func next() throws -> (key: SecretBytes, certificate: Certificate) {
            var pair = try list.enter(.sequence)
            let key = try pair.octetString()
            let certificate = try pair.octetString()
            try pair.finish()
            return (SecretBytes(copying: blob[key]), try Certificate(der: Array(blob[certificate])))
        }
        var part = try next()
        root = (try P384.SigningKey(pkcs8: part.key), part.certificate)
        part = try next()
        issuer = (try P256.SigningKey(pkcs8: part.key), part.certificate)
        part = try next()
        integration = (try P256.SigningKey(pkcs8: part.key), part.certificate)
        part = try next()
        ecSigner = CMSBuilder.Signer(key: .p256(try P256.SigningKey(pkcs8: part.key)), certificate: part.certificate)
        part = try next()
        rsaSigner = CMSBuilder.Signer(key: .rsa(try RSA.SigningKey(pkcs8: part.key)), certificate: part.certificate)
        try list.finish()
    }

    var keysFitCertificates: Bool {
        root.key.spki == root.certificate.spki && issuer.key.publicKey.spki == issuer.certificate.spki
            && integration.key.publicKey.spki == integration.certificate.spki && ecSigner.key.spki == ecSigner.certificate.spki
            && rsaSigner.key.spki == rsaSigner.certificate.spki
    }
}
