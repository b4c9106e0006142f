public import Encodings
public import Problems

/// What an ECDH agreement gives: the x-coordinate, exactly 32 bytes, leading zeros kept. In the secure heap, wiped when it goes.
///
/// It has one use, so no raw secret ever serves as a key.
public struct SharedSecret: ~Copyable, Sendable {
    private let bytes: SecureBuffer

    init(_ bytes: consuming SecureBuffer) { self.bytes = bytes }

    /// The concatenation KDF with SHA-256, one round, 32 bytes out: `SHA-256(00000001 ‖ Z ‖ n ‖ algorithmID ‖ partyUInfo ‖ partyVInfo)`,
    /// where `n` is one byte, the length of `algorithmID`; the party infos carry no length, as Apple's profile has it.
    /// - Source: NIST SP 800-56A (2007), 5.8.1.
    public consuming func deriveKey(algorithmID: [UInt8], partyUInfo: [UInt8], partyVInfo: Digest256) throws(Problem) -> ContentKey {
        var hasher = SHA256.Hasher()
        for byte: UInt8 in [0, 0, 0, 1] { hasher.update(byte) }
        unsafe bytes.withUnsafeBytes { unsafe hasher.update($0) }
        hasher.update(UInt8(truncatingIfNeeded: algorithmID.count))
        hasher.update(algorithmID)
        hasher.update(partyUInfo)
        hasher.update(partyVInfo)
        return try ContentKey(unsafe SecureBuffer(count: 32) { (memory) throws(Problem) in unsafe hasher.finish(into: memory) })
    }

    /// Whether the first byte is zero, as it is once in 256: programs that drop it fail then. For the sandbox, which looks for such a secret.
    public var beginsWithZero: Bool { unsafe bytes.withUnsafeBytes { unsafe $0.first == 0 } }

    /// For the tests of this room: whether these bytes are the secret, and the bytes themselves.
    func equals(_ expected: [UInt8]) -> Bool { unsafe bytes.withUnsafeBytes { unsafe $0.elementsEqual(expected) } }
    @unsafe func withBytesForTest(_ body: (UnsafeRawBufferPointer) -> Void) { unsafe bytes.withUnsafeBytes(body) }
}
