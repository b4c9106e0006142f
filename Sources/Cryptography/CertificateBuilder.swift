public import Encodings
public import Problems

/// What a certificate is going to say; ``signed(by:)`` makes it one.
///
/// The builder writes what it is told, in the order it is told, so that certificates with one thing wrong can be made too. It serves the sandbox and
/// the tests: nobody outside should trust what it makes.
/// - Source: RFC 5280, section 4.1.
public struct CertificateBuilder: Sendable {
    /// The content of a positive INTEGER. At first eight random bytes, as Apple's serial numbers are.
    public var serialNumber: [UInt8]
    public var issuer: DistinguishedName
    public var subject: DistinguishedName
    /// Both written in whole seconds, the rest cut off.
    public var notBefore: Timestamp, notAfter: Timestamp
    /// The subject's key, DER.
    public var spki: [UInt8]
    /// In the order in which they are written.
    public var extensions: [Certificate.Extension]

    public init(
        subject: DistinguishedName, issuer: DistinguishedName, spki: [UInt8], notBefore: Timestamp, notAfter: Timestamp,
        extensions: [Certificate.Extension]
    ) {
        self.subject = subject
        self.issuer = issuer
        self.spki = spki
        self.notBefore = notBefore
        self.notAfter = notAfter
        self.extensions = extensions
        var generator = SystemRandomNumberGenerator()
        // 01…7F in front: positive, and no leading zero.
        serialNumber = [UInt8.random(in: 1...0x7f, using: &generator)] + (1..<8).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }

    /// The certificate, read back by the same strict reader that reads everybody's.
    public func signed(by key: SigningKey) throws(Problem) -> Certificate {
        let algorithm = key.signatureAlgorithm(.sha256)
        let toBeSigned = DERWriter.sequence {
            $0.constructed(.context(0)) { $0.integer(2) }
            $0.primitive(.integer, serialNumber)
            $0.raw(algorithm)
            $0.raw(issuer.encoded)
            $0.sequence {
                $0.time(notBefore)
                $0.time(notAfter)
            }
            $0.raw(subject.encoded)
            $0.raw(spki)
            if !extensions.isEmpty {
                $0.constructed(.context(3)) { $0.sequence { list in for entry in extensions { list.raw(entry.encoded) } } }
            }
        }
        let signature = try key.signature(over: toBeSigned, digest: .sha256)
        let whole = DERWriter.sequence {
            $0.raw(toBeSigned)
            $0.raw(algorithm)
            $0.bitString(signature)
        }
        return try Certificate(der: whole)
    }
}

extension Certificate.Extension {
    /// - Parameter value: writes what stands inside `extnValue`.
    public init(_ oid: OID, critical: Bool = false, value: (inout DERWriter) -> Void) {
        var writer = DERWriter()
        value(&writer)
        self.init(oid: oid, isCritical: critical, value: writer.bytes)
    }

    fileprivate var encoded: [UInt8] {
        DERWriter.sequence {
            $0.objectIdentifier(oid)
            // DEFAULT FALSE is not written (X.690, 11.5).
            if isCritical { $0.boolean(true) }
            $0.octetString(value)
        }
    }

    /// Critical. `CA:FALSE` is the empty sequence.
    public static func basicConstraints(isCA: Bool) -> Self {
        Self(.basicConstraints, critical: true) { $0.sequence { if isCA { $0.boolean(true) } } }
    }

    /// Critical.
    public static func keyUsage(_ usage: Certificate.KeyUsage) -> Self {
        Self(.keyUsage, critical: true) { $0.bitString(flags: usage.rawValue) }
    }

    public static func extendedKeyUsage(_ purposes: [OID]) -> Self {
        Self(.extendedKeyUsage) { $0.sequence { list in for purpose in purposes { list.objectIdentifier(purpose) } } }
    }

    /// Names the certificate's own key.
    public static func subjectKeyIdentifier(_ spki: [UInt8]) -> Self {
        Self(.subjectKeyIdentifier) { $0.octetString(keyIdentifier(spki)) }
    }

    /// Names the issuer's key, as the issuer's ``subjectKeyIdentifier(_:)`` does.
    public static func authorityKeyIdentifier(_ spki: [UInt8]) -> Self {
        Self(.authorityKeyIdentifier) { $0.sequence { $0.primitive(.contextPrimitive(0), keyIdentifier(spki)) } }
    }

    /// An extension whose presence is all that counts: Apple's markers hold NULL.
    public static func marker(_ oid: OID) -> Self { Self(oid) { $0.null() } }

    /// The leftmost 160 bits of SHA-256 over the SubjectPublicKeyInfo.
    /// - Source: RFC 5280, 4.2.1.2 leaves the choice to the issuer; RFC 7093, section 2, method 4.
    private static func keyIdentifier(_ spki: [UInt8]) -> ArraySlice<UInt8> { SHA256.digest(spki).bytes.prefix(20) }
}
