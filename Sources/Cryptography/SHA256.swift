internal import CLibcrypto
public import Encodings

/// SHA-256 (FIPS 180-4).
public enum SHA256 {
    public static func digest(_ bytes: [UInt8]) -> Digest256 {
        var hasher = Hasher()
        hasher.update(bytes)
        return hasher.finish()
    }

    public static func digest(_ bytes: ArraySlice<UInt8>) -> Digest256 {
        var hasher = Hasher()
        hasher.update(bytes)
        return hasher.finish()
    }

    /// Of the parts one after the other.
    public static func digest(_ parts: [UInt8]...) -> Digest256 {
        var hasher = Hasher()
        for part in parts { hasher.update(part) }
        return hasher.finish()
    }

    /// A digest in the making: takes any number of parts without joining them, allocates nothing and cannot fail.
    public struct Hasher: Sendable {
        private var state = SHA256_CTX()

        public init() { unsafe coster_sha256_init(&state) }

        public mutating func update(_ bytes: [UInt8]) {
            unsafe bytes.withUnsafeBytes { unsafe update($0) }
        }

        public mutating func update(_ bytes: ArraySlice<UInt8>) {
            unsafe bytes.withUnsafeBytes { unsafe update($0) }
        }

        public mutating func update(_ byte: UInt8) {
            unsafe withUnsafeBytes(of: byte) { unsafe update($0) }
        }

        public mutating func update(_ digest: Digest256) {
            let words = digest.bigEndianWords
            let bytes = (words.0.bigEndian, words.1.bigEndian, words.2.bigEndian, words.3.bigEndian)
            unsafe withUnsafeBytes(of: bytes) { unsafe update($0) }
        }

        @unsafe public mutating func update(_ bytes: UnsafeRawBufferPointer) {
            unsafe coster_sha256_update(&state, bytes.baseAddress, bytes.count)
        }

        /// The digest of all that was given, into 32 bytes of the caller's; the hasher is spent and wiped.
        @unsafe public mutating func finish(into memory: UnsafeMutableRawBufferPointer) {
            unsafe coster_sha256_final(&state, memory.bindMemory(to: UInt8.self).baseAddress)
            unsafe OPENSSL_cleanse(&state, MemoryLayout<SHA256_CTX>.size)
        }

        /// The digest of all that was given; the hasher is spent and wiped.
        public mutating func finish() -> Digest256 {
            var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
            unsafe withUnsafeMutableBytes(of: &words) { unsafe finish(into: $0) }
            return Digest256(bigEndianWords: (words.0.bigEndian, words.1.bigEndian, words.2.bigEndian, words.3.bigEndian))
        }
    }
}
