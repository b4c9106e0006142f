/// The 32 bytes of a SHA-256 digest, held inline (no allocation), compared byte for byte.
public struct Digest256: Hashable, Sendable {
    private let words: (UInt64, UInt64, UInt64, UInt64)  // big-endian

    /// Nil unless `bytes` are exactly 32.
    @specialized(where Bytes == [UInt8])
    @specialized(where Bytes == ArraySlice<UInt8>)
    public init?<Bytes: Collection<UInt8>>(_ bytes: Bytes) {
        guard bytes.count == 32 else { return nil }
        var words: [4 of UInt64] = .init(repeating: 0)
        var index = 0
        for byte in bytes {
            words[index / 8] = words[index / 8] << 8 | UInt64(byte)
            index += 1
        }
        self.words = (words[0], words[1], words[2], words[3])
    }

    /// From four words, the first eight bytes in the first.
    public init(bigEndianWords words: (UInt64, UInt64, UInt64, UInt64)) { self.words = words }

    /// The 32 bytes as four words, without an allocation.
    public var bigEndianWords: (UInt64, UInt64, UInt64, UInt64) { words }

    /// From 64 hex digits, or from base64 or base64url of 32 bytes; otherwise nil.
    public init?(text: String) {
        if text.utf8.count == 64, let bytes = Hex.decode(text) {
            self.init(bytes)
        } else if text.utf8.count <= 44, let bytes = Base64.decode(text) {
            self.init(bytes)
        } else {
            return nil
        }
    }

    public var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(32)
        append(words.0)
        append(words.1)
        append(words.2)
        append(words.3)
        return bytes

        func append(_ word: UInt64) {
            for byte in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(56 - byte * 8))) }
        }
    }

    /// 64 lower-case digits.
    public var hex: String { Hex.encode(bytes) }
    /// Standard base64, 44 characters: the form in which Apple writes `publicKeyHash`.
    public var base64: String { Base64.encode(bytes) }

    public static func == (left: Digest256, right: Digest256) -> Bool { left.words == right.words }

    public func hash(into hasher: inout Hasher) {
        // Already uniform: one word is enough.
        hasher.combine(words.3)
    }
}
