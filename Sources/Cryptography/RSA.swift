internal import CLibcrypto
public import Encodings
public import Problems
public import Secrets

/// RSA keys of 2048 to 4096 bits, one type for each use.
/// - Source: RFC 8017.
public enum RSA {
    static let bits = 2048...4096

    /// A private key that unwraps content keys.
    public final class DecryptionKey: Sendable {
        let pair: KeyPair
        private let contexts = Pool<PKeyContext>()

        public static func generate(bits: Int = 2048) throws(Problem) -> DecryptionKey { DecryptionKey(try KeyPair.generate(bits: bits)) }

        /// - Throws: `cryptography.private_key_invalid` or `.private_key_unsupported`. The parts are checked against each other.
        public convenience init(pkcs8: SecretBytes) throws(Problem) { self.init(try KeyPair(pkcs8: pkcs8)) }

        private init(_ pair: KeyPair) { self.pair = pair }

        public func pkcs8() throws(Problem) -> SecretBytes { try pair.key.pkcs8() }
        /// DER SubjectPublicKeyInfo.
        public var spki: [UInt8] { pair.spki }
        public var spkiHash: Digest256 { SHA256.digest(pair.spki) }
        public var bits: Int { pair.key.bits }

        /// RSAES-OAEP with SHA-256, MGF1 with SHA-256, empty label. Nil whatever fails: length, padding, hash. OpenSSL takes the padding off in
        /// constant time, and nothing here looks at why it said no.
        public func unwrapOAEP256(_ wrapped: [UInt8]) -> SecretBytes? {
            let capacity = (bits + 7) / 8
            let key: SecretBytes?? = try? contexts.with(orMaking: { () throws(Problem) in try decryptionContext() }) { (context) throws(Problem) in
                unsafe withUnsafeTemporaryAllocation(byteCount: capacity, alignment: 16) { buffer -> SecretBytes? in
                    defer { unsafe wipe(buffer) }
                    var count = capacity
                    let opened = unsafe EVP_PKEY_decrypt(
                        context.raw, buffer.bindMemory(to: UInt8.self).baseAddress, &count, wrapped, wrapped.count)
                    OpenSSLErrors.discard()
                    return unsafe opened == 1 ? SecretBytes(copying: UnsafeRawBufferPointer(rebasing: buffer[..<count])) : nil
                }
            }
            return key ?? nil
        }

        private func decryptionContext() throws(Problem) -> PKeyContext {
            try unsafe PKeyContext(pair.key) { unsafe EVP_PKEY_decrypt_init($0) == 1 && RSA.setOAEP256($0) }
        }
    }

    /// Wraps a key for the holder of `spki`: the sandbox's side of ``DecryptionKey/unwrapOAEP256(_:)``.
    public static func wrapOAEP256(_ key: SecretBytes, to spki: [UInt8]) throws(Problem) -> [UInt8] {
        let publicKey = try RSA.publicKey(spki)
        let context = try unsafe PKeyContext(publicKey) { unsafe EVP_PKEY_encrypt_init($0) == 1 && setOAEP256($0) }
        var wrapped = [UInt8](repeating: 0, count: (publicKey.bits + 7) / 8)
        var count = wrapped.count
        let done = unsafe key.withUnsafeBytes { key in
            unsafe EVP_PKEY_encrypt(context.raw, &wrapped, &count, key.bindMemory(to: UInt8.self).baseAddress, key.count) == 1
        }
        guard done, count == wrapped.count else { throw .libraryFailure("EVP_PKEY_encrypt") }
        return wrapped
    }

    /// A private key for signatures.
    public final class SigningKey: Sendable {
        let pair: KeyPair

        public static func generate(bits: Int = 2048) throws(Problem) -> SigningKey { SigningKey(try KeyPair.generate(bits: bits)) }

        /// - Throws: as ``DecryptionKey/init(pkcs8:)``.
        public convenience init(pkcs8: SecretBytes) throws(Problem) { self.init(try KeyPair(pkcs8: pkcs8)) }

        private init(_ pair: KeyPair) { self.pair = pair }

        public func pkcs8() throws(Problem) -> SecretBytes { try pair.key.pkcs8() }
        public var spki: [UInt8] { pair.spki }

        /// RSASSA-PKCS1-v1_5 with SHA-256.
        public func signature(over message: [UInt8]) throws(Problem) -> [UInt8] {
            try unsafe pair.key.signature(over: message, digest: Algorithms.sha256)
        }
    }

    /// A public key that checks signatures.
    public final class VerificationKey: Sendable {
        /// DER SubjectPublicKeyInfo.
        public let spki: [UInt8]
        private let key: PKey
        private let contexts = Pool<PKeyContext>()

        /// - Throws: `cryptography.public_key_invalid`.
        public init(spki: [UInt8]) throws(Problem) {
            self.spki = spki
            key = try RSA.publicKey(spki)
        }

        public func isValid(signature: [UInt8], over digest: Digest256) -> Bool { isValid(signature: signature[...], over: digest) }

        /// Whether this RSASSA-PKCS1-v1_5 signature is this key's over the SHA-256 `digest`.
        public func isValid(signature: ArraySlice<UInt8>, over digest: Digest256) -> Bool {
            let words = digest.bigEndianWords
            let bytes = (words.0.bigEndian, words.1.bigEndian, words.2.bigEndian, words.3.bigEndian)
            let valid: Bool? = try? contexts.with(orMaking: { () throws(Problem) in try verificationContext() }) { (context) throws(Problem) in
                unsafe signature.withUnsafeBufferPointer { signature in
                    unsafe withUnsafeBytes(of: bytes) { digest in
                        unsafe EVP_PKEY_verify(
                            context.raw, signature.baseAddress, signature.count, digest.bindMemory(to: UInt8.self).baseAddress, digest.count) == 1
                    }
                }
            }
            if valid != true { OpenSSLErrors.discard() }
            return valid == true
        }

        private func verificationContext() throws(Problem) -> PKeyContext {
            try unsafe PKeyContext(key) { context in
                unsafe EVP_PKEY_verify_init(context) == 1 && EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING) == 1
                    && EVP_PKEY_CTX_set_signature_md(context, Algorithms.sha256) == 1
            }
        }
    }

    private static func publicKey(_ spki: [UInt8]) throws(Problem) -> PKey {
        guard let key = PKey(spki: spki), unsafe EVP_PKEY_is_a(key.raw, "RSA") == 1, bits.contains(key.bits) else {
            throw .cryptography(.publicKeyInvalid)
        }
        return key
    }

    private static func setOAEP256(_ context: OpaquePointer) -> Bool {
        // The label is empty unless set. The hash inside MGF1 must be named too: its default is the other hash only by OpenSSL's courtesy.
        unsafe EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_OAEP_PADDING) == 1 && EVP_PKEY_CTX_set_rsa_oaep_md(context, Algorithms.sha256) == 1
            && EVP_PKEY_CTX_set_rsa_mgf1_md(context, Algorithms.sha256) == 1
    }
}

// MARK: - Key pair

extension RSA {
    /// What decryption and signing keys have in common.
    struct KeyPair: Sendable {
        let key: PKey
        let spki: [UInt8]

        static func generate(bits: Int) throws(Problem) -> KeyPair {
            guard let context = unsafe EVP_PKEY_CTX_new_from_name(nil, "RSA", nil) else { throw .libraryFailure("EVP_PKEY_CTX_new_from_name") }
            defer { unsafe EVP_PKEY_CTX_free(context) }
            var raw: OpaquePointer?
            guard unsafe EVP_PKEY_keygen_init(context) == 1, unsafe EVP_PKEY_CTX_set_rsa_keygen_bits(context, Int32(clamping: bits)) == 1,
                unsafe EVP_PKEY_generate(context, &raw) == 1, let raw = unsafe raw
            else { throw .libraryFailure("EVP_PKEY_generate") }
            return try KeyPair(unsafe PKey(taking: raw))
        }

        private init(_ key: PKey) throws(Problem) {
            self.key = key
            spki = try key.spki()
        }

        init(pkcs8: SecretBytes) throws(Problem) {
            var bytes = pkcs8.copyExposed()  // our DER reader walks arrays; wiped before this returns
            defer { wipe(&bytes) }
            guard case .rsa(let parts) = try PKCS8.read(bytes), parts.count == 8 else { throw .cryptography(.privateKeyUnsupported) }
            try self.init(try KeyPair.key(bytes, parts))
        }

        private static func key(_ bytes: [UInt8], _ ranges: [Range<Int>]) throws(Problem) -> PKey {
            // Before anything is computed with them: a file's numbers are as long as the file likes.
            guard ranges.allSatisfy({ $0.count <= RSA.bits.upperBound / 8 }) else { throw .cryptography(.privateKeyUnsupported) }
            let n = try BigNumber(bigEndian: bytes[ranges[0]])
            let e = try BigNumber(bigEndian: bytes[ranges[1]])
            let d = try BigNumber(bigEndian: bytes[ranges[2]])
            let p = try BigNumber(bigEndian: bytes[ranges[3]])
            let q = try BigNumber(bigEndian: bytes[ranges[4]])
            let dP = try BigNumber(bigEndian: bytes[ranges[5]])
            let dQ = try BigNumber(bigEndian: bytes[ranges[6]])
            let qInv = try BigNumber(bigEndian: bytes[ranges[7]])
            guard unsafe RSA.bits.contains(Int(BN_num_bits(n.raw))) else { throw .cryptography(.privateKeyUnsupported) }
            try check(n, e, d, p, q, dP, dQ, qInv)
            var parts = try KeyParts()
            try parts.add("n", n)
            try parts.add("e", e)
            try parts.add("d", d)
            try parts.add("rsa-factor1", p)
            try parts.add("rsa-factor2", q)
            try parts.add("rsa-exponent1", dP)
            try parts.add("rsa-exponent2", dQ)
            try parts.add("rsa-coefficient1", qInv)
            return try parts.keyPair("RSA")
        }

        /// That the parts belong together: n = p·q, e·dP ≡ 1 (mod p − 1), e·dQ ≡ 1 (mod q − 1), e·d ≡ 1 (mod p − 1, q − 1), q·qInv ≡ 1 (mod p).
        /// One wrong part makes a key that answers rubbish, or gives its factors away with the first signature. That p and q are prime is believed:
        /// testing it takes longer than everything else.
        /// - Source: RFC 8017, 3.2.
        private static func check(
            _ n: borrowing BigNumber, _ e: borrowing BigNumber, _ d: borrowing BigNumber, _ p: borrowing BigNumber, _ q: borrowing BigNumber,
            _ dP: borrowing BigNumber, _ dQ: borrowing BigNumber, _ qInv: borrowing BigNumber
        ) throws(Problem) {
            guard let context = unsafe BN_CTX_secure_new() else { throw .libraryFailure("BN_CTX_secure_new") }
            defer { unsafe BN_CTX_free(context) }
            let product = try BigNumber()
            let less = try BigNumber()
            let odd = unsafe BN_is_odd(n.raw) == 1 && BN_is_odd(p.raw) == 1 && BN_is_odd(q.raw) == 1 && BN_is_odd(e.raw) == 1 && BN_is_one(e.raw) == 0
            var whole = unsafe odd && BN_is_one(p.raw) == 0 && BN_is_one(q.raw) == 0
            whole = unsafe whole && BN_mul(product.raw, p.raw, q.raw, context) == 1 && BN_cmp(product.raw, n.raw) == 0
            whole = unsafe whole && BN_sub(less.raw, p.raw, BN_value_one()) == 1 && isOne(e.raw, dP.raw, less.raw) && isOne(e.raw, d.raw, less.raw)
            whole = unsafe whole && BN_sub(less.raw, q.raw, BN_value_one()) == 1 && isOne(e.raw, dQ.raw, less.raw) && isOne(e.raw, d.raw, less.raw)
            whole = unsafe whole && isOne(q.raw, qInv.raw, p.raw)
            guard whole else {
                OpenSSLErrors.discard()
                throw .cryptography(.privateKeyInvalid)
            }

            func isOne(_ left: OpaquePointer, _ right: OpaquePointer, _ modulus: OpaquePointer) -> Bool {
                unsafe BN_mod_mul(product.raw, left, right, modulus, context) == 1 && BN_is_one(product.raw) == 1
            }
        }
    }
}
