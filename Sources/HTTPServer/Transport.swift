import CLibevent
import Encodings
import Glibc

/// The socket of one connection, with TLS on it or without. Never blocks.
@safe struct Transport: ~Copyable {
    enum Outcome {
        case bytes(Int)
        /// Nothing to be had before the socket is readable.
        case wantsRead
        /// Nothing to be done before the socket is writable.
        case wantsWrite
        /// The peer has said its last byte.
        case closed
        case failed
    }

    let descriptor: Int32
    private var session: OpaquePointer?
    /// After an error OpenSSL forbids every further call on the session but `SSL_free`.
    private var isBroken = false
    private var isOpen = true

    /// Owns `descriptor` from here on. With `tls`, nil when no session could be made; the descriptor is closed then.
    init?(_ descriptor: Int32, tls: TLSContext?) {
        self.descriptor = descriptor
        if let tls {
            guard let session = unsafe tls.makeSession(descriptor) else {
                Glibc.close(descriptor)
                return nil
            }
            unsafe self.session = session
        } else {
            unsafe session = nil
        }
    }

    deinit {
        if let session = unsafe session { unsafe SSL_free(session) }
        if isOpen { Glibc.close(descriptor) }
    }

    var isTLS: Bool { unsafe session != nil }

    /// Whether bytes lie in TLS buffers, about which the socket says nothing.
    var hasBuffered: Bool {
        guard let session = unsafe session, !isBroken else { return false }
        return unsafe SSL_has_pending(session) == 1
    }

    /// `.bytes(0)` when it is done.
    mutating func handshake() -> Outcome {
        guard let session = unsafe session else { return .bytes(0) }
        ERR_clear_error()
        let result = unsafe SSL_do_handshake(session)
        return result == 1 ? .bytes(0) : judge(result)
    }

    /// Of a failed handshake.
    var failedOnPlainHTTP: Bool { isBroken && coster_ssl_error_is_plain_http() == 1 }

    /// Goes on without TLS, to tell a client that spoke plain HTTP.
    mutating func abandonTLS() {
        if let session = unsafe session { unsafe SSL_free(session) }
        unsafe session = nil
        isBroken = false
    }

    var isResumed: Bool { unsafe session.map { unsafe SSL_session_reused($0) == 1 } ?? false }

    /// The client's certificate, which a resumed session carries with it. Nil when it gave none.
    var clientCertificate: ClientCertificate? {
        guard let session = unsafe session, let certificate = unsafe SSL_get1_peer_certificate(session) else { return nil }
        defer { unsafe X509_free(certificate) }
        guard let key = unsafe X509_get_X509_PUBKEY(certificate) else { return nil }
        var der: UnsafeMutablePointer<UInt8>?
        let length = unsafe i2d_X509_PUBKEY(key, &der)
        guard length > 0, let der = unsafe der else { return nil }
        defer { unsafe CRYPTO_free(der, nil, 0) }
        var digest = [UInt8](repeating: 0, count: 32)
        guard unsafe EVP_Digest(der, Int(length), &digest, nil, EVP_sha256(), nil) == 1 else { return nil }
        return Digest256(digest).map { ClientCertificate(spkiHash: $0) }
    }

    @unsafe mutating func read(into buffer: UnsafeMutableRawBufferPointer) -> Outcome {
        guard let session = unsafe session else { return unsafe receive(into: buffer) }
        ERR_clear_error()
        let result = unsafe SSL_read(session, buffer.baseAddress, Int32(buffer.count))
        return result > 0 ? .bytes(Int(result)) : judge(result)
    }

    @unsafe mutating func write(_ bytes: UnsafeRawBufferPointer) -> Outcome {
        guard let session = unsafe session else {
            let count = unsafe send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            if count >= 0 { return .bytes(count) }
            return errno == EAGAIN || errno == EINTR ? .wantsWrite : .failed
        }
        ERR_clear_error()
        let result = unsafe SSL_write(session, bytes.baseAddress, Int32(min(bytes.count, 1 << 30)))
        return result > 0 ? .bytes(Int(result)) : judge(result)
    }

    /// What the socket itself has, TLS left aside: for bytes that nobody will look at.
    @unsafe func receive(into buffer: UnsafeMutableRawBufferPointer) -> Outcome {
        let count = unsafe recv(descriptor, buffer.baseAddress, buffer.count, 0)
        if count > 0 { return .bytes(count) }
        if count == 0 { return .closed }
        return errno == EAGAIN || errno == EINTR ? .wantsRead : .failed
    }

    /// Says that nothing more comes from this side: close_notify where TLS is whole, then FIN.
    mutating func endSending() {
        sayGoodbye()
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Closes the socket. `orderly`: after close_notify, where TLS is whole.
    mutating func close(orderly: Bool) {
        guard isOpen else { return }
        if orderly { sayGoodbye() }
        isOpen = false
        Glibc.close(descriptor)
    }

    private mutating func sayGoodbye() {
        guard let session = unsafe session, !isBroken, unsafe SSL_is_init_finished(session) == 1 else { return }
        ERR_clear_error()
        if unsafe SSL_shutdown(session) < 0 { isBroken = true }
    }

    private mutating func judge(_ result: Int32) -> Outcome {
        guard let session = unsafe session else { return .failed }
        switch unsafe SSL_get_error(session, result) {
        case SSL_ERROR_WANT_READ: return .wantsRead
        case SSL_ERROR_WANT_WRITE: return .wantsWrite
        case SSL_ERROR_ZERO_RETURN: return .closed
        default:
            isBroken = true
            return .failed
        }
    }
}
