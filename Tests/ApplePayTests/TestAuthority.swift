import ApplePay
import Cryptography
import Encodings
import Problems
import Secrets

/// A certificate authority shaped like Apple's, for tokens with one thing wrong at a time. Root P-384, issuer and signer P-256.
struct TestAuthority {
    /// What the minted tokens are judged at.
    static let now = Timestamp(seconds: 1_793_534_400)  // 2026-11-01T12:00:00Z
    static let tokenSigner: OID = "1.2.840.113635.100.6.29"
    static let tokenSignerIssuer: OID = "1.2.840.113635.100.6.2.14"

    var rootKey: SigningKey
    var root: Certificate
    var issuerKey: SigningKey
    var issuer: Certificate
    var leafKey: SigningKey
    var leaf: Certificate

    /// Everything about the chain that a test may want otherwise.
    struct Shape {
        var leafKey: SigningKey?
        var leafName = "ecc-smp-broker-sign_UC4-TEST"
        var leafHasMarker = true
        var issuerHasMarker = true
        var issuerIsCA = true
        var leafDates = TestAuthority.now.adding(seconds: -86_400 * 365)...TestAuthority.now.adding(seconds: 86_400 * 365)
        var issuerDates = TestAuthority.now.adding(seconds: -86_400 * 1000)...TestAuthority.now.adding(seconds: 86_400 * 1000)
        var rootDates = TestAuthority.now.adding(seconds: -86_400 * 2000)...TestAuthority.now.adding(seconds: 86_400 * 2000)
        /// The leaf is signed by a stranger's key, under the issuer's name.
        var leafIsForged = false
        /// The issuer is signed by a stranger's key, under the root's name and key identifier.
        var issuerIsForged = false
    }

    init(_ shape: Shape = Shape()) throws {
        rootKey = .p384(try P384.SigningKey.generate())
        issuerKey = .p256(try P256.SigningKey.generate())
        leafKey = try shape.leafKey ?? .p256(P256.SigningKey.generate())
        let rootName = TestAuthority.name("Test Root CA - G3")
        let issuerName = TestAuthority.name("Test Application Integration CA - G3")
        root = try CertificateBuilder(
            subject: rootName, issuer: rootName, spki: rootKey.spki, notBefore: shape.rootDates.lowerBound, notAfter: shape.rootDates.upperBound,
            extensions: [.basicConstraints(isCA: true), .keyUsage([.keyCertSign, .cRLSign]), .subjectKeyIdentifier(rootKey.spki)]
        ).signed(by: rootKey)
        issuer = try CertificateBuilder(
            subject: issuerName, issuer: rootName, spki: issuerKey.spki, notBefore: shape.issuerDates.lowerBound,
            notAfter: shape.issuerDates.upperBound,
            extensions: [
                .basicConstraints(isCA: shape.issuerIsCA), .keyUsage(shape.issuerIsCA ? [.keyCertSign, .cRLSign] : .digitalSignature),
                .subjectKeyIdentifier(issuerKey.spki), .authorityKeyIdentifier(rootKey.spki),
            ] + (shape.issuerHasMarker ? [.marker(TestAuthority.tokenSignerIssuer)] : [])
        ).signed(by: shape.issuerIsForged ? .p384(P384.SigningKey.generate()) : rootKey)
        leaf = try TestAuthority.leaf(shape, leafKey, issuer, issuerKey)
    }

    static func leaf(_ shape: Shape, _ key: SigningKey, _ issuer: Certificate, _ issuerKey: SigningKey) throws -> Certificate {
        try CertificateBuilder(
            subject: name(shape.leafName), issuer: issuer.subject, spki: key.spki, notBefore: shape.leafDates.lowerBound,
            notAfter: shape.leafDates.upperBound,
            extensions: [
                .basicConstraints(isCA: false), .keyUsage(.digitalSignature), .subjectKeyIdentifier(key.spki), .authorityKeyIdentifier(issuerKey.spki),
            ] + (shape.leafHasMarker ? [.marker(tokenSigner)] : [])
        ).signed(by: shape.leafIsForged ? .p256(P256.SigningKey.generate()) : issuerKey)
    }

    static func name(_ commonName: String) -> DistinguishedName {
        DistinguishedName([.init(.commonName, commonName), .init(.organization, "Test (not Apple)"), .init(.country, "US")])
    }

    func verifier() throws -> SignatureVerifier { try SignatureVerifier(anchors: [TrustAnchor(certificate: root)]) }
}

/// The SignedData of a token, each part of it free to be wrong.
struct TestSignature {
    var certificates: [Certificate]
    var signers: [(certificate: Certificate, key: SigningKey)]
    var digestAlgorithm: OID = .sha256
    var signatureAlgorithm: OID?
    var protectedAlgorithm: OID?
    var contentType: OID = .data
    var attributeContentType: OID = .data
    var signingTimes = [TestAuthority.now]
    var hasAttributes = true
    var attachedContent: [UInt8]?
    var messageDigest: [UInt8]?
    var trailing: [UInt8] = []

    init(_ authority: TestAuthority) {
        certificates = [authority.leaf, authority.issuer]
        signers = [(authority.leaf, authority.leafKey)]
    }

    func encoded(over content: [UInt8]) throws -> [UInt8] {
        var infos: [[UInt8]] = []
        for signer in signers { infos.append(try signerInfo(signer.certificate, signer.key, content)) }
        return DERWriter.sequence {
            $0.objectIdentifier(.signedData)
            $0.constructed(.context(0)) {
                $0.sequence {
                    $0.integer(1)
                    $0.setOf([DERWriter.sequence { $0.objectIdentifier(digestAlgorithm) }])
                    $0.sequence {
                        $0.objectIdentifier(contentType)
                        if let attachedContent { $0.constructed(.context(0)) { $0.octetString(attachedContent) } }
                    }
                    if !certificates.isEmpty { $0.constructed(.context(0)) { for certificate in certificates { $0.raw(certificate.der) } } }
                    $0.setOf(infos)
                }
            }
        } + trailing
    }

    private func signerInfo(_ certificate: Certificate, _ key: SigningKey, _ content: [UInt8]) throws -> [UInt8] {
        let digest = DERWriter.sequence { $0.objectIdentifier(digestAlgorithm) }
        let algorithm = signatureAlgorithm.map { oid in DERWriter.sequence { $0.objectIdentifier(oid) } } ?? key.signatureAlgorithm(.sha256)
        func attribute(_ type: OID, _ value: (inout DERWriter) -> Void) -> [UInt8] {
            DERWriter.sequence {
                $0.objectIdentifier(type)
                $0.constructed(.set, value)
            }
        }
        var list = [
            attribute(.contentType) { $0.objectIdentifier(attributeContentType) },
            attribute(.messageDigest) { $0.octetString(messageDigest ?? SHA256.digest(content).bytes) },
        ]
        if let protectedAlgorithm {
            list.append(
                attribute(.algorithmProtection) {
                    $0.sequence {
                        $0.raw(digest)
                        $0.constructed(.context(1)) { $0.objectIdentifier(protectedAlgorithm) }
                    }
                })
        }
        for time in signingTimes { list.append(attribute(.signingTime) { $0.time(time) }) }
        var attributes = DERWriter()
        attributes.setOf(list)
        let signature = try key.signature(over: hasAttributes ? attributes.bytes : content, digest: .sha256)
        return DERWriter.sequence {
            $0.integer(1)
            $0.sequence {
                $0.raw(certificate.issuer.encoded)
                $0.primitive(.integer, certificate.serialNumber)
            }
            $0.raw(digest)
            if hasAttributes { $0.raw([DERTag.context(0).rawValue] + attributes.bytes.dropFirst()) }
            $0.raw(algorithm)
            $0.octetString(signature)
        }
    }
}

/// The parts of a token, sealed for a merchant's key and signed by an authority; `json` puts them together.
struct TestToken {
    static let merchant = "merchant.com.example.shop"
    static let content =
        #"{"applicationPrimaryAccountNumber":"4111111111111111","applicationExpirationDate":"311231","currencyCode":"840","transactionAmount":1999,"#
        + #""deviceManufacturerIdentifier":"040010030273","paymentDataType":"3DSecure","paymentData":{"onlinePaymentCryptogram":"AAAA","eciIndicator":"7"}}"#

    let key: PrivateKey
    var version: String
    var keyField: [UInt8]
    var data: [UInt8]
    var publicKeyHash: Digest256
    var transactionId = [UInt8](0..<32)
    var applicationData: [UInt8]?
    var signature: [UInt8] = []

    init(
        content: [UInt8] = Array(TestToken.content.utf8), for key: PrivateKey, merchant: String = TestToken.merchant,
        ephemeral: P256.AgreementKey? = nil
    ) throws {
        self.key = key
        publicKeyHash = key.spkiHash
        switch key {
        case .p256(let held):
            version = "EC_v1"
            let ephemeral = try ephemeral ?? P256.AgreementKey.generate()
            keyField = ephemeral.publicKey.spki
            data = try ephemeral.sharedSecret(with: held.publicKey).deriveKey(
                algorithmID: Array("id-aes256-GCM".utf8), partyUInfo: Array("Apple".utf8), partyVInfo: SHA256.digest(Array(merchant.utf8))
            ).seal(SecretBytes(copying: content))
        case .rsa(let held):
            version = "RSA_v1"
            let contentKey = try SecureRandom.secret(16)
            keyField = try RSA.wrapOAEP256(contentKey, to: held.spki)
            data = try ContentKey(contentKey).seal(SecretBytes(copying: content))
        }
    }

    /// A good token of this authority.
    static func signed(by authority: TestAuthority, for key: PrivateKey? = nil) throws -> TestToken {
        var token = try TestToken(for: key ?? .p256(P256.AgreementKey.generate()))
        try token.sign(TestSignature(authority))
        return token
    }

    mutating func sign(_ signature: TestSignature) throws {
        self.signature = try signature.encoded(over: keyField + data + transactionId + (applicationData ?? []))
    }

    /// `paymentData`; `header` and `members` replace or, with nil, leave out what they name, or add to it. Values are JSON text.
    func json(header: [String: String?] = [:], members: [String: String?] = [:]) -> String {
        var head: [(String, String)] = [
            (version.hasPrefix("RSA") ? "wrappedKey" : "ephemeralPublicKey", quoted(Base64.encode(keyField))),
            ("publicKeyHash", quoted(publicKeyHash.base64)), ("transactionId", quoted(Hex.encode(transactionId))),
        ]
        if let applicationData { head.append(("applicationData", quoted(Hex.encode(applicationData)))) }
        let body: [(String, String)] = [
            ("version", quoted(version)), ("data", quoted(Base64.encode(data))), ("signature", quoted(Base64.encode(signature))),
            ("header", object(replacing(head, header))),
        ]
        return object(replacing(body, members))
    }

    func parsed() throws -> PaymentToken { try PaymentToken(parsing: Array(json().utf8)) }

    private func replacing(_ members: [(String, String)], _ changes: [String: String?]) -> [(String, String)] {
        var result = members.compactMap { name, value -> (String, String)? in
            guard let change = changes[name] else { return (name, value) }
            return change.map { (name, $0) }
        }
        for (name, change) in changes where !members.contains(where: { $0.0 == name }) {
            if let change { result.append((name, change)) }
        }
        return result
    }

    private func object(_ members: [(String, String)]) -> String { "{" + members.map { "\(quoted($0)):\($1)" }.joined(separator: ",") + "}" }
}

/// Text as a JSON string.
func quoted(_ text: String) -> String {
    var writer = JSONWriter()
    writer.string(text)
    return String(decoding: writer.bytes, as: UTF8.self)
}
