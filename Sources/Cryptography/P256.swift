internal import CLibcrypto
public import Encodings
public import Problems
public import Secrets

/// Keys on the curve P-256 (secp256r1, prime256v1), one type for each use.
/// - Source: FIPS 186-5; SEC 1.
public enum P256 {
    /// A point of the curve, as X.509 writes it.
    ///
    /// Its existence proves: exactly the 91-byte SubjectPublicKeyInfo with the named curve and an uncompressed point, and the point on the curve.
    /// The cofactor is 1, so the point is in the group, and the encoding has no form for infinity: nothing is left to check before an agreement.
    public struct PublicKey: Hashable, Sendable {
        /// DER SubjectPublicKeyInfo, 91 bytes.
        public let spki: [UInt8]

        /// - Throws: `cryptography.public_key_invalid`.
        public init(spki: [UInt8]) throws(Problem) {
            guard spki.count == P256.spkiHeader.count + 65, spki.starts(with: P256.spkiHeader), spki[P256.spkiHeader.count] == 4,
                Curve.contains(spki[P256.spkiHeader.count...])
            else { throw .cryptography(.publicKeyInvalid) }
            self.spki = spki
        }

        /// From a point this room computed itself.
        fileprivate init(trusted point: [UInt8]) { spki = P256.spkiHeader + point }

        public var spkiHash: Digest256 { SHA256.digest(spki) }

        /// `04 ‖ X ‖ Y`, 65 bytes.
        public var point: ArraySlice<UInt8> { spki[P256.spkiHeader.count...] }
    }

    /// All of a P-256 SubjectPublicKeyInfo before the point.
    static let spkiHeader: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03,
        0x42, 0x00,
    ]

    /// A private key for key agreement. Its scalar lives in the secure heap, once.
    public final class AgreementKey: Sendable {
        public let publicKey: PublicKey
        let pair: KeyPair
        private let contexts = Pool<AgreementContext>()

        public static func generate() throws(Problem) -> AgreementKey { AgreementKey(try KeyPair.generate()) }

        /// - Throws: `cryptography.private_key_invalid` or `.private_key_unsupported`. The public key is computed anew and, where the encoding
        ///   carries one, compared with it.
        public convenience init(pkcs8: SecretBytes) throws(Problem) { self.init(try KeyPair(pkcs8: pkcs8)) }

        init(_ pair: KeyPair) {
            self.pair = pair
            self.publicKey = pair.publicKey
        }

        public func pkcs8() throws(Problem) -> SecretBytes { try pair.pkcs8() }

        /// ECDH with a peer's public key.
        ///
        /// OpenSSL checks that the point is on the curve when it reads it; the second, costlier check of `EVP_PKEY_derive_set_peer` (order times
        /// point) is left out, because with cofactor 1 it says the same.
        /// - Source: NIST SP 800-56A, 5.7.1.2; SP 800-56A Rev. 3, 5.6.2.3.4 (partial validation suffices).
        public func sharedSecret(with peer: PublicKey) throws(Problem) -> SharedSecret {
            try contexts.with(orMaking: { () throws(Problem) in try AgreementContext(pair.key) }) { (context) throws(Problem) in
                SharedSecret(try unsafe SecureBuffer(count: 32) { (memory) throws(Problem) in try unsafe context.derive(with: peer, into: memory) })
            }
        }
    }

    /// A private key for signatures.
    public final class SigningKey: Sendable {
        public let publicKey: PublicKey
        let pair: KeyPair

        public static func generate() throws(Problem) -> SigningKey { SigningKey(try KeyPair.generate()) }

        /// - Throws: as ``AgreementKey/init(pkcs8:)``.
        public convenience init(pkcs8: SecretBytes) throws(Problem) { self.init(try KeyPair(pkcs8: pkcs8)) }

        private init(_ pair: KeyPair) {
            self.pair = pair
            self.publicKey = pair.publicKey
        }

        public func pkcs8() throws(Problem) -> SecretBytes { try pair.pkcs8() }

        /// ECDSA with SHA-256, DER (RFC 3279, 2.2.3).
        public func signature(over message: [UInt8]) throws(Problem) -> [UInt8] {
            try unsafe pair.key.signature(over: message, digest: Algorithms.sha256)
        }
    }

    /// A public key that checks signatures.
    public final class VerificationKey: Sendable {
        public let publicKey: PublicKey
        private let key: PKey
        private let contexts = Pool<PKeyContext>()
        private let table: MultiplesTable?

        /// - Parameter tabled: tables the key's multiples: 30 ms and 150 kB once, after which a signature takes 31 µs instead of 74. For the few
        ///   signers whose certificates have been accepted.
        /// - Throws: `cryptography.public_key_invalid`.
        public init(spki: [UInt8], tabled: Bool = false) throws(Problem) {
            publicKey = try PublicKey(spki: spki)
            guard let key = PKey(spki: spki) else { throw .cryptography(.publicKeyInvalid) }
            self.key = key
            table = tabled ? try MultiplesTable(publicKey) : nil
        }

        public func isValid(signature: [UInt8], over digest: Digest256) -> Bool { isValid(signature: signature[...], over: digest) }

        /// Whether this DER signature is this key's over `digest`. Strict DER; s and n − s both count, as the standard has it.
        public func isValid(signature: ArraySlice<UInt8>, over digest: Digest256) -> Bool {
            if let table { return table.isValid(signature: Array(signature), over: digest) }
            let words = digest.bigEndianWords
            let bytes = (words.0.bigEndian, words.1.bigEndian, words.2.bigEndian, words.3.bigEndian)
            let made: Bool? = try? contexts.with(
                orMaking: { () throws(Problem) in try unsafe PKeyContext(key) { unsafe EVP_PKEY_verify_init($0) == 1 } },
                { (context) throws(Problem) in
                    unsafe signature.withUnsafeBufferPointer { signature in
                        unsafe withUnsafeBytes(of: bytes) { digest in
                            unsafe EVP_PKEY_verify(
                                context.raw, signature.baseAddress, signature.count, digest.bindMemory(to: UInt8.self).baseAddress, digest.count) == 1
                        }
                    }
                })
            if made != true { OpenSSLErrors.discard() }
            return made == true
        }
    }
}

// MARK: - Key pair

extension P256 {
    /// What agreement and signing keys have in common.
    struct KeyPair: Sendable {
        let key: PKey
        let publicKey: PublicKey

        static func generate() throws(Problem) -> KeyPair {
            guard let context = unsafe EVP_PKEY_CTX_new_from_name(nil, "EC", nil) else { throw .libraryFailure("EVP_PKEY_CTX_new_from_name") }
            defer { unsafe EVP_PKEY_CTX_free(context) }
            var raw: OpaquePointer?
            guard unsafe EVP_PKEY_keygen_init(context) == 1, unsafe EVP_PKEY_CTX_set_group_name(context, "prime256v1") == 1,
                unsafe EVP_PKEY_generate(context, &raw) == 1, let raw = unsafe raw
            else { throw .libraryFailure("EVP_PKEY_generate") }
            let key = unsafe PKey(taking: raw)
            var point = [UInt8](repeating: 0, count: 65)
            var count = 0
            guard unsafe EVP_PKEY_get_octet_string_param(key.raw, "pub", &point, 65, &count) == 1, count == 65, point[0] == 4 else {
                throw .libraryFailure("EVP_PKEY_get_octet_string_param")
            }
            return KeyPair(key: key, publicKey: PublicKey(trusted: point))
        }

        private init(key: PKey, publicKey: PublicKey) {
            self.key = key
            self.publicKey = publicKey
        }

        init(pkcs8: SecretBytes) throws(Problem) {
            var bytes = pkcs8.copyExposed()  // our DER reader walks arrays; wiped before this returns
            defer { wipe(&bytes) }
            guard case .p256(let scalar, let point) = try PKCS8.read(bytes) else { throw .cryptography(.privateKeyUnsupported) }
            try self.init(scalar: bytes[scalar], encodedPoint: point.map { bytes[$0] })
        }

        private init(scalar: ArraySlice<UInt8>, encodedPoint: ArraySlice<UInt8>?) throws(Problem) {
            let number = try BigNumber(bigEndian: scalar)
            let point = try Curve.point(multiplying: number)
            if let encodedPoint, !encodedPoint.elementsEqual(point) { throw .cryptography(.privateKeyInvalid) }
            var parts = try KeyParts()
            try parts.add("group", text: "prime256v1")
            try parts.add("priv", number)
            key = try KeyPair.key(&parts, point)
            publicKey = PublicKey(trusted: point)
        }

        private static func reverse(_ memory: UnsafeMutableRawBufferPointer) {
            for index in 0..<memory.count / 2 { unsafe memory.swapAt(index, memory.count - 1 - index) }
        }

        private static func key(_ parts: inout KeyParts, _ point: [UInt8]) throws(Problem) -> PKey {
            let result = unsafe point.withUnsafeBufferPointer { octets -> Result<PKey, Problem> in
                do throws(Problem) {
                    try unsafe parts.add("pub", octets: octets)
                    return .success(try parts.keyPair("EC"))
                } catch { return .failure(error) }
            }
            return try result.get()
        }

        /// PKCS#8 with the public key beside the scalar (RFC 5915), 138 bytes, as OpenSSL and Apple's tools write it.
        ///
        /// Written here, because then OpenSSL puts the scalar straight where it belongs and no copy passes through its encoders.
        func pkcs8() throws(Problem) -> SecretBytes {
            let head: [UInt8] = [
                0x30, 0x81, 0x87, 0x02, 0x01, 0x00, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce,
                0x3d, 0x03, 0x01, 0x07, 0x04, 0x6d, 0x30, 0x6b, 0x02, 0x01, 0x01, 0x04, 0x20,
            ]
            let middle: [UInt8] = [0xa1, 0x44, 0x03, 0x42, 0x00]
            let tail = head.count + 32
            return try unsafe SecretBytes(count: tail + middle.count + 65) { (memory) throws(Problem) in
                unsafe memory.copyBytes(from: head)
                unsafe UnsafeMutableRawBufferPointer(rebasing: memory[tail...]).copyBytes(from: middle + publicKey.point)
                let scalar = unsafe UnsafeMutableRawBufferPointer(rebasing: memory[head.count..<tail])
                guard unsafe coster_private_scalar(key.raw, scalar.bindMemory(to: UInt8.self).baseAddress, scalar.count) == 1 else {
                    throw .libraryFailure("EVP_PKEY_get_params")
                }
                unsafe KeyPair.reverse(scalar)  // OpenSSL gives numbers in native (little-endian) order
            }
        }
    }

    /// A derivation context and the peer key it is given anew each time, both reused: setting a point takes 1.5 µs, a key object of its own 7.
    @safe private final class AgreementContext: @unchecked Sendable {
        // Sendable: a pool hands it to one thread at a time.
        private let context: PKeyContext
        private let peer: PKey

        init(_ key: PKey) throws(Problem) {
            guard let raw = unsafe EVP_PKEY_new() else { throw .libraryFailure("EVP_PKEY_new") }
            peer = unsafe PKey(taking: raw)
            guard unsafe EVP_PKEY_copy_parameters(raw, key.raw) == 1 else { throw .libraryFailure("EVP_PKEY_copy_parameters") }
            context = try unsafe PKeyContext(key) { unsafe EVP_PKEY_derive_init($0) == 1 }
        }

        func derive(with publicKey: PublicKey, into memory: UnsafeMutableRawBufferPointer) throws(Problem) {
            let point = publicKey.point
            let set = unsafe point.withUnsafeBufferPointer { unsafe EVP_PKEY_set1_encoded_public_key(peer.raw, $0.baseAddress, $0.count) }
            guard set == 1 else { throw .cryptography(.publicKeyInvalid, underlying: OpenSSLErrors.drain()) }
            var count = memory.count
            guard unsafe EVP_PKEY_derive_set_peer_ex(context.raw, peer.raw, 0) == 1,
                unsafe EVP_PKEY_derive(context.raw, memory.bindMemory(to: UInt8.self).baseAddress, &count) == 1, count == memory.count
            else { throw .libraryFailure("EVP_PKEY_derive") }
        }
    }

    /// The curve itself, as OpenSSL computes on it.
    enum Curve {
        // `nonisolated(unsafe)`: read-only after it was made; nil only without memory.
        nonisolated(unsafe) static let group = unsafe EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1)

        /// Whether these 65 bytes (`04 ‖ X ‖ Y`) are a point of the curve.
        static func contains(_ bytes: ArraySlice<UInt8>) -> Bool {
            guard let point = unsafe EC_POINT_new(group) else { return false }
            defer { unsafe EC_POINT_free(point) }
            // Reading checks the curve's equation.
            guard unsafe bytes.withUnsafeBufferPointer({ unsafe EC_POINT_oct2point(group, point, $0.baseAddress, $0.count, nil) }) == 1 else {
                OpenSSLErrors.discard()
                return false
            }
            return true
        }

        /// The public point of a private scalar, uncompressed. Takes time that does not depend on the scalar's value.
        /// - Throws: `cryptography.private_key_invalid` unless 0 < scalar < n.
        static func point(multiplying scalar: borrowing BigNumber) throws(Problem) -> [UInt8] {
            guard unsafe BN_is_zero(scalar.raw) == 0, unsafe BN_cmp(scalar.raw, EC_GROUP_get0_order(group)) < 0 else {
                throw .cryptography(.privateKeyInvalid)
            }
            guard let point = unsafe EC_POINT_new(group) else { throw .libraryFailure("EC_POINT_new") }
            defer { unsafe EC_POINT_clear_free(point) }
            var bytes = [UInt8](repeating: 0, count: 65)
            guard unsafe EC_POINT_mul(group, point, scalar.raw, nil, nil, nil) == 1,
                unsafe EC_POINT_point2oct(group, point, POINT_CONVERSION_UNCOMPRESSED, &bytes, 65, nil) == 65
            else { throw .libraryFailure("EC_POINT_mul") }
            return bytes
        }
    }
}
