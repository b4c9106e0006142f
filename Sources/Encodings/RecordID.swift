/// What an id names; its prefix stands in the id's text.
public protocol RecordKind: Sendable {
    /// Lower-case letters, without the underscore: `cert`.
    static var prefix: String { get }
}

/// An id: a prefix and 128 bits, as `cert_` and 32 lower-case hex digits.
public struct RecordID<Kind: RecordKind>: Hashable, Sendable, CustomStringConvertible, Comparable {
    // Two words, not one UInt128: an `async` function that is given a UInt128 on the stack returns to nowhere (Swift 6.3.1, x86-64: caller and callee
    // disagree on the alignment, so on how much to take off).
    private let high: UInt64
    private let low: UInt64

    /// The 128 bits.
    public var bits: UInt128 { UInt128(high) << 64 | UInt128(low) }

    /// 128 random bits from the system's generator.
    public static func random() -> RecordID {
        var generator = SystemRandomNumberGenerator()
        return RecordID(bits: UInt128(generator.next()) << 64 | UInt128(generator.next()))
    }

    public init(bits: UInt128) {
        high = UInt64(truncatingIfNeeded: bits >> 64)
        low = UInt64(truncatingIfNeeded: bits)
    }

    /// Reads an id's text; nil for another prefix or form. Upper-case digits are refused: an id has one spelling.
    public init?(_ text: String) {
        let prefix = Kind.prefix.utf8
        guard text.utf8.count == prefix.count + 33, text.utf8.starts(with: prefix) else { return nil }
        var words: (UInt64, UInt64) = (0, 0)
        var position = -prefix.count - 1
        for byte in text.utf8 {
            position += 1
            if position < 0 { continue }
            if position == 0 {
                guard byte == UInt8(ascii: "_") else { return nil }
                continue
            }
            guard let value = Hex.value(byte), !(UInt8(ascii: "A")...UInt8(ascii: "F")).contains(byte) else { return nil }
            if position <= 16 { words.0 = words.0 << 4 | UInt64(value) } else { words.1 = words.1 << 4 | UInt64(value) }
        }
        self.init(bits: UInt128(words.0) << 64 | UInt128(words.1))
    }

    public var text: String {
        let prefix = Kind.prefix.utf8
        let words = (UInt64(truncatingIfNeeded: bits >> 64), UInt64(truncatingIfNeeded: bits))
        // One allocation for the bytes and one for the text: ids are written several times in each request.
        let bytes = [UInt8](capacity: prefix.count + 33) { (bytes: inout OutputSpan<UInt8>) in
            for byte in prefix { bytes.append(byte) }
            bytes.append(UInt8(ascii: "_"))
            for shift in stride(from: UInt64(60), through: 0, by: -4) { bytes.append(Hex.digit(UInt8(truncatingIfNeeded: words.0 >> shift) & 15)) }
            for shift in stride(from: UInt64(60), through: 0, by: -4) { bytes.append(Hex.digit(UInt8(truncatingIfNeeded: words.1 >> shift) & 15)) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    public var description: String { text }
    public static func < (left: RecordID, right: RecordID) -> Bool { left.bits < right.bits }
}
