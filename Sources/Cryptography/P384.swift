internal import CLibcrypto
public import Problems
public import Secrets

/// Keys on the curve P-384 (secp384r1). Apple's root has one; ours are the sandbox's root keys, for signatures only.
public enum P384 {
    /// All of a P-384 SubjectPublicKeyInfo before the point, with the named curve and an uncompressed point.
    private static let spkiHeader: [UInt8] = [
        0x30, 0x76, 0x30, 0x10, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x05, 0x2b, 0x81, 0x04, 0x00, 0x22, 0x03, 0x62, 0x00, 0x04,
    ]

    /// A private key for signatures.
    public final class SigningKey: Sendable {
        /// DER SubjectPublicKeyInfo, 120 bytes.
        public let spki: [UInt8]
        let key: PKey

        public static func generate() throws(Problem) -> SigningKey {
            guard let context = unsafe EVP_PKEY_CTX_new_from_name(nil, "EC", nil) else { throw .libraryFailure("EVP_PKEY_CTX_new_from_name") }
            defer { unsafe EVP_PKEY_CTX_free(context) }
            var raw: OpaquePointer?
            guard unsafe EVP_PKEY_keygen_init(context) == 1, unsafe EVP_PKEY_CTX_set_group_name(context, "secp384r1") == 1,
                unsafe EVP_PKEY_generate(context, &raw) == 1, let raw = unsafe raw
            else { throw .libraryFailure("EVP_PKEY_generate") }
            return try SigningKey(unsafe PKey(taking: raw))
        }

        /// - Throws: `cryptography.private_key_invalid` or, for other kinds of key, `cryptography.private_key_unsupported`.
        public convenience init(pkcs8: SecretBytes) throws(Problem) {
            let raw = unsafe pkcs8.withUnsafeBytes { bytes -> OpaquePointer? in
                let start = unsafe bytes.bindMemory(to: UInt8.self).baseAddress
                var next = unsafe start
                guard let info = unsafe d2i_PKCS8_PRIV_KEY_INFO(nil, &next, bytes.count) else { return nil }
                defer { unsafe PKCS8_PRIV_KEY_INFO_free(info) }
                return unsafe next == start.map { unsafe $0 + bytes.count } ? EVP_PKCS82PKEY(info) : nil
            }
            guard let raw = unsafe raw else { throw .cryptography(.privateKeyInvalid, underlying: OpenSSLErrors.drain()) }
            try self.init(unsafe PKey(taking: raw))
        }

        private init(_ key: PKey) throws(Problem) {
            let spki = try key.spki()
            guard spki.count == 120, spki.starts(with: P384.spkiHeader) else { throw .cryptography(.privateKeyUnsupported) }
            self.key = key
            self.spki = spki
        }

        public func pkcs8() throws(Problem) -> SecretBytes { try key.pkcs8() }

        /// ECDSA with SHA-256, DER: what Apple's root signs its intermediates with.
        public func signature(over message: [UInt8]) throws(Problem) -> [UInt8] {
            try unsafe key.signature(over: message, digest: Algorithms.sha256)
        }
    }
}
