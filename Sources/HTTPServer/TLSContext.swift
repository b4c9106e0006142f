import CLibevent
import Problems
import Secrets

/// One listener's certificate and TLS settings, shared by all loops: so are its ticket keys, and a session made on one loop resumes on another.
@safe final class TLSContext: @unchecked Sendable {
    // Sendable: an SSL_CTX may be used by several threads as long as nobody changes it (OpenSSL, "openssl-threads"); it is complete after init.
    private let raw: OpaquePointer

    init(_ configuration: TLSConfiguration) throws(Problem) {
        ERR_clear_error()
        guard let raw = unsafe SSL_CTX_new(TLS_server_method()) else { throw .listener(.resources) }
        unsafe self.raw = raw
        guard unsafe coster_ssl_ctx_restrict(raw) == 1 else { throw .listener(.resources) }
        try unsafe Self.useCertificates(configuration.certificateChainPEM, raw)
        try unsafe Self.usePrivateKey(configuration.privateKeyPEM, raw)
        unsafe coster_ssl_ctx_use_tickets_only(raw)
        _ = unsafe SSL_CTX_set_num_tickets(raw, 1)
        _ = unsafe SSL_CTX_set_timeout(raw, 3600)
        // Without a context id a session with a client certificate is refused when it comes back.
        let sessionContext = Array("coster".utf8)
        _ = unsafe SSL_CTX_set_session_id_context(raw, sessionContext, UInt32(sessionContext.count))
        if configuration.requestClientCertificates {
            unsafe SSL_CTX_set_verify(raw, SSL_VERIFY_PEER, nil)
            // The proof of possession is checked by TLS itself; whose key it is, is decided above by its hash. So there is no chain to build.
            unsafe SSL_CTX_set_cert_verify_callback(raw, acceptAnyChain, nil)
        }
    }

    deinit { unsafe SSL_CTX_free(raw) }

    /// The server's side of one connection on `descriptor`, to be freed by the caller. Nil when memory is short.
    @unsafe func makeSession(_ descriptor: Int32) -> OpaquePointer? {
        guard let session = unsafe SSL_new(raw) else { return nil }
        guard unsafe SSL_set_fd(session, descriptor) == 1 else {
            unsafe SSL_free(session)
            return nil
        }
        unsafe SSL_set_accept_state(session)
        return unsafe session
    }

    private static func useCertificates(_ pem: [UInt8], _ context: OpaquePointer) throws(Problem) {
        guard let source = unsafe BIO_new_mem_buf(pem, Int32(pem.count)) else { throw .listener(.resources) }
        defer { unsafe BIO_free(source) }
        guard let leaf = unsafe PEM_read_bio_X509(source, nil, refusePassphrase, nil) else { throw .listener(.certificateUnreadable) }
        defer { unsafe X509_free(leaf) }
        guard unsafe SSL_CTX_use_certificate(context, leaf) == 1 else { throw .listener(.certificateUnreadable, underlying: newestError()) }
        while let issuer = unsafe PEM_read_bio_X509(source, nil, refusePassphrase, nil) {
            guard unsafe coster_ssl_ctx_add_chain_certificate(context, issuer) == 1 else {
                unsafe X509_free(issuer)
                throw .listener(.certificateUnreadable, underlying: newestError())
            }
        }
        ERR_clear_error()  // the end of the text is an error to the PEM reader
    }

    private static func usePrivateKey(_ pem: SecretBytes, _ context: OpaquePointer) throws(Problem) {
        let key = unsafe pem.withUnsafeBytes { bytes -> OpaquePointer? in
            guard let source = unsafe BIO_new_mem_buf(bytes.baseAddress, Int32(bytes.count)) else { return nil }
            defer { unsafe BIO_free(source) }
            return unsafe PEM_read_bio_PrivateKey(source, nil, refusePassphrase, nil)
        }
        guard let key = unsafe key else { throw .listener(.privateKeyUnreadable) }
        defer { unsafe EVP_PKEY_free(key) }
        guard unsafe SSL_CTX_use_PrivateKey(context, key) == 1, unsafe SSL_CTX_check_private_key(context) == 1 else {
            throw .listener(.keyMismatch, underlying: newestError())
        }
    }
}

private func acceptAnyChain(_ chain: OpaquePointer?, _ context: UnsafeMutableRawPointer?) -> Int32 {
    if let chain = unsafe chain { unsafe X509_STORE_CTX_set_error(chain, X509_V_OK) }
    return 1
}

/// An encrypted PEM has no passphrase here; without this callback OpenSSL would ask the terminal.
private func refusePassphrase(_ buffer: UnsafeMutablePointer<CChar>?, _ size: Int32, _ writing: Int32, _ context: UnsafeMutableRawPointer?) -> Int32 { -1 }

/// OpenSSL's newest error of this thread, for the operator's log.
private func newestError() -> String? {
    let code = ERR_get_error()
    guard code != 0 else { return nil }
    var text = [CChar](repeating: 0, count: 256)
    unsafe ERR_error_string_n(code, &text, text.count)
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
