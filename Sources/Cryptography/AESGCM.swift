internal import CLibcrypto
internal import Problems
internal import Secrets

/// AES-GCM with a key of 16 or 32 bytes, a nonce of any length from 1 to 128 and a 16-byte tag behind the ciphertext.
///
/// A context for each call: one kept for reuse would keep the key schedule with it.
/// - Source: NIST SP 800-38D.
enum AESGCM {
    static let tagBytes = 16
    /// Of one message: OpenSSL counts in 32 bits with sign.
    static let maximumBytes = 1 << 30

    /// Nil when the tag does not verify. `sealed` has at least ``tagBytes``.
    @unsafe static func open(_ sealed: ArraySlice<UInt8>, key: UnsafeRawBufferPointer, nonce: ArraySlice<UInt8>, associatedData: [UInt8]) -> SecretBytes? {
        guard sealed.count >= tagBytes, sealed.count <= maximumBytes, let context = unsafe context(key, nonce, encrypting: 0) else { return nil }
        defer {
            unsafe EVP_CIPHER_CTX_free(context)
            OpenSSLErrors.discard()
        }
        guard unsafe update(context, associatedData: associatedData) else { return nil }
        let count = sealed.count - tagBytes
        var verified = false
        let plaintext = unsafe SecretBytes(count: count) { memory in
            unsafe sealed.withUnsafeBufferPointer { sealed in
                var written: Int32 = 0
                let target = unsafe memory.bindMemory(to: UInt8.self).baseAddress
                // EVP_CTRL_AEAD_SET_TAG takes a pointer to mutable memory and only reads it.
                let tag = unsafe sealed.baseAddress.map { unsafe UnsafeMutableRawPointer(mutating: $0 + count) }
                guard unsafe count == 0 || EVP_DecryptUpdate(context, target, &written, sealed.baseAddress, Int32(count)) == 1,
                    unsafe EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tagBytes), tag) == 1
                else { return }
                var rest: (UInt64, UInt64) = (0, 0)
                verified = unsafe withUnsafeMutableBytes(of: &rest) {
                    unsafe EVP_DecryptFinal_ex(context, $0.bindMemory(to: UInt8.self).baseAddress, &written) == 1
                }
            }
        }
        return verified ? plaintext : nil
    }

    /// `prefix ‖ ciphertext ‖ tag`.
    @unsafe static func seal(
        _ plaintext: SecretBytes, key: UnsafeRawBufferPointer, nonce: ArraySlice<UInt8>, associatedData: [UInt8], into prefix: [UInt8]
    ) throws(Problem) -> [UInt8] {
        guard plaintext.count <= maximumBytes, let context = unsafe context(key, nonce, encrypting: 1) else { throw .libraryFailure("EVP_CipherInit_ex2") }
        defer { unsafe EVP_CIPHER_CTX_free(context) }
        var sealed = prefix + [UInt8](repeating: 0, count: plaintext.count + tagBytes)
        let done = unsafe sealed.withUnsafeMutableBufferPointer { sealed in
            unsafe plaintext.withUnsafeBytes { plaintext in
                guard let target = unsafe sealed.baseAddress.map({ unsafe $0 + prefix.count }), unsafe update(context, associatedData: associatedData)
                else { return false }
                var written: Int32 = 0
                let source = unsafe plaintext.bindMemory(to: UInt8.self).baseAddress
                return unsafe (plaintext.isEmpty || EVP_EncryptUpdate(context, target, &written, source, Int32(plaintext.count)) == 1)
                    && EVP_EncryptFinal_ex(context, target + plaintext.count, &written) == 1
                    && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(tagBytes), target + plaintext.count) == 1
            }
        }
        guard done else { throw .libraryFailure("EVP_EncryptFinal_ex") }
        return sealed
    }

    private static func context(_ key: UnsafeRawBufferPointer, _ nonce: ArraySlice<UInt8>, encrypting: Int32) -> OpaquePointer? {
        let cipher: OpaquePointer?
        switch key.count {
        case 16: unsafe cipher = Algorithms.aes128GCM
        case 32: unsafe cipher = Algorithms.aes256GCM
        default: return nil
        }
        guard let context = unsafe EVP_CIPHER_CTX_new() else { return nil }
        let ready = unsafe nonce.withUnsafeBufferPointer { nonce in
            unsafe EVP_CipherInit_ex2(context, cipher, nil, nil, encrypting, nil) == 1
                && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_IVLEN, Int32(nonce.count), nil) == 1
                && EVP_CipherInit_ex2(context, nil, key.bindMemory(to: UInt8.self).baseAddress, nonce.baseAddress, encrypting, nil) == 1
        }
        guard ready else {
            unsafe EVP_CIPHER_CTX_free(context)
            return nil
        }
        return unsafe context
    }

    private static func update(_ context: OpaquePointer, associatedData: [UInt8]) -> Bool {
        guard !associatedData.isEmpty else { return true }
        guard associatedData.count <= maximumBytes else { return false }
        var written: Int32 = 0
        return unsafe EVP_CipherUpdate(context, nil, &written, associatedData, Int32(associatedData.count)) == 1
    }
}
