import ApplePay
import Cryptography
import Encodings
import Problems

/// The certificates of one authority: Apple's shapes, under names that nobody takes for Apple's.
///
/// Every name of the authority ends in the installation's own mark, so that two installations are told apart by name too.
/// Apple's URLs and certificate policies are left out: they aren't ours to name.
/// - Source: the certificates under Apple Root CA - G3, extension by extension.
struct CertificateShapes: Sendable {
    /// Eight hex digits of the root key's hash.
    let mark: String
    /// From when and until when the authority's certificates are valid.
    var notBefore: Timestamp, notAfter: Timestamp

    private static let lifetimeInSeconds: Int64 = 9131 * 86_400  // 25 years

    init(rootSPKI: [UInt8], notBefore: Timestamp) {
        mark = SHA256.digest(rootSPKI).hex.prefix(8).uppercased()
        self.notBefore = notBefore
        notAfter = notBefore.adding(seconds: CertificateShapes.lifetimeInSeconds)
    }

    /// As Apple Root CA - G3: P-384, self-signed.
    func root(key: P384.SigningKey) throws(Problem) -> Certificate {
        try authority("Coster Sandbox Root CA", spki: key.spki, root: key, [])
    }

    /// As Apple Application Integration CA - G3: the issuer of token signers.
    func integration(spki: [UInt8], root: P384.SigningKey, marker: Bool = true) throws(Problem) -> Certificate {
        try authority(
            "Coster Sandbox Application Integration CA", spki: spki, root: root,
            [.authorityKeyIdentifier(root.spki)] + (marker ? [.marker(Marker.integration)] : []))
    }

    /// As Apple Worldwide Developer Relations CA - G2: the issuer of payment processing certificates.
    func issuer(spki: [UInt8], root: P384.SigningKey) throws(Problem) -> Certificate {
        try authority(
            "Coster Sandbox Developer Relations CA", spki: spki, root: root,
            [.authorityKeyIdentifier(root.spki), .marker(Marker.developerRelations)])
    }

    /// As `ecc-smp-broker-sign_UC4-SANDBOX`, the signer of Apple's sandbox: only SANDBOX in its CN tells it from a production one.
    /// - Parameters:
    ///   - issuer: signs the certificate.
    ///   - named: the key its authority key identifier names, where it is another one than `issuer`: a forgery.
    func signer(_ key: SigningKey, issuer: P256.SigningKey, named: P256.SigningKey? = nil, marker: Bool = true) throws(Problem) -> Certificate {
        let kind =
            switch key {
            case .rsa: "rsa"
            case .p256, .p384: "ecc"
            }
        return try certificate(
            "\(kind)-coster-broker-sign-SANDBOX", issuer: name("Coster Sandbox Application Integration CA"), spki: key.spki,
            [
                .basicConstraints(isCA: false), .authorityKeyIdentifier((named ?? issuer).publicKey.spki), .subjectKeyIdentifier(key.spki),
                .keyUsage(.digitalSignature),
            ] + (marker ? [.marker(Marker.signer)] : []), signedBy: .p256(issuer))
    }

    /// A payment processing certificate of 2021 or later: UID, CN, OU, O and C in this order, 760 days less one second, no extended key usage.
    func processing(
        _ identifier: MerchantIdentifier, spki: [UInt8], issuer: (key: P256.SigningKey, certificate: Certificate), notBefore: Timestamp
    ) throws(Problem) -> Certificate {
        let subject = DistinguishedName([
            .init(.userID, identifier.text), .init(.commonName, "Apple Pay Payment Processing:\(identifier.text)"), .init(.organizationalUnit, "SANDBOX000"),
            .init(.organization, "Coster sandbox, not Apple"), .init(.country, "ZZ"),
        ])
        let hash = Certificate.Extension(Marker.merchantIdentifierHash) { $0.utf8String(identifier.hash.hex.uppercased()) }
        return try CertificateBuilder(
            subject: subject, issuer: issuer.certificate.subject, spki: spki, notBefore: notBefore,
            notAfter: notBefore.adding(seconds: 760 * 86_400 - 1),
            extensions: [
                .basicConstraints(isCA: false), .authorityKeyIdentifier(issuer.certificate.spki), .subjectKeyIdentifier(spki),
                .keyUsage([.keyEncipherment, .keyAgreement]), hash,
            ]
        ).signed(by: .p256(issuer.key))
    }

    private func authority(_ commonName: String, spki: [UInt8], root: P384.SigningKey, _ others: [Certificate.Extension]) throws(Problem) -> Certificate {
        try certificate(
            commonName, issuer: name("Coster Sandbox Root CA"), spki: spki,
            [.subjectKeyIdentifier(spki), .basicConstraints(isCA: true), .keyUsage([.keyCertSign, .cRLSign])] + others, signedBy: .p384(root))
    }

    private func certificate(
        _ commonName: String, issuer: DistinguishedName, spki: [UInt8], _ extensions: [Certificate.Extension], signedBy key: SigningKey
    ) throws(Problem) -> Certificate {
        try CertificateBuilder(
            subject: name(commonName), issuer: issuer, spki: spki, notBefore: notBefore, notAfter: notAfter, extensions: extensions
        ).signed(by: key)
    }

    private func name(_ commonName: String) -> DistinguishedName {
        DistinguishedName([
            .init(.commonName, "\(commonName) \(mark)"), .init(.organizationalUnit, "Coster sandbox, not Apple"), .init(.organization, "Coster"),
            .init(.country, "ZZ"),
        ])
    }
}

/// Apple's extensions that mark the kinds of certificates.
enum Marker {
    static let signer: OID = "1.2.840.113635.100.6.29"
    static let integration: OID = "1.2.840.113635.100.6.2.14"
    static let developerRelations: OID = "1.2.840.113635.100.6.2.15"
    static let merchantIdentifierHash: OID = "1.2.840.113635.100.6.32"
}
