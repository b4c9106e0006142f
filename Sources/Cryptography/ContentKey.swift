internal import CLibcrypto
internal import Encodings
public import Problems
public import Secrets

/// The AES-GCM key of one payment token: 16 or 32 bytes in the secure heap, used once and wiped.
///
/// The nonce is **16** zero bytes, which GCM puts through GHASH (not the 12 it takes as they are); there is no associated data, and the last 16 bytes
/// are the tag. A nonce that never changes is sound here because each key seals one message only, which `consuming` holds us to.
/// - Source: Apple, "Payment token format reference"; NIST SP 800-38D, 7.1.
public struct ContentKey: ~Copyable, Sendable {
    private let bytes: SecureBuffer

    /// - Throws: `cryptography.key_length` unless `secret` has 16 or 32 bytes.
    public init(_ secret: SecretBytes) throws(Problem) {
        guard secret.count == 16 || secret.count == 32 else { throw .cryptography(.keyLength) }
        bytes = try SecureBuffer(copying: secret)
    }

    init(_ bytes: consuming SecureBuffer) { self.bytes = bytes }

    /// The plaintext, or nil, whatever the reason: nothing is given out before OpenSSL has verified the tag, and what it had written is wiped.
    public consuming func open(_ sealed: [UInt8]) -> SecretBytes? {
        guard sealed.count >= AESGCM.tagBytes else { return nil }
        return unsafe bytes.withUnsafeBytes { unsafe AESGCM.open(sealed[...], key: $0, nonce: zeroNonce[...], associatedData: []) }
    }

    /// `ciphertext ‖ tag`: the sandbox's side.
    /// - Parameter nonceBytes: another number than Apple's 16 makes a token that must not open.
    public consuming func seal(_ plaintext: SecretBytes, nonceBytes: Int = 16) throws(Problem) -> [UInt8] {
        let nonce = [UInt8](repeating: 0, count: nonceBytes)
        return try unsafe bytes.withUnsafeBytes { (key) throws(Problem) in
            try unsafe AESGCM.seal(plaintext, key: key, nonce: nonce[...], associatedData: [], into: [])
        }
    }

    /// For the tests of this room: whether these bytes are the key.
    func equals(_ expected: [UInt8]) -> Bool { unsafe bytes.withUnsafeBytes { unsafe $0.elementsEqual(expected) } }
}

private let zeroNonce = [UInt8](repeating: 0, count: 16)
