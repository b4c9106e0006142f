public import Encodings

/// Why bytes are not the detached, once-signed SignedData that a payment token carries. All of these are one cause to the reader: `signature.unparseable`.
public enum CMSError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Not the ASN.1 of a SignedData, or an attribute's value against its type.
    case malformed(DERError)
    /// A ContentInfo of another type, or content of another type than id-data.
    case notSignedData
    /// The CMS carries content of its own, so that it does not speak of ours.
    case attachedContent
    case noCertificates
    case signers(Int)
    /// The signed attributes are not in DER: a length not in its shortest form, or the attributes not in the order of a SET OF.
    case attributesNotDER
    /// Bytes other than zero after the CMS.
    case trailingBytes(offset: Int)

    public var description: String {
        switch self {
        case .malformed(let error): "malformed: \(error)"
        case .notSignedData: "not a SignedData over id-data"
        case .attachedContent: "content attached"
        case .noCertificates: "no certificates"
        case .signers(let count): "\(count) signers"
        case .attributesNotDER: "signed attributes not in DER"
        case .trailingBytes(let offset): "bytes after the end, from byte \(offset)"
        }
    }
}

/// A detached CMS SignedData with exactly one signer, as read: form only. Whether it speaks of our content, and who signed, the caller decides.
///
/// Apple writes BER with indefinite lengths outside and DER inside; other writers DER throughout; both are read. A pure walk that copies nothing:
/// OpenSSL's decoder takes 360 µs, because it decodes both certificates, this less than one.
///
/// Stricter than OpenSSL's `CMS_verify` on purpose, because each of these is either never written or a way to mean two things:
/// exactly one signer; detached, with content type id-data; at least one certificate, and plain certificates only; attributes in DER and in order
/// (OpenSSL takes any order and re-encodes BER before it hashes, so that what is hashed is not what was sent); an attribute type once; nothing but
/// zero bytes after the end.
/// - Source: RFC 5652, 5; RFC 6211; ITU-T X.690.
public struct CMSSignedData: Sendable {
    /// What one type of signed attribute says.
    public enum Attribute<Value: Sendable & Equatable>: Sendable, Equatable {
        case absent
        case one(Value)
        /// The attribute twice, or with several values: RFC 5652, 11 allows one.
        case several
    }

    public struct AlgorithmIdentifier: Sendable, Equatable {
        public let oid: OID
        /// Parameters absent or NULL: all that the algorithms we take may have.
        public let isPlain: Bool
    }

    public enum SignerIdentifier: Sendable, Equatable {
        /// DER of the issuer's Name, and the serial number's content bytes; in ``CMSSignedData/bytes``.
        case issuerAndSerialNumber(issuer: Range<Int>, serialNumber: Range<Int>)
        case subjectKeyIdentifier(Range<Int>)
    }

    /// All that was given.
    public let bytes: [UInt8]
    /// The certificates in their order, each in ``bytes``; at least one.
    public let certificates: [Range<Int>]
    public let signer: SignerIdentifier
    public let digestAlgorithm: AlgorithmIdentifier
    public let signatureAlgorithm: AlgorithmIdentifier
    /// The signed attributes in ``bytes``, under their own tag `[0]`; nil: the signature is over the content itself.
    public let signedAttributes: Range<Int>?
    public let contentType: Attribute<OID>
    /// Range in ``bytes``.
    public let messageDigest: Attribute<Range<Int>>
    public let signingTime: Attribute<Timestamp>
    /// CMSAlgorithmProtection: whether it names the algorithms of the signer.
    public let protectsAlgorithms: Attribute<Bool>
    public let signature: ArraySlice<UInt8>

    /// How many certificates are read; Apple sends two.
    public static let maximumCertificates = 16

    public init(parsing bytes: [UInt8]) throws(CMSError) {
        self.bytes = bytes
        var outer = DERReader(bytes, rules: .ber)
        let body: Body
        do throws(DERError) {
            body = try Body(&outer)
        } catch {
            throw .malformed(error)
        }
        guard body.type == .signedData, body.contentType == .data else { throw .notSignedData }
        guard !body.hasContent else { throw .attachedContent }
        if let offset = bytes[outer.position...].firstIndex(where: { $0 != 0 }) { throw .trailingBytes(offset: offset) }
        guard !body.certificates.isEmpty else { throw .noCertificates }
        guard body.signers.count == 1, let signerInfo = body.signers.first else { throw .signers(body.signers.count) }
        certificates = body.certificates

        let fields: SignerInfo
        do throws(DERError) {
            fields = try SignerInfo(DERReader(bytes, in: signerInfo, rules: .ber))
        } catch {
            throw .malformed(error)
        }
        signer = fields.signer
        digestAlgorithm = fields.digestAlgorithm
        signatureAlgorithm = fields.signatureAlgorithm
        signature = fields.signature
        signedAttributes = fields.attributes
        guard let range = fields.attributes else {
            contentType = .absent
            messageDigest = .absent
            signingTime = .absent
            protectsAlgorithms = .absent
            return
        }
        let attributes = try SignedAttributes(bytes, range)
        contentType = attributes.contentType
        messageDigest = attributes.messageDigest
        signingTime = attributes.signingTime
        protectsAlgorithms =
            switch attributes.algorithmProtection {
            case .absent: .absent
            case .several: .several
            case .one(let named): .one(named == [digestAlgorithm.oid, signatureAlgorithm.oid])
            }
    }

    /// SHA-256 of the signed attributes as they are signed: with the tag of a SET OF in place of `[0]`. Nil without signed attributes.
    public var signedAttributesDigest: Digest256? {
        guard let range = signedAttributes else { return nil }
        var hasher = SHA256.Hasher()
        hasher.update(DERTag.set.rawValue)
        hasher.update(bytes[(range.lowerBound + 1)..<range.upperBound])
        return hasher.finish()
    }

    /// As signed: SET OF in DER. For whoever digests it otherwise than by SHA-256.
    public var signedAttributesForSigning: [UInt8]? {
        signedAttributes.map { [DERTag.set.rawValue] + bytes[($0.lowerBound + 1)..<$0.upperBound] }
    }

    /// Whether the signer is meant to be the holder of this certificate.
    public func isSigner(_ certificate: Certificate) -> Bool {
        switch signer {
        case .issuerAndSerialNumber(let issuer, let serialNumber):
            return bytes[serialNumber].elementsEqual(certificate.serialNumber) && bytes[issuer].elementsEqual(certificate.issuer.encoded)
        case .subjectKeyIdentifier(let identifier):
            guard let value = certificate.extensionValues(.subjectKeyIdentifier).first else { return false }
            var reader = DERReader(value)
            guard let held = try? reader.octetString() else { return false }
            return bytes[identifier].elementsEqual(value[held])
        }
    }
}

// MARK: - Structure

/// `ContentInfo` and `SignedData` (RFC 5652, 3 and 5.1), down to where the signer's part lies.
private struct Body {
    let type: OID
    var contentType: OID = .data
    var hasContent = false
    var certificates: [Range<Int>] = []
    /// Contents of the SignerInfo sequences.
    var signers: [Range<Int>] = []

    init(_ outer: inout DERReader) throws(DERError) {
        var info = try outer.enter(.sequence)
        type = try info.objectIdentifier()
        guard type == .signedData else { return }
        var explicit = try info.enter(.context(0))
        try info.finish()
        var data = try explicit.enter(.sequence)
        try explicit.finish()
        guard (1...5).contains(try data.smallInteger()) else { throw DERError(.value, at: data.position) }
        // The digests announced: SignerInfo says it again, and what it says counts.
        var announced = try data.enter(.set)
        while !announced.isAtEnd {
            var algorithm = try announced.enter(.sequence)
            _ = try algorithm.objectIdentifier()
        }
        var content = try data.enter(.sequence)
        contentType = try content.objectIdentifier()
        hasContent = !content.isAtEnd
        if let field = try data.nextIfPresent(.context(0)) {
            var list = try data.inside(field)
            while !list.isAtEnd {
                guard certificates.count < CMSSignedData.maximumCertificates else { throw DERError(.value, at: list.position) }
                certificates.append(try list.next(.sequence).whole)
            }
        }
        _ = try data.nextIfPresent(.context(1))  // revocation lists
        var list = try data.enter(.set)
        while !list.isAtEnd { signers.append(try list.next(.sequence).content) }
        try data.finish()
    }
}

/// RFC 5652, 5.3.
private struct SignerInfo {
    let signer: CMSSignedData.SignerIdentifier
    let digestAlgorithm: CMSSignedData.AlgorithmIdentifier
    let attributes: Range<Int>?
    let signatureAlgorithm: CMSSignedData.AlgorithmIdentifier
    let signature: ArraySlice<UInt8>

    init(_ reader: DERReader) throws(DERError) {
        var reader = reader
        let version = try reader.smallInteger()
        if reader.nextTag == .sequence {
            var identifier = try reader.enter(.sequence)
            let issuer = try identifier.next(.sequence).whole
            signer = .issuerAndSerialNumber(issuer: issuer, serialNumber: try identifier.integer())
            try identifier.finish()
            guard version == 1 else { throw DERError(.value, at: reader.position) }
        } else {
            signer = .subjectKeyIdentifier(try reader.next(.contextPrimitive(0)).content)
            guard version == 3 else { throw DERError(.value, at: reader.position) }
        }
        digestAlgorithm = try SignerInfo.algorithm(try reader.enter(.sequence))
        attributes = try reader.nextIfPresent(.context(0))?.whole
        signatureAlgorithm = try SignerInfo.algorithm(try reader.enter(.sequence))
        signature = try reader.octets()
        _ = try reader.nextIfPresent(.context(1))  // unsigned attributes: nobody vouches for them, nobody reads them
        try reader.finish()
    }

    static func algorithm(_ reader: DERReader) throws(DERError) -> CMSSignedData.AlgorithmIdentifier {
        var reader = reader
        let oid = try reader.objectIdentifier()
        guard !reader.isAtEnd else { return .init(oid: oid, isPlain: true) }
        let parameters = try reader.next()
        try reader.finish()
        return .init(oid: oid, isPlain: parameters.tag == .null && parameters.content.isEmpty)
    }
}

/// The attributes that matter here (RFC 5652, 11; RFC 6211), read in DER because that is what their digest is over.
private struct SignedAttributes {
    var contentType = CMSSignedData.Attribute<OID>.absent
    var messageDigest = CMSSignedData.Attribute<Range<Int>>.absent
    var signingTime = CMSSignedData.Attribute<Timestamp>.absent
    /// The algorithms named, in order.
    var algorithmProtection = CMSSignedData.Attribute<[OID]>.absent

    init(_ bytes: [UInt8], _ range: Range<Int>) throws(CMSError) {
        do throws(DERError) {
            var outer = DERReader(bytes, in: range)
            var list = try outer.enter(.context(0))
            var previous: Range<Int>?
            while !list.isAtEnd {
                let attribute = try list.next(.sequence)
                if let previous, bytes[attribute.whole].lexicographicallyPrecedes(bytes[previous]) {
                    throw DERError(.encoding, at: attribute.whole.lowerBound)
                }
                previous = attribute.whole
                try read(try list.inside(attribute))
            }
        } catch {
            throw error.reason == .encoding ? .attributesNotDER : .malformed(error)
        }
    }

    private mutating func read(_ attribute: DERReader) throws(DERError) {
        var attribute = attribute
        let type = try attribute.objectIdentifier()
        var values = try attribute.enter(.set)
        try attribute.finish()
        switch type {
        case .contentType: try SignedAttributes.add(&contentType, &values) { (reader) throws(DERError) in try reader.objectIdentifier() }
        case .messageDigest: try SignedAttributes.add(&messageDigest, &values) { (reader) throws(DERError) in try reader.octetString() }
        case .signingTime: try SignedAttributes.add(&signingTime, &values) { (reader) throws(DERError) in try reader.time() }
        case .algorithmProtection: try SignedAttributes.add(&algorithmProtection, &values, SignedAttributes.protection)
        default: _ = try values.next()
        }
    }

    /// Takes the values of one attribute; none is malformed, and once there is more than one in all, it stays `.several`.
    private static func add<Value>(
        _ held: inout CMSSignedData.Attribute<Value>, _ values: inout DERReader, _ read: (inout DERReader) throws(DERError) -> Value
    ) throws(DERError) {
        repeat {
            let value = try read(&values)
            held = held == .absent ? .one(value) : .several
        } while !values.isAtEnd
    }

    /// `SEQUENCE { digestAlgorithm, [1] signatureAlgorithm, … }`; the parameters are left aside, as writers differ in NULL and absent.
    private static func protection(_ reader: inout DERReader) throws(DERError) -> [OID] {
        var fields = try reader.enter(.sequence)
        var digest = try fields.enter(.sequence)
        var named = [try digest.objectIdentifier()]
        if var signature = try fields.nextIfPresent(.context(1)).map({ (element) throws(DERError) in try fields.inside(element) }) {
            named.append(try signature.objectIdentifier())
        }
        return named
    }
}
