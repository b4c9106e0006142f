internal import CLibcrypto
internal import Problems
internal import Secrets

/// The algorithms this house uses, fetched from the provider once: an implicit fetch at each use costs microseconds.
enum Algorithms {
    // `nonisolated(unsafe)`: a fetched method is immutable and its reference count atomic.
    nonisolated(unsafe) static let sha256 = unsafe EVP_MD_fetch(nil, "SHA2-256", nil)
    nonisolated(unsafe) static let sha384 = unsafe EVP_MD_fetch(nil, "SHA2-384", nil)
    nonisolated(unsafe) static let sha512 = unsafe EVP_MD_fetch(nil, "SHA2-512", nil)
    nonisolated(unsafe) static let aes128GCM = unsafe EVP_CIPHER_fetch(nil, "AES-128-GCM", nil)
    nonisolated(unsafe) static let aes256GCM = unsafe EVP_CIPHER_fetch(nil, "AES-256-GCM", nil)
    nonisolated(unsafe) static let aes128Block = unsafe EVP_CIPHER_fetch(nil, "AES-128-ECB", nil)
    nonisolated(unsafe) static let aes256Block = unsafe EVP_CIPHER_fetch(nil, "AES-256-ECB", nil)

    static func sha2(_ bits: Int) -> OpaquePointer? {
        switch bits {
        case 256: unsafe sha256
        case 384: unsafe sha384
        case 512: unsafe sha512
        default: nil
        }
    }
}

/// An `EVP_PKEY` and one reference to it.
@safe final class PKey: @unchecked Sendable {
    // Sendable: OpenSSL allows any number of threads to use one EVP_PKEY as long as none changes it, and none here does.
    let raw: OpaquePointer

    /// Takes over the caller's reference; from here on only `deinit` frees it.
    @unsafe init(taking raw: OpaquePointer) { unsafe self.raw = raw }

    deinit { unsafe EVP_PKEY_free(raw) }

    /// Reads a SubjectPublicKeyInfo of any kind OpenSSL knows; nil when it does not, or when bytes follow. Above 1,100 bytes (RSA of 8192 bits) it is
    /// not looked at: a stranger's certificate is not to choose how long we compute.
    convenience init?(spki: [UInt8]) {
        guard spki.count <= 1100 else { return nil }
        let read = unsafe spki.withUnsafeBufferPointer { bytes -> OpaquePointer? in
            var next = bytes.baseAddress
            guard let key = unsafe d2i_PUBKEY(nil, &next, bytes.count) else { return nil }
            guard unsafe next == bytes.baseAddress.map({ unsafe $0 + bytes.count }) else {
                unsafe EVP_PKEY_free(key)
                return nil
            }
            return unsafe key
        }
        guard let read = unsafe read else {
            OpenSSLErrors.discard()
            return nil
        }
        unsafe self.init(taking: read)
    }

    /// The DER SubjectPublicKeyInfo.
    func spki() throws(Problem) -> [UInt8] {
        var der: UnsafeMutablePointer<UInt8>?
        let count = unsafe i2d_PUBKEY(raw, &der)
        guard count > 0, let der = unsafe der else { throw .libraryFailure("i2d_PUBKEY") }
        defer { unsafe CRYPTO_free(der, "", 0) }
        return unsafe Array(UnsafeBufferPointer(start: der, count: Int(count)))
    }

    /// The PKCS#8 encoding, written by OpenSSL straight into memory that wipes itself. What OpenSSL holds in between it wipes too.
    func pkcs8() throws(Problem) -> SecretBytes {
        guard let info = unsafe EVP_PKEY2PKCS8(raw) else { throw .libraryFailure("EVP_PKEY2PKCS8") }
        defer { unsafe PKCS8_PRIV_KEY_INFO_free(info) }
        let count = unsafe i2d_PKCS8_PRIV_KEY_INFO(info, nil)
        guard count > 0 else { throw .libraryFailure("i2d_PKCS8_PRIV_KEY_INFO") }
        return try unsafe SecretBytes(count: Int(count)) { (memory) throws(Problem) in
            var next = unsafe memory.bindMemory(to: UInt8.self).baseAddress
            guard unsafe i2d_PKCS8_PRIV_KEY_INFO(info, &next) == count else { throw .libraryFailure("i2d_PKCS8_PRIV_KEY_INFO") }
        }
    }

    var bits: Int { Int(unsafe EVP_PKEY_get_bits(raw)) }

    /// A signature over `message` with this key's usual padding.
    func signature(over message: [UInt8], digest: OpaquePointer?) throws(Problem) -> [UInt8] {
        guard let context = unsafe EVP_MD_CTX_new() else { throw .libraryFailure("EVP_MD_CTX_new") }
        defer { unsafe EVP_MD_CTX_free(context) }
        var count = 0
        guard unsafe EVP_DigestSignInit(context, nil, digest, nil, raw) == 1, unsafe EVP_DigestSign(context, nil, &count, message, message.count) == 1
        else { throw .libraryFailure("EVP_DigestSignInit") }
        var signature = [UInt8](repeating: 0, count: count)
        guard unsafe EVP_DigestSign(context, &signature, &count, message, message.count) == 1 else { throw .libraryFailure("EVP_DigestSign") }
        return Array(signature.prefix(count))
    }

    /// Whether `signature` over `message` is by this key, with its usual padding.
    func isValid(signature: [UInt8], over message: ArraySlice<UInt8>, digest: OpaquePointer?) -> Bool {
        guard let context = unsafe EVP_MD_CTX_new() else { return false }
        defer {
            unsafe EVP_MD_CTX_free(context)
            OpenSSLErrors.discard()
        }
        guard unsafe EVP_DigestVerifyInit(context, nil, digest, nil, raw) == 1 else { return false }
        return unsafe message.withUnsafeBufferPointer { bytes in
            unsafe EVP_DigestVerify(context, signature, signature.count, bytes.baseAddress, bytes.count) == 1
        }
    }
}

/// An `EVP_PKEY_CTX`, set up for one operation with one key and used for it again and again, by one thread at a time (see ``Pool``).
@safe final class PKeyContext: @unchecked Sendable {
    // Sendable: a pool hands it to one thread at a time.
    let raw: OpaquePointer

    init(_ key: PKey, _ setUp: (OpaquePointer) -> Bool) throws(Problem) {
        guard let raw = unsafe EVP_PKEY_CTX_new_from_pkey(nil, key.raw, nil) else { throw .libraryFailure("EVP_PKEY_CTX_new_from_pkey") }
        unsafe self.raw = raw
        guard unsafe setUp(raw) else { throw .libraryFailure("EVP_PKEY_CTX set-up") }
    }

    deinit { unsafe EVP_PKEY_CTX_free(raw) }
}

/// A `BIGNUM` in the secure heap, wiped by `deinit`.
@safe struct BigNumber: ~Copyable {
    let raw: OpaquePointer

    init() throws(Problem) { unsafe raw = try BigNumber.make([]) }

    init(bigEndian bytes: ArraySlice<UInt8>) throws(Problem) { unsafe raw = try BigNumber.make(bytes) }

    private static func make(_ bytes: ArraySlice<UInt8>) throws(Problem) -> OpaquePointer {
        guard let raw = unsafe BN_secure_new() else { throw .cryptography(.secureHeapExhausted, underlying: OpenSSLErrors.drain()) }
        unsafe BN_set_flags(raw, BN_FLG_CONSTTIME)
        guard unsafe bytes.withUnsafeBufferPointer({ unsafe BN_bin2bn($0.baseAddress, Int32(clamping: $0.count), raw) != nil }) else {
            unsafe BN_clear_free(raw)
            throw .cryptography(.secureHeapExhausted, underlying: OpenSSLErrors.drain())
        }
        return unsafe raw
    }

    deinit { unsafe BN_clear_free(raw) }

    /// Gives the number away: who takes it frees it.
    @unsafe consuming func release() -> OpaquePointer {
        let raw = unsafe raw
        discard self
        return unsafe raw
    }
}

/// The parts of a key by OpenSSL's names, collected for `EVP_PKEY_fromdata`: 20 µs where decoding DER takes 360.
@safe struct KeyParts: ~Copyable {
    private let builder: OpaquePointer
    /// The builder keeps bare pointers to them.
    private var numbers: [OpaquePointer] = unsafe []

    init() throws(Problem) {
        guard let builder = unsafe OSSL_PARAM_BLD_new() else { throw .libraryFailure("OSSL_PARAM_BLD_new") }
        unsafe self.builder = builder
    }

    deinit {
        unsafe OSSL_PARAM_BLD_free(builder)
        unsafe numbers.forEach { unsafe BN_clear_free($0) }
    }

    mutating func add(_ name: StaticString, _ number: consuming BigNumber) throws(Problem) {
        let number = unsafe number.release()
        unsafe numbers.append(number)
        guard unsafe OSSL_PARAM_BLD_push_BN(builder, KeyParts.pointer(name), number) == 1 else { throw .libraryFailure("OSSL_PARAM_BLD_push_BN") }
    }

    mutating func add(_ name: StaticString, text: StaticString) throws(Problem) {
        guard unsafe OSSL_PARAM_BLD_push_utf8_string(builder, KeyParts.pointer(name), KeyParts.pointer(text), 0) == 1 else {
            throw .libraryFailure("OSSL_PARAM_BLD_push_utf8_string")
        }
    }

    /// `octets` must stay where they are until ``keyPair(_:)`` has returned.
    @unsafe mutating func add(_ name: StaticString, octets: UnsafeBufferPointer<UInt8>) throws(Problem) {
        guard unsafe OSSL_PARAM_BLD_push_octet_string(builder, KeyParts.pointer(name), octets.baseAddress, octets.count) == 1 else {
            throw .libraryFailure("OSSL_PARAM_BLD_push_octet_string")
        }
    }

    /// The key pair of this kind (`EC`, `RSA`).
    borrowing func keyPair(_ kind: StaticString) throws(Problem) -> PKey {
        guard let parameters = unsafe OSSL_PARAM_BLD_to_param(builder) else { throw .libraryFailure("OSSL_PARAM_BLD_to_param") }
        defer { unsafe OSSL_PARAM_free(parameters) }
        guard let context = unsafe EVP_PKEY_CTX_new_from_name(nil, KeyParts.pointer(kind), nil) else {
            throw .libraryFailure("EVP_PKEY_CTX_new_from_name")
        }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard unsafe EVP_PKEY_fromdata_init(context) == 1,
            unsafe EVP_PKEY_fromdata(context, &key, keyPairSelection, parameters) == 1, let key = unsafe key
        else { throw .cryptography(.privateKeyInvalid, underlying: OpenSSLErrors.drain()) }
        return unsafe PKey(taking: key)
    }

    private static func pointer(_ name: StaticString) -> UnsafePointer<CChar> {
        unsafe UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)
    }
}

/// `EVP_PKEY_KEYPAIR`, which Swift does not see because it is built from other macros.
private let keyPairSelection = Int32(
    OSSL_KEYMGMT_SELECT_PRIVATE_KEY | OSSL_KEYMGMT_SELECT_PUBLIC_KEY | OSSL_KEYMGMT_SELECT_DOMAIN_PARAMETERS | OSSL_KEYMGMT_SELECT_OTHER_PARAMETERS)
