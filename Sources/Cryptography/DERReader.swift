public import Encodings

/// Why bytes are not the ASN.1 that was expected, and where.
public struct DERError: Error, Equatable, Sendable, CustomStringConvertible {
    public enum Reason: String, Sendable {
        /// The bytes end inside an element.
        case truncated
        /// Against the encoding rules: length form, padding, indefinite length where DER is asked for, tag numbers above 30.
        case encoding
        /// A well-formed element, but not the one that must stand here.
        case unexpected
        /// A value outside its type: a date that does not exist, text that is not in its alphabet.
        case value
        /// Nested deeper than ``DERReader/maximumDepth``.
        case tooDeep
        /// Bytes after the last element.
        case trailing
    }

    public let reason: Reason
    /// Byte offset in the reader's array.
    public let offset: Int

    public init(_ reason: Reason, at offset: Int) {
        self.reason = reason
        self.offset = offset
    }

    public var description: String { "\(reason.rawValue) at byte \(offset)" }
}

/// One element as it lies in the reader's array.
public struct DERElement: Hashable, Sendable {
    public let tag: DERTag
    /// The content, without header and, where the length is indefinite, without the two closing zero bytes.
    public let content: Range<Int>
    /// Header, content and closing zero bytes.
    public let whole: Range<Int>
    /// BER only.
    public var isIndefinite: Bool { whole.upperBound != content.upperBound }
}

/// A cursor over the elements of one DER (or, where asked for, BER) value. It copies no byte: elements are ranges into ``bytes``.
///
/// Walking into an element gives a new reader, so no input decides how deep the stack grows; each reader is bounded by its element.
/// DER: definite lengths in their shortest form. BER adds indefinite lengths, longer length forms and strings in segments.
/// - Source: ITU-T X.690 (2015), 8.1 (BER) and 10.1 (DER).
public struct DERReader: Sendable {
    public enum Rules: Sendable { case der, ber }

    /// How many levels one value may have.
    public static let maximumDepth = 32

    public let bytes: [UInt8]
    public let rules: Rules
    /// Where the next element begins.
    public private(set) var position: Int
    /// Where this reader's element ends.
    public let end: Int
    private let depth: Int

    /// Over the whole of `bytes`.
    public init(_ bytes: [UInt8], rules: Rules = .der) {
        self.init(bytes, in: 0..<bytes.count, rules: rules)
    }

    /// Over one range of `bytes`; the range is cut to the array's.
    public init(_ bytes: [UInt8], in range: Range<Int>, rules: Rules = .der) {
        let range = range.clamped(to: 0..<bytes.count)
        self.init(bytes, range, rules, depth: 0)
    }

    private init(_ bytes: [UInt8], _ range: Range<Int>, _ rules: Rules, depth: Int) {
        self.bytes = bytes
        self.rules = rules
        self.position = range.lowerBound
        self.end = range.upperBound
        self.depth = depth
    }

    public var isAtEnd: Bool { position >= end }

    /// The tag of the next element, unread; nil at the end.
    public var nextTag: DERTag? { position < end ? DERTag(rawValue: bytes[position]) : nil }

    /// Reads one element of any tag.
    public mutating func next() throws(DERError) -> DERElement {
        let element = try element(at: position)
        position = element.whole.upperBound
        return element
    }

    /// Reads one element that must have this tag.
    public mutating func next(_ tag: DERTag) throws(DERError) -> DERElement {
        guard let found = nextTag else { throw DERError(.truncated, at: position) }
        guard found == tag else { throw DERError(.unexpected, at: position) }
        return try next()
    }

    /// Reads the next element if it has this tag.
    public mutating func nextIfPresent(_ tag: DERTag) throws(DERError) -> DERElement? {
        nextTag == tag ? try next() : nil
    }

    /// Reads one constructed element and gives a reader for its content.
    public mutating func enter(_ tag: DERTag) throws(DERError) -> DERReader {
        try inside(try next(tag))
    }

    /// A reader for the content of a constructed element read here.
    public func inside(_ element: DERElement, rules: Rules? = nil) throws(DERError) -> DERReader {
        guard depth < DERReader.maximumDepth else { throw DERError(.tooDeep, at: element.whole.lowerBound) }
        return DERReader(bytes, element.content, rules ?? self.rules, depth: depth + 1)
    }

    /// Throws unless everything was read.
    public func finish() throws(DERError) {
        guard isAtEnd else { throw DERError(.trailing, at: position) }
    }

    // MARK: Elements

    private func element(at start: Int) throws(DERError) -> DERElement {
        let (tag, content, length) = try header(at: start)
        if let length {
            return DERElement(tag: tag, content: content..<content + length, whole: start..<content + length)
        }
        let close = try endOfContents(from: content)
        return DERElement(tag: tag, content: content..<close, whole: start..<close + 2)
    }

    /// Tag, start of the content, and length (nil: indefinite; then only known to begin inside the bounds).
    private func header(at start: Int) throws(DERError) -> (tag: DERTag, content: Int, length: Int?) {
        guard start + 1 < end else { throw DERError(.truncated, at: start) }
        let tag = DERTag(rawValue: bytes[start])
        guard tag.rawValue & 0x1f != 0x1f, tag.rawValue != 0 else { throw DERError(.encoding, at: start) }
        let first = bytes[start + 1]
        var content = start + 2
        var length = Int(first)
        if first == 0x80 {
            guard rules == .ber, tag.isConstructed else { throw DERError(.encoding, at: start) }
            return (tag, content, nil)
        }
        if first > 0x80 {
            let count = Int(first & 0x7f)
            guard count <= 4 else { throw DERError(.encoding, at: start) }
            guard content + count <= end else { throw DERError(.truncated, at: start) }
            length = 0
            for index in content..<content + count { length = length << 8 | Int(bytes[index]) }
            guard rules == .ber || (length >= 0x80 && bytes[content] != 0) else { throw DERError(.encoding, at: start) }
            content += count
        }
        guard length <= end - content else { throw DERError(.truncated, at: start) }
        return (tag, content, length)
    }

    /// Finds the two zero bytes that close the indefinite element whose content begins at `start`. A counter serves: definite elements inside
    /// are stepped over whole.
    private func endOfContents(from start: Int) throws(DERError) -> Int {
        var position = start
        var open = 1
        while position + 1 < end {
            if bytes[position] == 0, bytes[position + 1] == 0 {
                open -= 1
                if open == 0 { return position }
                position += 2
                continue
            }
            let (_, content, length) = try header(at: position)
            position = content + (length ?? 0)
            if length == nil { open += 1 }
            guard depth + open <= DERReader.maximumDepth else { throw DERError(.tooDeep, at: position) }
        }
        throw DERError(.truncated, at: start)
    }
}

// MARK: - Values

extension DERReader {
    /// Reads an INTEGER in its shortest form; the content, sign bit and all.
    public mutating func integer() throws(DERError) -> Range<Int> {
        let element = try next(.integer)
        let content = element.content
        guard let first = bytes[content].first else { throw DERError(.encoding, at: content.lowerBound) }
        if content.count > 1 {
            let second = bytes[content.lowerBound + 1]
            guard !(first == 0 && second < 0x80), !(first == 0xff && second >= 0x80) else { throw DERError(.encoding, at: content.lowerBound) }
        }
        return content
    }

    /// Reads an INTEGER from 0 to 2³¹ − 1.
    public mutating func smallInteger() throws(DERError) -> Int {
        let content = try integer()
        guard content.count <= 4, bytes[content.lowerBound] < 0x80 else { throw DERError(.value, at: content.lowerBound) }
        return bytes[content].reduce(0) { $0 << 8 | Int($1) }
    }

    /// Reads an INTEGER ≥ 0; its magnitude without a leading zero byte (one zero byte for 0).
    public mutating func unsignedInteger() throws(DERError) -> Range<Int> {
        let content = try integer()
        guard bytes[content.lowerBound] < 0x80 else { throw DERError(.value, at: content.lowerBound) }
        return content.count > 1 && bytes[content.lowerBound] == 0 ? content.lowerBound + 1..<content.upperBound : content
    }

    public mutating func boolean() throws(DERError) -> Bool {
        let content = try next(.boolean).content
        guard content.count == 1 else { throw DERError(.encoding, at: content.lowerBound) }
        switch bytes[content.lowerBound] {
        case 0x00: return false
        case 0xff: return true
        case _ where rules == .ber: return true
        default: throw DERError(.encoding, at: content.lowerBound)
        }
    }

    public mutating func null() throws(DERError) {
        let content = try next(.null).content
        guard content.isEmpty else { throw DERError(.encoding, at: content.lowerBound) }
    }

    public mutating func objectIdentifier() throws(DERError) -> OID {
        let content = try next(.objectIdentifier).content
        guard let oid = OID(content: bytes[content]) else { throw DERError(.encoding, at: content.lowerBound) }
        return oid
    }

    /// Reads a primitive OCTET STRING; its content.
    public mutating func octetString() throws(DERError) -> Range<Int> {
        try next(.octetString).content
    }

    /// Reads an OCTET STRING, under `tag` when it is IMPLICIT; in BER also one in segments, joined here.
    public mutating func octets(_ tag: DERTag = .octetString) throws(DERError) -> ArraySlice<UInt8> {
        if let plain = try nextIfPresent(tag) { return bytes[plain.content] }
        guard rules == .ber else { throw DERError(.unexpected, at: position) }
        var joined: [UInt8] = []
        var readers = [try enter(tag.constructed)]
        while var reader = readers.popLast() {
            guard !reader.isAtEnd else { continue }
            if let plain = try reader.nextIfPresent(.octetString) {
                joined.append(contentsOf: bytes[plain.content])
                readers.append(reader)
            } else {
                let segments = try reader.enter(DERTag.octetString.constructed)
                readers.append(reader)
                readers.append(segments)
            }
        }
        return joined[...]
    }

    /// Reads a BIT STRING of whole bytes; the content after the count of unused bits, which must be 0.
    public mutating func bitStringOfBytes() throws(DERError) -> Range<Int> {
        let content = try next(.bitString).content
        guard let unused = bytes[content].first, unused == 0 else { throw DERError(.encoding, at: content.lowerBound) }
        return content.lowerBound + 1..<content.upperBound
    }

    /// Reads a BIT STRING of named flags, at most 32; flag `n` of the standard is bit `n` of the result.
    public mutating func bitStringOfFlags() throws(DERError) -> UInt32 {
        let content = try next(.bitString).content
        guard let unused = bytes[content].first, unused < 8, content.count <= 5, content.count > 1 || unused == 0 else {
            throw DERError(.encoding, at: content.lowerBound)
        }
        var flags: UInt32 = 0
        for (index, byte) in bytes[content].dropFirst().enumerated() {
            for bit in 0..<8 where byte & (0x80 >> UInt8(bit)) != 0 { flags |= 1 << UInt32(index * 8 + bit) }
        }
        return flags
    }

    /// Reads a UTCTime or GeneralizedTime in the one form DER and RFC 5280 (4.1.2.5) allow: seconds, `Z`, no fraction.
    public mutating func time() throws(DERError) -> Timestamp {
        let element = try next()
        let start = element.content.lowerBound
        let yearDigits: Int
        switch element.tag {
        case .utcTime: yearDigits = 2
        case .generalizedTime: yearDigits = 4
        default: throw DERError(.unexpected, at: element.whole.lowerBound)
        }
        guard element.content.count == yearDigits + 11, bytes[element.content.upperBound - 1] == UInt8(ascii: "Z") else {
            throw DERError(.value, at: start)
        }
        var value = 0
        for index in start..<element.content.upperBound - 1 {
            let digit = bytes[index] &- UInt8(ascii: "0")
            guard digit < 10 else { throw DERError(.value, at: start) }
            value = value * 10 + Int(digit)
        }
        var year = value / 10_000_000_000
        if yearDigits == 2 { year += year < 50 ? 2000 : 1900 }
        let (date, clock) = (value / 1_000_000 % 10_000, value % 1_000_000)
        guard
            let time = Timestamp(
                year: year, month: date / 100, day: date % 100, hour: clock / 10_000, minute: clock / 100 % 100, second: clock % 100)
        else { throw DERError(.value, at: start) }
        return time
    }

    /// Reads any of ASN.1's character strings.
    public mutating func text() throws(DERError) -> String {
        let element = try next()
        let content = bytes[element.content]
        let text: String?
        switch element.tag {
        case .utf8String: text = String(validating: content, as: UTF8.self)
        case .printableString, .ia5String, .visibleString: text = content.allSatisfy { $0 < 0x80 } ? String(decoding: content, as: UTF8.self) : nil
        case .teletexString: text = String(String.UnicodeScalarView(content.map { Unicode.Scalar($0) }))  // read as Latin-1, as everybody does
        case .bmpString: text = DERReader.text(bigEndian: content, unitBytes: 2)
        case .universalString: text = DERReader.text(bigEndian: content, unitBytes: 4)
        default: throw DERError(.unexpected, at: element.whole.lowerBound)
        }
        guard let text else { throw DERError(.value, at: element.content.lowerBound) }
        return text
    }

    private static func text(bigEndian content: ArraySlice<UInt8>, unitBytes: Int) -> String? {
        guard content.count.isMultiple(of: unitBytes) else { return nil }
        var units: [UInt32] = []
        for (index, byte) in content.enumerated() {
            if index.isMultiple(of: unitBytes) { units.append(0) }
            units[units.count - 1] = units[units.count - 1] << 8 | UInt32(byte)
        }
        return unitBytes == 2 ? String(validating: units.map { UInt16($0) }, as: UTF16.self) : String(validating: units, as: UTF32.self)
    }
}
