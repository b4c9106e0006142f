/// Bytes as base64 text.
///
/// Reading is tolerant as this field needs it (`cases.md` C19, C21): both alphabets, also mixed; padding right, short or absent; ASCII white space
/// anywhere. It is strict in the rest: any other character, a lone last character, or anything after the padding is nil.
/// Not constant-time: secrets are compared after decoding, never by their text.
public enum Base64 {
    /// Standard alphabet, padded, one line.
    @specialized(where Bytes == [UInt8])
    @specialized(where Bytes == ArraySlice<UInt8>)
    public static func encode<Bytes: Collection<UInt8>>(_ bytes: Bytes) -> String {
        String(decoding: encodeToBytes(bytes, alphabet: standard, padded: true), as: UTF8.self)
    }

    /// URL alphabet, no padding.
    @specialized(where Bytes == [UInt8])
    @specialized(where Bytes == ArraySlice<UInt8>)
    public static func encodeURL<Bytes: Collection<UInt8>>(_ bytes: Bytes) -> String {
        String(decoding: encodeToBytes(bytes, alphabet: url, padded: false), as: UTF8.self)
    }

    public static func decode(_ text: String) -> [UInt8]? { decode(Array(text.utf8)[...]) }

    /// The bytes that `text` (ASCII) stands for, or nil.
    public static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        let table = values
        let characters = text.span
        var isLegal = true
        let bytes = [UInt8](capacity: characters.count / 4 * 3 + 3) { (bytes: inout OutputSpan<UInt8>) in
            let values = table.span
            var index = 0
            // Whole groups of an unbroken text, four characters at a time: nearly all there is of nearly every text.
            while index + 4 <= characters.count {
                let (a, b) = (values[Int(characters[index])], values[Int(characters[index + 1])])
                let (c, d) = (values[Int(characters[index + 2])], values[Int(characters[index + 3])])
                guard (a | b | c | d) < 64 else { break }
                bytes.append(a << 2 | b >> 4)
                bytes.append(b << 4 | c >> 2)
                bytes.append(c << 6 | d)
                index += 4
            }
            isLegal = decode(characters, from: index, with: values, into: &bytes)
        }
        return isLegal ? bytes : nil
    }

    /// The rest, character by character: blanks, padding, and where it is broken. False when it is no base64.
    private static func decode(
        _ characters: Span<UInt8>, from start: Int, with values: Span<UInt8>, into bytes: inout OutputSpan<UInt8>
    ) -> Bool {
        var group: UInt32 = 0
        var held = 0
        var padding = 0
        for index in start..<characters.count {
            let value = values[Int(characters[index])]
            if value < 64 {
                guard padding == 0 else { return false }
                group = group << 6 | UInt32(value)
                held += 1
                if held == 4 {
                    bytes.append(UInt8(truncatingIfNeeded: group >> 16))
                    bytes.append(UInt8(truncatingIfNeeded: group >> 8))
                    bytes.append(UInt8(truncatingIfNeeded: group))
                    group = 0
                    held = 0
                }
            } else if value == pad {
                padding += 1
            } else if value != blank {
                return false
            }
        }
        switch held {
        case 0: return padding == 0
        case 2:
            // The unused low bits are not looked at: encoders that leave rubbish there exist, and nothing here compares base64 text.
            guard padding <= 2 else { return false }
            bytes.append(UInt8(truncatingIfNeeded: group >> 4))
            return true
        case 3:
            guard padding <= 1 else { return false }
            bytes.append(UInt8(truncatingIfNeeded: group >> 10))
            bytes.append(UInt8(truncatingIfNeeded: group >> 2))
            return true
        default: return false
        }
    }

    private static let standard = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let url = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    // Both beyond the six bits of a value, so that one comparison tells four values from anything else.
    private static let blank: UInt8 = 64
    private static let pad: UInt8 = 65
    private static let values: [UInt8] = {
        var table = [UInt8](repeating: 255, count: 256)
        for alphabet in [standard, url] {
            for (value, character) in alphabet.enumerated() { table[Int(character)] = UInt8(value) }
        }
        for character in " \t\r\n".utf8 { table[Int(character)] = blank }
        table[Int(UInt8(ascii: "="))] = pad
        return table
    }()

    private static func encodeToBytes(_ bytes: some Collection<UInt8>, alphabet: [UInt8], padded: Bool) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        var group: UInt32 = 0
        var held = 0
        for byte in bytes {
            group = group << 8 | UInt32(byte)
            held += 1
            if held == 3 {
                text.append(alphabet[Int(group >> 18 & 63)])
                text.append(alphabet[Int(group >> 12 & 63)])
                text.append(alphabet[Int(group >> 6 & 63)])
                text.append(alphabet[Int(group & 63)])
                group = 0
                held = 0
            }
        }
        if held == 1 {
            text.append(alphabet[Int(group >> 2 & 63)])
            text.append(alphabet[Int(group << 4 & 63)])
            if padded { text.append(contentsOf: "==".utf8) }
        } else if held == 2 {
            text.append(alphabet[Int(group >> 10 & 63)])
            text.append(alphabet[Int(group >> 4 & 63)])
            text.append(alphabet[Int(group << 2 & 63)])
            if padded { text.append(UInt8(ascii: "=")) }
        }
        return text
    }
}
