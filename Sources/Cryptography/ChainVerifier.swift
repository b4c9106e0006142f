internal import CLibcrypto
public import Encodings
public import Problems

/// A certificate authority that is believed without a signature: pinned in the program, or given by the operator.
public struct TrustAnchor: Hashable, Sendable {
    /// What OpenSSL gets to see of it. For an anchor from constants this is built here and its signature is a dummy.
    public let certificate: Certificate

    public init(certificate: Certificate) { self.certificate = certificate }

    /// From what an authority publishes about itself; no certificate file is needed, because nobody checks an anchor's own signature.
    /// - Parameters:
    ///   - subjectKeyIdentifier: as the authority's certificates name it, or its issued ones do not find their issuer.
    /// - Throws: `certificate.not_a_certificate` when the key or the name is not well-formed.
    public init(
        subject: DistinguishedName, spki: [UInt8], subjectKeyIdentifier: [UInt8], notBefore: Timestamp, notAfter: Timestamp
    ) throws(Problem) {
        let algorithm = DERWriter.sequence { $0.objectIdentifier(.ecdsaWithSHA256) }
        let der = DERWriter.sequence { certificate in
            certificate.sequence { body in
                body.constructed(.context(0)) { $0.integer(2) }
                body.integer(1)
                body.raw(algorithm)
                body.raw(subject.encoded)
                body.sequence { validity in
                    validity.time(notBefore)
                    validity.time(notAfter)
                }
                body.raw(subject.encoded)
                body.raw(spki)
                body.constructed(.context(3)) { wrapper in
                    wrapper.sequence { list in
                        TrustAnchor.add(.basicConstraints, critical: true, to: &list) { $0.sequence { $0.boolean(true) } }
                        TrustAnchor.add(.keyUsage, critical: true, to: &list) {
                            $0.bitString(flags: Certificate.KeyUsage([.keyCertSign, .cRLSign]).rawValue)
                        }
                        TrustAnchor.add(.subjectKeyIdentifier, critical: false, to: &list) { $0.octetString(subjectKeyIdentifier) }
                    }
                }
            }
            certificate.raw(algorithm)
            certificate.bitString([0])
        }
        certificate = try Certificate(der: der)
    }

    private static func add(_ oid: OID, critical: Bool, to list: inout DERWriter, _ value: (inout DERWriter) -> Void) {
        list.sequence { entry in
            entry.objectIdentifier(oid)
            if critical { entry.boolean(true) }
            entry.constructed(.octetString, value)
        }
    }
}

/// Builds and checks certificate chains by OpenSSL, up to a fixed set of anchors and nothing else: no system store, no file, no network.
@safe public final class ChainVerifier: @unchecked Sendable {
    // Sendable: an X509_STORE is locked inside, and is not changed after `init`.

    public enum Verdict: Hashable, Sendable {
        /// The chain ends in this anchor, by its place in ``ChainVerifier/anchors``.
        case trusted(anchor: Int)
        /// A certificate of the chain had ended at that time.
        case expired
        case notYetValid
        /// A signature in the chain does not fit its issuer's key.
        case badSignature
        /// The chain ends without an anchor: an issuer is missing, or its last certificate is nobody we trust.
        case untrustedRoot
        /// The chain breaks another rule of RFC 5280: an issuer that is no CA, a path too long, an unknown critical extension, …
        case refused(reason: String)
        /// OpenSSL can't read one of the certificates.
        case unreadable
    }

    public let anchors: [TrustAnchor]
    private let store: OpaquePointer

    /// - Throws: `certificate.not_a_certificate` when OpenSSL can't read an anchor.
    public init(anchors: [TrustAnchor]) throws(Problem) {
        self.anchors = anchors
        guard let store = unsafe X509_STORE_new() else { throw .libraryFailure("X509_STORE_new") }
        unsafe self.store = store  // owned from here on
        for anchor in anchors {
            guard let certificate = X509Pointer(anchor.certificate.der) else {
                throw .cryptography(.notACertificate, underlying: OpenSSLErrors.drain())
            }
            guard unsafe X509_STORE_add_cert(store, certificate.raw) == 1 else { throw .libraryFailure("X509_STORE_add_cert") }
        }
    }

    deinit { unsafe X509_STORE_free(store) }

    /// Judges `leaf` at one time, through any of `intermediates` (which are believed only as far as their signatures reach).
    ///
    /// Purpose any: Apple's leaves carry markers of their own instead. Strict rules of RFC 5280. Each anchor ends a chain, self-signed or not.
    public func verify(leaf: Certificate, intermediates: [Certificate], at time: Timestamp) -> Verdict {
        defer { OpenSSLErrors.discard() }
        guard let target = X509Pointer(leaf.der), let stack = unsafe coster_x509_stack_new() else { return .unreadable }
        defer { unsafe coster_x509_stack_free(stack) }
        for intermediate in intermediates {
            guard let certificate = X509Pointer(intermediate.der) else { return .unreadable }
            let raw = unsafe certificate.release()
            guard unsafe coster_x509_stack_push(stack, raw) > 0 else {
                unsafe X509_free(raw)
                return .unreadable
            }
        }
        guard let context = unsafe X509_STORE_CTX_new() else { return .unreadable }
        defer { unsafe X509_STORE_CTX_free(context) }
        guard unsafe X509_STORE_CTX_init(context, store, target.raw, stack) == 1 else { return .unreadable }
        let parameters = unsafe X509_STORE_CTX_get0_param(context)
        unsafe X509_VERIFY_PARAM_set_time(parameters, time_t(time.milliseconds / 1000))
        unsafe X509_VERIFY_PARAM_set_flags(parameters, UInt(X509_V_FLAG_X509_STRICT | X509_V_FLAG_PARTIAL_CHAIN | X509_V_FLAG_TRUSTED_FIRST))
        unsafe X509_VERIFY_PARAM_set_purpose(parameters, X509_PURPOSE_ANY)
        guard unsafe X509_verify_cert(context) == 1 else { return unsafe ChainVerifier.verdict(X509_STORE_CTX_get_error(context)) }
        guard let last = unsafe coster_x509_stack_last(X509_STORE_CTX_get0_chain(context)) else { return .untrustedRoot }
        guard let found = unsafe X509Pointer.der(last), let index = anchors.firstIndex(where: { $0.certificate.der == found }) else {
            return .untrustedRoot
        }
        return .trusted(anchor: index)
    }

    /// Whether the key in `spki` made the signature on `certificate`: ECDSA or RSASSA-PKCS1-v1_5 with SHA-256, SHA-384 or SHA-512.
    public func isSigned(_ certificate: Certificate, by spki: [UInt8]) -> Bool {
        guard let key = PKey(spki: spki), let (kind, bits) = ChainVerifier.scheme(certificate.signatureAlgorithm) else { return false }
        guard unsafe EVP_PKEY_is_a(key.raw, kind) == 1 else { return false }
        return unsafe key.isValid(signature: certificate.signature, over: certificate.der[certificate.toBeSigned], digest: Algorithms.sha2(bits))
    }

    /// Kind of key and bits of SHA-2.
    static func scheme(_ algorithm: OID) -> (kind: String, bits: Int)? {
        switch algorithm {
        case .ecdsaWithSHA256: ("EC", 256)
        case .ecdsaWithSHA384: ("EC", 384)
        case .ecdsaWithSHA512: ("EC", 512)
        case .sha256WithRSA: ("RSA", 256)
        case .sha384WithRSA: ("RSA", 384)
        case .sha512WithRSA: ("RSA", 512)
        default: nil
        }
    }

    private static func verdict(_ error: Int32) -> Verdict {
        switch error {
        case X509_V_ERR_CERT_HAS_EXPIRED: .expired
        case X509_V_ERR_CERT_NOT_YET_VALID: .notYetValid
        case X509_V_ERR_CERT_SIGNATURE_FAILURE, X509_V_ERR_UNABLE_TO_DECRYPT_CERT_SIGNATURE: .badSignature
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE,
            X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, X509_V_ERR_CERT_UNTRUSTED:
            .untrustedRoot
        default: unsafe .refused(reason: String(cString: X509_verify_cert_error_string(Int(error))))
        }
    }
}

/// An `X509` whose one reference this value owns.
@safe struct X509Pointer: ~Copyable {
    let raw: OpaquePointer

    /// Nil when OpenSSL can't read `der`, or bytes follow.
    init?(_ der: [UInt8]) {
        let read = unsafe der.withUnsafeBufferPointer { bytes -> OpaquePointer? in
            var next = bytes.baseAddress
            let certificate = unsafe d2i_X509(nil, &next, bytes.count)
            guard unsafe next == bytes.baseAddress.map({ unsafe $0 + bytes.count }) else {
                unsafe X509_free(certificate)
                return nil
            }
            return unsafe certificate
        }
        guard let read = unsafe read else { return nil }
        unsafe raw = read
    }

    deinit { unsafe X509_free(raw) }

    /// Gives the reference away: who takes it frees it.
    @unsafe consuming func release() -> OpaquePointer {
        let raw = unsafe raw
        discard self
        return unsafe raw
    }

    @unsafe static func der(_ certificate: OpaquePointer) -> [UInt8]? {
        var der: UnsafeMutablePointer<UInt8>?
        let count = unsafe i2d_X509(certificate, &der)
        guard count > 0, let der = unsafe der else { return nil }
        defer { unsafe CRYPTO_free(der, "", 0) }
        return unsafe Array(UnsafeBufferPointer(start: der, count: Int(count)))
    }
}
