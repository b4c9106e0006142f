public import Encodings

/// Writes DER, element after element; constructed ones take a closure for their content.
///
/// ```swift
/// let algorithm = DERWriter.sequence { $0.objectIdentifier(.ecPublicKey); $0.objectIdentifier(.p256) }
/// ```
public struct DERWriter: Sendable {
    public private(set) var bytes: [UInt8] = []

    public init() {}

    /// One SEQUENCE.
    public static func sequence<E: Error>(_ body: (inout DERWriter) throws(E) -> Void) throws(E) -> [UInt8] {
        var writer = DERWriter()
        try writer.sequence(body)
        return writer.bytes
    }

    public mutating func sequence<E: Error>(_ body: (inout DERWriter) throws(E) -> Void) throws(E) {
        try constructed(.sequence, body)
    }

    /// An element whose content is what `body` writes: `.sequence`, `.set`, `.context(n)`, or a string that wraps another encoding.
    public mutating func constructed<E: Error>(_ tag: DERTag, _ body: (inout DERWriter) throws(E) -> Void) throws(E) {
        var inner = DERWriter()
        try body(&inner)
        primitive(tag, inner.bytes)
    }

    /// As ``constructed(_:_:)``, but with BER's indefinite length: what Apple's signatures are made of.
    public mutating func indefinite<E: Error>(_ tag: DERTag, _ body: (inout DERWriter) throws(E) -> Void) throws(E) {
        bytes.append(tag.constructed.rawValue)
        bytes.append(0x80)
        try body(&self)
        bytes.append(0)
        bytes.append(0)
    }

    /// A SET OF these encodings, in DER's order.
    /// - Source: ITU-T X.690, 11.6.
    public mutating func setOf(_ elements: [[UInt8]]) {
        primitive(.set, elements.sorted { $0.lexicographicallyPrecedes($1) }.joined())
    }

    /// An element with this content.
    public mutating func primitive(_ tag: DERTag, _ content: some Sequence<UInt8>) {
        let content = Array(content)
        bytes.append(tag.rawValue)
        length(content.count)
        bytes.append(contentsOf: content)
    }

    /// Bytes that are an encoding already.
    public mutating func raw(_ encoding: some Sequence<UInt8>) { bytes.append(contentsOf: encoding) }

    public mutating func boolean(_ value: Bool) { primitive(.boolean, [value ? 0xff : 0x00]) }
    public mutating func null() { primitive(.null, []) }
    public mutating func objectIdentifier(_ oid: OID) { primitive(.objectIdentifier, oid.content) }
    public mutating func octetString(_ content: some Sequence<UInt8>) { primitive(.octetString, content) }
    public mutating func bitString(_ content: some Sequence<UInt8>) { primitive(.bitString, [0] + Array(content)) }
    public mutating func utf8String(_ text: String) { primitive(.utf8String, text.utf8) }
    public mutating func printableString(_ text: String) { primitive(.printableString, text.utf8) }
    public mutating func ia5String(_ text: String) { primitive(.ia5String, text.utf8) }

    /// A BIT STRING of named flags: bit `n` of `flags` is flag `n` of the standard; trailing zero bits are left out (X.690, 11.2.2).
    public mutating func bitString(flags: UInt32) {
        guard flags != 0 else { return primitive(.bitString, [0]) }
        let last = 31 - flags.leadingZeroBitCount
        var content = [UInt8](repeating: 0, count: last / 8 + 2)
        content[0] = UInt8(7 - last % 8)
        for bit in 0...last where flags & 1 << UInt32(bit) != 0 { content[1 + bit / 8] |= 0x80 >> UInt8(bit % 8) }
        primitive(.bitString, content)
    }

    public mutating func integer(_ value: Int) {
        var content: [UInt8] = []
        var rest = value
        repeat {
            content.insert(UInt8(truncatingIfNeeded: rest), at: 0)
            rest >>= 8
        } while !(rest == 0 && content[0] < 0x80) && !(rest == -1 && content[0] >= 0x80)
        primitive(.integer, content)
    }

    /// An INTEGER ≥ 0 from its big-endian magnitude; leading zero bytes do not matter.
    public mutating func integer(magnitude: some Sequence<UInt8>) {
        var content = Array(magnitude.drop { $0 == 0 })
        if content.isEmpty || content[0] >= 0x80 { content.insert(0, at: 0) }
        primitive(.integer, content)
    }

    /// A time as X.509 and CMS want it: UTCTime from 1950 to 2049, GeneralizedTime outside; whole seconds.
    /// - Source: RFC 5280, 4.1.2.5; RFC 5652, 11.3.
    public mutating func time(_ time: Timestamp) {
        let digits = time.rfc3339.utf8.filter { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } + [UInt8(ascii: "Z")]
        if (1950..<2050).contains(time.year) {
            primitive(.utcTime, digits.dropFirst(2))
        } else {
            primitive(.generalizedTime, digits)
        }
    }

    private mutating func length(_ count: Int) {
        guard count >= 0x80 else { return bytes.append(UInt8(count)) }
        let width = (Int.bitWidth - count.leadingZeroBitCount + 7) / 8
        bytes.append(0x80 | UInt8(width))
        for byte in stride(from: width - 1, through: 0, by: -1) { bytes.append(UInt8(truncatingIfNeeded: count >> (8 * byte))) }
    }
}
