internal import CLibcrypto
internal import Problems
internal import Secrets

/// A cipher as password-based encryption names it.
struct PasswordCipher: Sendable, Equatable {
    /// OpenSSL's name.
    let name: String
    let keyBytes: Int
    let ivBytes: Int
    /// Lives in OpenSSL's legacy provider.
    var isLegacy = false
}

/// OpenSSL for PKCS#12: a library context of its own, with the legacy provider, so that RC2 and RC4, which Keychain Access still writes, stay
/// absent from the context everything else uses. Derives keys, checks MACs and decrypts; knows nothing of the file.
@safe final class PKCS12Library: @unchecked Sendable {
    // Sendable: an OSSL_LIB_CTX may serve several threads at once (OSSL_LIB_CTX(3)); the pointers are written by `init` only.
    static let shared = PKCS12Library()

    /// NULL, the default context without the old ciphers, should OpenSSL have no memory for another.
    private let context: OpaquePointer?
    private let legacy: OpaquePointer?
    private let standard: OpaquePointer?

    /// Whether OpenSSL's legacy provider could be loaded.
    var hasLegacy: Bool { unsafe legacy != nil }

    /// - Parameter modules: the folder of OpenSSL's modules; nil means the one OpenSSL was built with, or `OPENSSL_MODULES`.
    init(modules: String? = nil) {
        let context = unsafe OSSL_LIB_CTX_new()
        unsafe self.context = context
        if let modules, unsafe context != nil { unsafe OSSL_PROVIDER_set_default_search_path(context, modules) }
        // Loading any provider by hand switches off the automatic default one: load both. Never into the context everything else uses.
        unsafe legacy = unsafe context == nil ? nil : OSSL_PROVIDER_load(context, "legacy")
        unsafe standard = unsafe context == nil ? nil : OSSL_PROVIDER_load(context, "default")
        OpenSSLErrors.discard()
    }

    deinit {
        if let legacy = unsafe legacy { unsafe _ = OSSL_PROVIDER_unload(legacy) }
        if let standard = unsafe standard { unsafe _ = OSSL_PROVIDER_unload(standard) }
        unsafe OSSL_LIB_CTX_free(context)
    }

    /// What a derived key is for: the `ID` byte of RFC 7292 appendix B.3.
    enum Purpose: Int32 { case key = 1, iv = 2, mac = 3 }

    /// RFC 7292 appendix B.2.
    /// - Parameter password: one of ``PKCS12Password/texts``.
    func deriveRFC7292(
        _ password: SecretBytes, salt: [UInt8], purpose: Purpose, iterations: Int, count: Int, digest: String
    ) throws(Problem) -> SecretBytes {
        try unsafe withDigest(digest) { (md) throws(Problem) in
            var salt = salt  // OpenSSL asks for a pointer it could write to, and does not
            return try unsafe SecretBytes(count: count) { (out) throws(Problem) in
                let done = unsafe password.withUnsafeBytes { secret in
                    unsafe PKCS12_key_gen_uni_ex(
                        UnsafeMutablePointer(mutating: secret.bindMemory(to: UInt8.self).baseAddress), Int32(secret.count), &salt, Int32(salt.count),
                        purpose.rawValue, Int32(clamping: iterations), Int32(out.count), out.bindMemory(to: UInt8.self).baseAddress, md, context, nil)
                }
                guard done == 1 else { throw failure("PKCS12KDF") }
            }
        }
    }

    /// PBKDF2 with HMAC over `digest` (RFC 8018 §5.2).
    func derivePBKDF2(_ password: SecretBytes, salt: [UInt8], iterations: Int, count: Int, digest: String) throws(Problem) -> SecretBytes {
        try unsafe withDigest(digest) { (md) throws(Problem) in
            try unsafe SecretBytes(count: count) { (out) throws(Problem) in
                let done = unsafe password.withUnsafeBytes { secret in
                    unsafe PKCS5_PBKDF2_HMAC(
                        secret.bindMemory(to: CChar.self).baseAddress, Int32(secret.count), salt, Int32(salt.count), Int32(clamping: iterations), md,
                        Int32(out.count), out.bindMemory(to: UInt8.self).baseAddress)
                }
                guard done == 1 else { throw failure("PBKDF2") }
            }
        }
    }

    /// scrypt (RFC 7914). The caller has bounded the cost.
    func deriveScrypt(_ password: SecretBytes, salt: [UInt8], n: Int, r: Int, p: Int, count: Int) throws(Problem) -> SecretBytes {
        defer { OpenSSLErrors.discard() }
        return try unsafe SecretBytes(count: count) { (out) throws(Problem) in
            let done = unsafe password.withUnsafeBytes { secret in
                // The bound is the caller's; here it is only to be out of the way (128 · r · (N + p + 2) is what OpenSSL takes).
                unsafe EVP_PBE_scrypt_ex(
                    secret.bindMemory(to: CChar.self).baseAddress, secret.count, salt, salt.count, UInt64(n), UInt64(r), UInt64(p), UInt64.max >> 1,
                    out.bindMemory(to: UInt8.self).baseAddress, out.count, context, nil)
            }
            guard done == 1 else { throw failure("SCRYPT") }
        }
    }

    /// HMAC over `digest`.
    func authenticate(_ bytes: [UInt8], key: SecretBytes, digest: String) throws(Problem) -> [UInt8] {
        defer { OpenSSLErrors.discard() }
        var mac = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count = 0
        let capacity = mac.count
        let done = unsafe key.withUnsafeBytes { key in
            unsafe EVP_Q_mac(context, "HMAC", nil, digest, nil, key.baseAddress, key.count, bytes, bytes.count, &mac, capacity, &count) != nil
        }
        guard done else { throw failure("HMAC") }
        return Array(mac.prefix(count))
    }

    /// The plaintext, its padding taken off; nil where the padding is wrong, as it nearly always is under a wrong key.
    func decrypt(_ ciphertext: [UInt8], cipher: PasswordCipher, key: SecretBytes, iv: SecretBytes) throws(Problem) -> SecretBytes? {
        defer { OpenSSLErrors.discard() }
        if cipher.isLegacy && !hasLegacy { throw .pkcs12(.legacyUnavailable, context: [("algorithm", .text(cipher.name))]) }
        let fetched = unsafe EVP_CIPHER_fetch(context, cipher.name, nil)
        defer { unsafe EVP_CIPHER_free(fetched) }
        guard let fetched = unsafe fetched else {
            let said = OpenSSLErrors.drain()
            if cipher.isLegacy { throw .pkcs12(.legacyUnavailable, context: [("algorithm", .text(cipher.name))], underlying: said) }
            throw .pkcs12(.algorithmUnsupported, context: [("algorithm", .text(cipher.name))], underlying: said)
        }
        let state = unsafe EVP_CIPHER_CTX_new()
        defer { unsafe EVP_CIPHER_CTX_free(state) }
        guard
            unsafe key.count == Int(EVP_CIPHER_get_key_length(fetched)) && iv.count == Int(EVP_CIPHER_get_iv_length(fetched)),
            unsafe key.withUnsafeBytes({ key in
                unsafe iv.withUnsafeBytes { iv in
                    unsafe EVP_DecryptInit_ex2(
                        state, fetched, key.bindMemory(to: UInt8.self).baseAddress, iv.bindMemory(to: UInt8.self).baseAddress, nil)
                }
            }) == 1
        else { throw failure(cipher.name) }
        var count: Int32 = 0
        var last: Int32 = 0
        // One block more than the ciphertext: what EVP_DecryptUpdate may write.
        let padded = unsafe SecretBytes(count: ciphertext.count + 32) { out in
            let start = unsafe out.bindMemory(to: UInt8.self).baseAddress
            guard unsafe EVP_DecryptUpdate(state, start, &count, ciphertext, Int32(ciphertext.count)) == 1,
                unsafe EVP_DecryptFinal_ex(state, start?.advanced(by: Int(count)), &last) == 1
            else {
                count = -1
                return
            }
            count += last
        }
        guard count >= 0 else { return nil }
        return unsafe padded.withUnsafeBytes { unsafe SecretBytes(copying: $0.prefix(Int(count))) }
    }

    private func withDigest<R>(_ name: String, _ body: (OpaquePointer) throws(Problem) -> R) throws(Problem) -> R {
        defer { OpenSSLErrors.discard() }
        guard let md = unsafe EVP_MD_fetch(context, name, nil) else {
            throw .pkcs12(.algorithmUnsupported, context: [("algorithm", .text(name))], underlying: OpenSSLErrors.drain())
        }
        defer { unsafe EVP_MD_free(md) }
        return try unsafe body(md)
    }

    /// A derivation or cipher refused its parameters: the bytes that fed it are the file's.
    private func failure(_ what: String) -> Problem {
        .pkcs12(.structureUnsupported, context: [("algorithm", .text(what))], underlying: OpenSSLErrors.drain())
    }
}
