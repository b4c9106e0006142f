public import Problems
public import Secrets

/// A 32-byte key for AES-256-GCM: key-encrypting and data-encrypting keys are built on it. In the secure heap, wiped when the last reference goes.
///
/// Nonces are 12 random bytes, so one key may seal 2³² times (NIST SP 800-38D, 8.3); a key that seals one private key, or wraps one key each time
/// a certificate is made, stays far below.
public final class AEADKey: Sendable {
    private let bytes: SecureBuffer

    public static func generate() throws(Problem) -> AEADKey {
        AEADKey(try unsafe SecureBuffer(count: 32) { (memory) throws(Problem) in try unsafe SecureRandom.fill(memory) })
    }

    /// - Throws: `cryptography.key_length` unless `secret` has 32 bytes.
    public init(_ secret: SecretBytes) throws(Problem) {
        guard secret.count == 32 else { throw .cryptography(.keyLength) }
        bytes = try SecureBuffer(copying: secret)
    }

    private init(_ bytes: consuming SecureBuffer) { self.bytes = bytes }

    /// `nonce(12) ‖ ciphertext ‖ tag(16)`.
    public func seal(_ plaintext: SecretBytes, associatedData: [UInt8]) throws(Problem) -> [UInt8] {
        let nonce = try SecureRandom.bytes(AEADKey.nonceBytes)
        return try unsafe bytes.withUnsafeBytes { (key) throws(Problem) in
            try unsafe AESGCM.seal(plaintext, key: key, nonce: nonce[...], associatedData: associatedData, into: nonce)
        }
    }

    /// - Throws: `cryptography.seal_broken` when the bytes, the associated data or the key are others than at ``seal(_:associatedData:)``.
    public func open(_ sealed: [UInt8], associatedData: [UInt8]) throws(Problem) -> SecretBytes {
        guard sealed.count >= AEADKey.nonceBytes + AESGCM.tagBytes else { throw .cryptography(.sealBroken) }
        let (nonce, rest) = (sealed[..<AEADKey.nonceBytes], sealed[AEADKey.nonceBytes...])
        let plaintext = unsafe bytes.withUnsafeBytes { unsafe AESGCM.open(rest, key: $0, nonce: nonce, associatedData: associatedData) }
        guard let plaintext else { throw .cryptography(.sealBroken) }
        return plaintext
    }

    /// The key itself, to be wrapped under another. One search for this name finds every exit.
    public func exportedForWrapping() -> SecretBytes { unsafe bytes.withUnsafeBytes { unsafe SecretBytes(copying: $0) } }

    /// For the tests of this room.
    var isInSecureHeap: Bool { bytes.isInSecureHeap }

    private static let nonceBytes = 12
}
