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
        let bytes = Array(text.utf8)
        let prefix = Array(Kind.prefix.utf8)
        guard bytes.count == prefix.count + 33, bytes.starts(with: prefix), bytes[prefix.count] == UInt8(ascii: "_") else { return nil }
        var bits: UInt128 = 0
        for byte in bytes[(prefix.count + 1)...] {
            guard let value = Hex.value(byte), !(UInt8(ascii: "A")...UInt8(ascii: "F")).contains(byte) else { return nil }
            bits = bits << 4 | UInt128(value)
        }
        self.init(bits: bits)
    }

    public var text: String {
        var bytes: [UInt8] = []
        for shift in stride(from: 120, through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: bits >> UInt128(shift))) }
        return Kind.prefix + "_" + Hex.encode(bytes)
    }

    public var description: String { text }
    public static func < (left: RecordID, right: RecordID) -> Bool { left.bits < right.bits }
}
