internal import CLibcrypto
public import Encodings
public import Problems
public import Secrets

/// A 32-byte key for HMAC-SHA-256. In the secure heap, wiped when the last reference goes.
///
/// Held as the two SHA-256 states that follow the inner and the outer key block: a message then takes no allocation, no lock, and two compressions
/// less than from the key. OpenSSL's own HMAC duplicates a context for each message.
/// - Source: RFC 2104, 4 ("the intermediate results … can be precomputed once"); FIPS 198-1.
@safe public final class MACKey: @unchecked Sendable {
    // Sendable: written by the initialiser, read-only afterwards.

    /// key ‖ inner state ‖ outer state.
    private let bytes: SecureBuffer

    public static func generate() throws(Problem) -> MACKey { try MACKey(try SecureRandom.secret(32)) }

    /// - Throws: `cryptography.key_length` unless `secret` has 32 bytes.
    public init(_ secret: SecretBytes) throws(Problem) {
        guard secret.count == MACKey.keyBytes else { throw .cryptography(.keyLength) }
        bytes = try unsafe SecureBuffer(count: MACKey.outerOffset + MACKey.stateBytes) { (memory) throws(Problem) in
            unsafe secret.withUnsafeBytes { unsafe memory.copyMemory(from: $0) }
            unsafe MACKey.absorb(0x36, memory, at: MACKey.innerOffset)
            unsafe MACKey.absorb(0x5c, memory, at: MACKey.outerOffset)
        }
    }

    /// HMAC-SHA-256 of `bytes`.
    public func authenticate(_ bytes: [UInt8]) -> Digest256 { authenticate(bytes[...]) }

    public func authenticate(_ message: ArraySlice<UInt8>) -> Digest256 {
        unsafe bytes.withUnsafeBytes { memory in
            var state = unsafe memory.loadUnaligned(fromByteOffset: MACKey.innerOffset, as: SHA256_CTX.self)
            var digest: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
            return unsafe withUnsafeMutableBytes(of: &digest) { digest in
                let target = unsafe digest.bindMemory(to: UInt8.self).baseAddress
                unsafe message.withUnsafeBytes { unsafe coster_sha256_update(&state, $0.baseAddress, $0.count) }
                unsafe coster_sha256_final(&state, target)
                unsafe state = memory.loadUnaligned(fromByteOffset: MACKey.outerOffset, as: SHA256_CTX.self)
                unsafe coster_sha256_update(&state, target, digest.count)
                unsafe coster_sha256_final(&state, target)
                unsafe OPENSSL_cleanse(&state, MACKey.stateBytes)
                func word(_ index: Int) -> UInt64 { unsafe digest.load(fromByteOffset: index * 8, as: UInt64.self).bigEndian }
                return Digest256(bigEndianWords: (word(0), word(1), word(2), word(3)))
            }
        }
    }

    /// Whether `mac` is the HMAC of `message`; in constant time.
    public func verify(_ mac: [UInt8], _ message: [UInt8]) -> Bool {
        guard let given = Digest256(mac)?.bigEndianWords else { return false }
        let right = authenticate(message).bigEndianWords
        return (given.0 ^ right.0) | (given.1 ^ right.1) | (given.2 ^ right.2) | (given.3 ^ right.3) == 0
    }

    /// The key itself, to be wrapped under another. One search for this name finds every exit.
    public func exportedForWrapping() -> SecretBytes {
        unsafe bytes.withUnsafeBytes { unsafe SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0[..<MACKey.keyBytes])) }
    }

    /// For the tests of this room.
    var isInSecureHeap: Bool { bytes.isInSecureHeap }

    private static let keyBytes = 32
    private static let stateBytes = MemoryLayout<SHA256_CTX>.size
    private static let innerOffset = 32
    private static let outerOffset = 32 + MemoryLayout<SHA256_CTX>.stride

    /// Puts at `offset` the state that has taken in one block: the key, filled up with zeros, each byte changed by `pad`.
    private static func absorb(_ pad: UInt8, _ memory: UnsafeMutableRawBufferPointer, at offset: Int) {
        unsafe withUnsafeTemporaryAllocation(byteCount: 64, alignment: 16) { block in
            for index in 0..<64 { unsafe block[index] = (index < keyBytes ? memory[index] : 0) ^ pad }
            var state = SHA256_CTX()
            unsafe coster_sha256_init(&state)
            unsafe coster_sha256_update(&state, block.baseAddress, block.count)
            unsafe memory.storeBytes(of: state, toByteOffset: offset, as: SHA256_CTX.self)
            unsafe OPENSSL_cleanse(&state, stateBytes)
            unsafe wipe(block)
        }
    }
}
