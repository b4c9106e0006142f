/// An object identifier, kept as its DER content bytes and compared byte for byte.
///
/// Up to 15 content bytes (every identifier of this field) are held inline, so that reading one allocates nothing.
/// - Source: ITU-T X.690, 8.19.
public struct OID: Hashable, Sendable {
    /// The first 15 content bytes, left-aligned, and in the last byte their number; 0 when there are more.
    private let word: UInt128
    private let long: [UInt8]

    /// From DER content bytes (without tag and length). Nil when they are no object identifier: empty, cut, or padded with 0x80.
    public init?(content: some Collection<UInt8>) {
        guard !content.isEmpty, OID.isWellFormed(content) else { return nil }
        self.init(trusted: content)
    }

    /// From dotted text, as `2.5.4.3`; nil for any other form or for an arc beyond 64 bits.
    public init?(_ dotted: String) {
        var arcs: [UInt64] = []
        for part in dotted.split(separator: ".", omittingEmptySubsequences: false) {
            guard let arc = UInt64(part), String(arc) == part else { return nil }
            arcs.append(arc)
        }
        guard arcs.count >= 2, arcs[0] <= 2, arcs[0] == 2 || arcs[1] < 40, arcs[1] <= UInt64.max - 80 else { return nil }
        var content = OID.base128(arcs[0] * 40 + arcs[1])
        for arc in arcs.dropFirst(2) { content += OID.base128(arc) }
        self.init(trusted: content)
    }

    private init(trusted content: some Collection<UInt8>) {
        let count = content.count
        guard count <= 15 else {
            word = 0
            long = Array(content)
            return
        }
        var word: UInt128 = 0
        for byte in content { word = word << 8 | UInt128(byte) }
        self.word = word << UInt128(8 * (16 - count)) | UInt128(count)
        long = []
    }

    /// The DER content bytes, without tag and length.
    public var content: [UInt8] {
        guard word != 0 else { return long }
        let count = Int(truncatingIfNeeded: word & 0xff)
        return (0..<count).map { UInt8(truncatingIfNeeded: word >> UInt128(120 - 8 * $0)) }
    }

    private static func isWellFormed(_ content: some Collection<UInt8>) -> Bool {
        var startsArc = true
        for byte in content {
            if startsArc, byte == 0x80 { return false }
            startsArc = byte < 0x80
        }
        return startsArc
    }

    private static func base128(_ value: UInt64) -> [UInt8] {
        var bytes = [UInt8(value & 0x7f)]
        var rest = value >> 7
        while rest > 0 {
            bytes.insert(UInt8(rest & 0x7f) | 0x80, at: 0)
            rest >>= 7
        }
        return bytes
    }
}

extension OID: CustomStringConvertible {
    /// Dotted text; an arc beyond 64 bits is written as `?`.
    public var description: String {
        var arcs: [String] = []
        var value: UInt64 = 0
        var overflows = false
        for byte in content {
            overflows = overflows || value > UInt64.max >> 7
            value = value << 7 | UInt64(byte & 0x7f)
            guard byte < 0x80 else { continue }
            if arcs.isEmpty {
                let first = min(value / 40, 2)
                arcs = [String(first), overflows ? "?" : String(value - first * 40)]
            } else {
                arcs.append(overflows ? "?" : String(value))
            }
            value = 0
            overflows = false
        }
        return arcs.joined(separator: ".")
    }
}

extension OID: ExpressibleByStringLiteral {
    /// A dotted literal. Only a literal can get here (`StaticString`); one that is wrong has no content, and equals nothing that was ever read.
    public init(stringLiteral value: StaticString) { self = OID(String(describing: value)) ?? OID(trusted: []) }
}

extension OID {
    // Keys and curves.
    public static let ecPublicKey: OID = "1.2.840.10045.2.1"
    public static let p256: OID = "1.2.840.10045.3.1.7"
    public static let p384: OID = "1.3.132.0.34"
    public static let p521: OID = "1.3.132.0.35"
    public static let rsaEncryption: OID = "1.2.840.113549.1.1.1"

    // Digests and signatures.
    public static let sha256: OID = "2.16.840.1.101.3.4.2.1"
    public static let ecdsaWithSHA256: OID = "1.2.840.10045.4.3.2"
    public static let ecdsaWithSHA384: OID = "1.2.840.10045.4.3.3"
    public static let ecdsaWithSHA512: OID = "1.2.840.10045.4.3.4"
    public static let sha256WithRSA: OID = "1.2.840.113549.1.1.11"
    public static let sha384WithRSA: OID = "1.2.840.113549.1.1.12"
    public static let sha512WithRSA: OID = "1.2.840.113549.1.1.13"

    // CMS (RFC 5652, RFC 6211).
    public static let data: OID = "1.2.840.113549.1.7.1"
    public static let signedData: OID = "1.2.840.113549.1.7.2"
    public static let contentType: OID = "1.2.840.113549.1.9.3"
    public static let messageDigest: OID = "1.2.840.113549.1.9.4"
    public static let signingTime: OID = "1.2.840.113549.1.9.5"
    public static let algorithmProtection: OID = "1.2.840.113549.1.9.52"

    // Names (X.520, RFC 4519).
    public static let commonName: OID = "2.5.4.3"
    public static let surname: OID = "2.5.4.4"
    public static let serialNumber: OID = "2.5.4.5"
    public static let country: OID = "2.5.4.6"
    public static let locality: OID = "2.5.4.7"
    public static let stateOrProvince: OID = "2.5.4.8"
    public static let organization: OID = "2.5.4.10"
    public static let organizationalUnit: OID = "2.5.4.11"
    public static let userID: OID = "0.9.2342.19200300.100.1.1"
    public static let domainComponent: OID = "0.9.2342.19200300.100.1.25"
    public static let emailAddress: OID = "1.2.840.113549.1.9.1"

    // Certificate extensions (RFC 5280, 4.2).
    public static let subjectKeyIdentifier: OID = "2.5.29.14"
    public static let keyUsage: OID = "2.5.29.15"
    public static let subjectAlternativeName: OID = "2.5.29.17"
    public static let basicConstraints: OID = "2.5.29.19"
    public static let authorityKeyIdentifier: OID = "2.5.29.35"
    public static let extendedKeyUsage: OID = "2.5.29.37"
    public static let serverAuthentication: OID = "1.3.6.1.5.5.7.3.1"
    public static let clientAuthentication: OID = "1.3.6.1.5.5.7.3.2"
}
