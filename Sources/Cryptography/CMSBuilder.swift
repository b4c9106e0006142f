public import Encodings
public import Problems

/// Writes a SignedData as Apple's signer does: version 1, detached, the signer named by issuer and serial number, four signed attributes, BER with
/// indefinite lengths in the outer layers. What the sandbox and the tests need bent is a property.
/// - Source: RFC 5652, section 5; RFC 6211; the signatures of real tokens.
public struct CMSBuilder: Sendable {
    public struct Signer: Sendable {
        public let key: SigningKey
        public let certificate: Certificate

        public init(key: SigningKey, certificate: Certificate) {
            self.key = key
            self.certificate = certificate
        }
    }

    public enum Encoding: Sendable {
        case ber, der
    }

    public var signers: [Signer]
    /// DER each, in the order in which they are written. Apple's: the signer's, then its issuer's.
    public var certificates: [[UInt8]]
    /// Each makes one `signingTime` attribute.
    public var signingTimes: [Timestamp]
    public var digest = SignatureDigest.sha256
    public var encoding = Encoding.ber
    /// `false`: the signature is over the content itself.
    public var hasSignedAttributes = true
    /// Whether the content stands in the CMS.
    public var isAttached = false

    public init(signer: Signer, certificates: [[UInt8]], signingTime: Timestamp) {
        self.signers = [signer]
        self.certificates = certificates
        self.signingTimes = [signingTime]
    }

    /// The whole ContentInfo, signed.
    public func signedData(over content: [UInt8]) throws(Problem) -> [UInt8] {
        let digestOfContent = try digest.digest(content)
        var signerInfos: [[UInt8]] = []
        for signer in signers { signerInfos.append(try signerInfo(signer, content, digestOfContent)) }
        var writer = DERWriter()
        outer(&writer, .sequence) {
            $0.objectIdentifier(.signedData)
            outer(&$0, .context(0)) {
                outer(&$0, .sequence) {
                    $0.integer(1)
                    $0.setOf([digest.algorithm])
                    outer(&$0, .sequence) {
                        $0.objectIdentifier(.data)
                        if isAttached { outer(&$0, .context(0)) { $0.octetString(content) } }
                    }
                    outer(&$0, .context(0)) { for certificate in certificates { $0.raw(certificate) } }
                    $0.setOf(signerInfos)
                }
            }
        }
        return writer.bytes
    }

    /// A constructed element of the layers that Apple writes with indefinite length.
    private func outer(_ writer: inout DERWriter, _ tag: DERTag, _ body: (inout DERWriter) -> Void) {
        switch encoding {
        case .ber: writer.indefinite(tag, body)
        case .der: writer.constructed(tag, body)
        }
    }

    private func signerInfo(_ signer: Signer, _ content: [UInt8], _ digestOfContent: [UInt8]) throws(Problem) -> [UInt8] {
        let algorithm = signer.key.signatureAlgorithm(digest)
        var attributes = DERWriter()
        attributes.setOf(signedAttributes(digestOfContent, algorithm))
        let signature = try signer.key.signature(over: hasSignedAttributes ? attributes.bytes : content, digest: digest)
        return DERWriter.sequence {
            $0.integer(1)
            $0.sequence {
                $0.raw(signer.certificate.issuer.encoded)
                $0.primitive(.integer, signer.certificate.serialNumber)
            }
            $0.raw(digest.algorithm)
            // What is signed is a SET OF; in its place it stands under [0] (RFC 5652, 5.4).
            if hasSignedAttributes { $0.raw([DERTag.context(0).rawValue] + attributes.bytes.dropFirst()) }
            $0.raw(algorithm)
            $0.octetString(signature)
        }
    }

    private func signedAttributes(_ digestOfContent: [UInt8], _ signatureAlgorithm: [UInt8]) -> [[UInt8]] {
        var attributes = [
            attribute(.contentType) { $0.objectIdentifier(.data) },
            attribute(.messageDigest) { $0.octetString(digestOfContent) },
            attribute(.algorithmProtection) {
                $0.sequence {
                    $0.raw(digest.algorithm)
                    $0.raw([DERTag.context(1).rawValue] + signatureAlgorithm.dropFirst())
                }
            },
        ]
        for time in signingTimes { attributes.append(attribute(.signingTime) { $0.time(time) }) }
        return attributes
    }

    private func attribute(_ type: OID, _ value: (inout DERWriter) -> Void) -> [UInt8] {
        DERWriter.sequence {
            $0.objectIdentifier(type)
            $0.constructed(.set, value)
        }
    }
}
