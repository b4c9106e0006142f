internal import CLibcrypto
public import Problems
public import Secrets
internal import Synchronization

/// AES on one block, as a permutation of 128-bit numbers: turns a sequence number and random bits into an id that tells nothing, and back.
/// - Source: FIPS 197.
public final class BlockPermutationKey: Sendable {
    private let encryption: Mutex<CipherContext>
    private let decryption: Mutex<CipherContext>

    /// - Throws: `cryptography.key_length` unless `secret` has 16 or 32 bytes.
    public init(_ secret: SecretBytes) throws(Problem) {
        guard secret.count == 16 || secret.count == 32 else { throw .cryptography(.keyLength) }
        encryption = Mutex(try CipherContext(secret, encrypting: 1))
        decryption = Mutex(try CipherContext(secret, encrypting: 0))
    }

    public func encrypt(_ block: UInt128) -> UInt128 { encryption.withLock { $0.apply(to: block) } }

    public func decrypt(_ block: UInt128) -> UInt128 { decryption.withLock { $0.apply(to: block) } }
}

/// An AES context of one direction without chaining and padding. Its key schedule lies in OpenSSL's heap and is wiped when it is freed.
@safe private struct CipherContext: ~Copyable, @unchecked Sendable {
    // Sendable: owned by a mutex.
    private let raw: OpaquePointer

    init(_ secret: SecretBytes, encrypting: Int32) throws(Problem) { unsafe raw = try CipherContext.make(secret, encrypting) }

    deinit { unsafe EVP_CIPHER_CTX_free(raw) }

    private static func make(_ secret: SecretBytes, _ encrypting: Int32) throws(Problem) -> OpaquePointer {
        guard let raw = unsafe EVP_CIPHER_CTX_new() else { throw .libraryFailure("EVP_CIPHER_CTX_new") }
        let cipher = unsafe secret.count == 16 ? Algorithms.aes128Block : Algorithms.aes256Block
        let ready = unsafe secret.withUnsafeBytes { key in
            unsafe EVP_CipherInit_ex2(raw, cipher, key.bindMemory(to: UInt8.self).baseAddress, nil, encrypting, nil) == 1
                && EVP_CIPHER_CTX_set_padding(raw, 0) == 1
        }
        guard ready else {
            unsafe EVP_CIPHER_CTX_free(raw)
            throw .libraryFailure("EVP_CipherInit_ex2")
        }
        return unsafe raw
    }

    borrowing func apply(to block: UInt128) -> UInt128 {
        let input = block.bigEndian
        var output: UInt128 = 0
        var written: Int32 = 0
        // One whole block through a context that is set up: there is no way for this to fail.
        unsafe withUnsafeBytes(of: input) { input in
            unsafe withUnsafeMutableBytes(of: &output) { output in
                _ = unsafe EVP_CipherUpdate(
                    raw, output.bindMemory(to: UInt8.self).baseAddress, &written, input.bindMemory(to: UInt8.self).baseAddress, 16)
            }
        }
        return UInt128(bigEndian: output)
    }
}
