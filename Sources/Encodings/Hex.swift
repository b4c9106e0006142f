/// Bytes as hexadecimal text.
public enum Hex {
    /// Lower-case digits, two a byte.
    @specialized(where Bytes == [UInt8])
    @specialized(where Bytes == ArraySlice<UInt8>)
    public static func encode<Bytes: Collection<UInt8>>(_ bytes: Bytes) -> String {
        String(decoding: encodeToBytes(bytes), as: UTF8.self)
    }

    /// As ``encode(_:)``, as ASCII bytes.
    @specialized(where Bytes == [UInt8])
    @specialized(where Bytes == ArraySlice<UInt8>)
    public static func encodeToBytes<Bytes: Collection<UInt8>>(_ bytes: Bytes) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count * 2)
        for byte in bytes {
            text.append(digit(byte >> 4))
            text.append(digit(byte & 15))
        }
        return text
    }

    /// The bytes of an even number of digits of either case and nothing else; otherwise nil.
    public static func decode(_ text: String) -> [UInt8]? { decode(Array(text.utf8)[...]) }

    /// The bytes of an even number of ASCII digits of either case and nothing else; otherwise nil.
    public static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        guard text.count.isMultiple(of: 2) else { return nil }
        let digits = text.span
        var isLegal = true
        let bytes = [UInt8](capacity: digits.count / 2) { (bytes: inout OutputSpan<UInt8>) in
            for index in stride(from: 0, to: digits.count, by: 2) {
                guard let high = value(digits[index]), let low = value(digits[index + 1]) else {
                    isLegal = false
                    return
                }
                bytes.append(high << 4 | low)
            }
        }
        return isLegal ? bytes : nil
    }

    /// The value of one ASCII hex digit of either case.
    public static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    static func digit(_ nibble: UInt8) -> UInt8 {
        nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "a") + nibble - 10
    }
}
