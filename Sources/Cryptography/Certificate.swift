public import Encodings
public import Problems

/// An X.509 certificate as read: a strict DER walk of our own, so that no oddity depends on OpenSSL's taste. It proves form only; signatures are
/// ``ChainVerifier``'s.
/// - Source: RFC 5280, 4.1.
public struct Certificate: Sendable {
    /// What sort of key is certified.
    public enum KeyKind: Hashable, Sendable {
        /// P-256 in the one form ``P256/PublicKey`` takes.
        case p256
        case rsa(bits: Int)
        /// Another named curve, or P-256 with another form of point.
        case otherEC(OID)
        case other(OID)
    }

    /// RFC 5280, 4.2.1.3.
    public struct KeyUsage: OptionSet, Hashable, Sendable {
        public let rawValue: UInt32
        public init(rawValue: UInt32) { self.rawValue = rawValue }
        public static let digitalSignature = KeyUsage(rawValue: 1 << 0)
        public static let nonRepudiation = KeyUsage(rawValue: 1 << 1)
        public static let keyEncipherment = KeyUsage(rawValue: 1 << 2)
        public static let dataEncipherment = KeyUsage(rawValue: 1 << 3)
        public static let keyAgreement = KeyUsage(rawValue: 1 << 4)
        public static let keyCertSign = KeyUsage(rawValue: 1 << 5)
        public static let cRLSign = KeyUsage(rawValue: 1 << 6)
    }

    public struct Extension: Hashable, Sendable {
        public let oid: OID
        public let isCritical: Bool
        /// The content of extnValue.
        public let value: [UInt8]
    }

    public let der: [UInt8]
    /// The INTEGER's content bytes.
    public let serialNumber: [UInt8]
    public let subject: DistinguishedName
    public let issuer: DistinguishedName
    public let notBefore: Timestamp
    public let notAfter: Timestamp
    /// DER SubjectPublicKeyInfo.
    public let spki: [UInt8]
    public let keyKind: KeyKind
    public let isCA: Bool
    /// Nil: no such extension.
    public let keyUsage: KeyUsage?
    /// Nil: no such extension.
    public let extendedKeyUsage: [OID]?
    public let extensions: [Extension]
    public let signatureAlgorithm: OID
    /// The signed part, in ``der``.
    public let toBeSigned: Range<Int>
    public let signature: [UInt8]

    /// - Throws: `certificate.not_a_certificate`.
    public init(der: [UInt8]) throws(Problem) {
        do {
            try self.init(walking: der)
        } catch {
            throw .cryptography(.notACertificate, underlying: "X.509: \(error)")
        }
    }

    private init(walking der: [UInt8]) throws(DERError) {
        self.der = der
        var outer = DERReader(der)
        var certificate = try outer.enter(.sequence)
        try outer.finish()
        let signed = try certificate.next(.sequence)
        toBeSigned = signed.whole
        let algorithm = try certificate.next(.sequence)
        signature = Array(der[try certificate.bitStringOfBytes()])
        try certificate.finish()
        var algorithmReader = try certificate.inside(algorithm)
        signatureAlgorithm = try algorithmReader.objectIdentifier()

        var body = try certificate.inside(signed)
        if var version = try body.nextIfPresent(.context(0)).map({ (element) throws(DERError) in try body.inside(element) }) {
            guard try version.smallInteger() <= 2 else { throw DERError(.value, at: version.position) }
            try version.finish()
        }
        serialNumber = Array(der[try body.integer()])
        let innerAlgorithm = try body.next(.sequence)
        // RFC 5280, 4.1.1.2: both name the same algorithm. Only the inner one is signed.
        guard der[innerAlgorithm.whole] == der[algorithm.whole] else { throw DERError(.value, at: innerAlgorithm.whole.lowerBound) }
        issuer = try DistinguishedName(reading: &body)
        var validity = try body.enter(.sequence)
        notBefore = try validity.time()
        notAfter = try validity.time()
        try validity.finish()
        subject = try DistinguishedName(reading: &body)
        let key = try body.next(.sequence)
        spki = Array(der[key.whole])
        keyKind = try Certificate.keyKind(try body.inside(key), spki)
        _ = try body.nextIfPresent(.contextPrimitive(1))  // issuerUniqueID
        _ = try body.nextIfPresent(.contextPrimitive(2))  // subjectUniqueID
        extensions = try Certificate.extensions(&body)
        try body.finish()
        isCA = try Certificate.isCA(extensions)
        keyUsage = try Certificate.keyUsage(extensions)
        extendedKeyUsage = try Certificate.extendedKeyUsage(extensions)
    }

    /// RFC 5280, 4.2: no extension twice. Held for those that decide something here; the others' readers see all values.
    private static func single(_ oid: OID, _ extensions: [Extension]) throws(DERError) -> DERReader? {
        let values = extensions.filter { $0.oid == oid }
        guard values.count <= 1 else { throw DERError(.unexpected, at: 0) }
        return values.first.map { DERReader($0.value) }
    }

    private static func isCA(_ extensions: [Extension]) throws(DERError) -> Bool {
        guard var reader = try single(.basicConstraints, extensions) else { return false }
        var constraints = try reader.enter(.sequence)
        try reader.finish()
        return constraints.nextTag == .boolean ? try constraints.boolean() : false
    }

    private static func keyUsage(_ extensions: [Extension]) throws(DERError) -> KeyUsage? {
        guard var reader = try single(.keyUsage, extensions) else { return nil }
        let flags = try reader.bitStringOfFlags()
        try reader.finish()
        return KeyUsage(rawValue: flags)
    }

    private static func extendedKeyUsage(_ extensions: [Extension]) throws(DERError) -> [OID]? {
        guard var reader = try single(.extendedKeyUsage, extensions) else { return nil }
        var list = try reader.enter(.sequence)
        try reader.finish()
        var usages: [OID] = []
        while !list.isAtEnd { usages.append(try list.objectIdentifier()) }
        return usages
    }

    private static func extensions(_ body: inout DERReader) throws(DERError) -> [Extension] {
        guard let field = try body.nextIfPresent(.context(3)) else { return [] }
        var wrapper = try body.inside(field)
        var list = try wrapper.enter(.sequence)
        try wrapper.finish()
        var extensions: [Extension] = []
        while !list.isAtEnd {
            var entry = try list.enter(.sequence)
            let oid = try entry.objectIdentifier()
            let isCritical = entry.nextTag == .boolean ? try entry.boolean() : false
            extensions.append(Extension(oid: oid, isCritical: isCritical, value: Array(entry.bytes[try entry.octetString()])))
            try entry.finish()
        }
        return extensions
    }

    private static func keyKind(_ info: DERReader, _ spki: [UInt8]) throws(DERError) -> KeyKind {
        var info = info
        var algorithm = try info.enter(.sequence)
        let kind = try algorithm.objectIdentifier()
        let bits = try info.bitStringOfBytes()
        try info.finish()
        switch kind {
        case .ecPublicKey:
            guard algorithm.nextTag == .objectIdentifier else { return .other(kind) }
            let curve = try algorithm.objectIdentifier()
            let isOurs = spki.count == P256.spkiHeader.count + 65 && spki.starts(with: P256.spkiHeader) && spki[P256.spkiHeader.count] == 4
            return isOurs ? .p256 : .otherEC(curve)
        case .rsaEncryption:
            var reader = DERReader(info.bytes, in: bits)
            var key = try reader.enter(.sequence)
            let modulus = try key.unsignedInteger()
            let first = info.bytes[modulus.lowerBound]
            return .rsa(bits: modulus.count * 8 - first.leadingZeroBitCount)
        default:
            return .other(kind)
        }
    }
}

extension Certificate {
    public var spkiHash: Digest256 { SHA256.digest(spki) }
    /// SHA-256 of the whole certificate.
    public var fingerprint: Digest256 { SHA256.digest(der) }
    /// Upper-case digits, as portals and `openssl` show it; without the sign byte.
    public var serialHex: String {
        let magnitude = serialNumber.count > 1 && serialNumber[0] == 0 ? serialNumber.dropFirst() : serialNumber[...]
        return Hex.encode(magnitude).uppercased()
    }

    /// The values of all extensions with this identifier: [] none, more than one only in a certificate that breaks the rule.
    public func extensionValues(_ oid: OID) -> [[UInt8]] { extensions.filter { $0.oid == oid }.map(\.value) }

    public func hasExtension(_ oid: OID) -> Bool { extensions.contains { $0.oid == oid } }
}

extension Certificate: Hashable {
    public static func == (left: Certificate, right: Certificate) -> Bool { left.der == right.der }
    public func hash(into hasher: inout Hasher) { hasher.combine(der) }
}
