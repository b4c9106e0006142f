import CLibevent
import Glibc

/// A blocking client that sends the bytes it is given and nothing else, plain or over TLS. Each call gives up after five seconds.
@safe final class RawClient {
    struct TLS {
        var identity: TestIdentity?
        var maximumVersion = TLS1_3_VERSION
        var minimumVersion = TLS1_VERSION
        var ciphers12 = "DEFAULT:@SECLEVEL=0"
        var session: Session?
    }

    /// What a client keeps to resume.
    @safe final class Session {
        fileprivate let raw: OpaquePointer?
        fileprivate init(_ raw: OpaquePointer?) { unsafe self.raw = raw }
        deinit { unsafe SSL_SESSION_free(raw) }
    }

    struct Response {
        var status: Int
        var head: String
        var body: [UInt8]

        var text: String { String(decoding: body, as: UTF8.self) }

        func header(_ name: String) -> String? {
            for line in head.split(separator: "\r\n").dropFirst() {
                let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
                if parts.count == 2, parts[0].lowercased() == name { return String(parts[1].drop { $0 == " " }) }
            }
            return nil
        }
    }

    enum Ending { case closed, reset, timeout }

    private let descriptor: Int32
    private var context: OpaquePointer?
    private var session: OpaquePointer?
    private var received: [UInt8] = []
    private(set) var ending: Ending?

    /// Nil when no connection or no handshake came about.
    init?(port: Int, tls: TLS? = nil) {
        // libssl writes without MSG_NOSIGNAL, and some tests write to what the server has closed.
        _ = signal(SIGPIPE, SIG_IGN)
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        unsafe context = nil
        unsafe session = nil
        var wait = timeval(tv_sec: 5, tv_usec: 0)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &wait, socklen_t(MemoryLayout<timeval>.size))
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &wait, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port).bigEndian)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let connected = unsafe withUnsafePointer(to: &address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
        guard connected == 0 else { return nil }
        guard let tls else { return }
        unsafe context = SSL_CTX_new(TLS_client_method())
        unsafe SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(tls.minimumVersion), nil)
        unsafe SSL_CTX_ctrl(context, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(tls.maximumVersion), nil)
        guard unsafe SSL_CTX_set_cipher_list(context, tls.ciphers12) == 1 else { return nil }
        if let identity = tls.identity, unsafe !identity.use(in: context) { return nil }
        unsafe session = SSL_new(context)
        unsafe SSL_set_fd(session, descriptor)
        if let resumed = tls.session { unsafe SSL_set_session(session, resumed.raw) }
        ERR_clear_error()
        guard unsafe SSL_connect(session) == 1 else { return nil }
    }

    deinit {
        unsafe SSL_free(session)
        unsafe SSL_CTX_free(context)
        close(descriptor)
    }

    var isResumed: Bool { unsafe SSL_session_reused(session) == 1 }

    /// To resume with; in TLS 1.3 after the first answer, since the ticket comes behind the handshake.
    func takeSession() -> Session { unsafe Session(SSL_get1_session(session)) }

    /// Whether the server takes part in a new handshake on this connection (TLS 1.2).
    func renegotiate() -> Bool {
        ERR_clear_error()
        return unsafe SSL_renegotiate(session) == 1 && SSL_do_handshake(session) == 1
    }

    @discardableResult
    func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { bytes in
                let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[sent...])
                if unsafe session == nil { return unsafe Glibc.send(descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL)) }
                ERR_clear_error()
                return unsafe Int(SSL_write(session, rest.baseAddress, Int32(rest.count)))
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    /// Says that nothing more comes.
    func endSending() {
        if unsafe session != nil { unsafe SSL_shutdown(session) }
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// The next answer; nil when the connection ends before it is whole (see ``ending``).
    func response(toHEAD: Bool = false) -> Response? {
        let blank = Array("\r\n\r\n".utf8)
        while true {
            if let end = position(of: blank) {
                let head = String(decoding: received[..<end], as: UTF8.self)
                let status = head.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
                var response = Response(status: status, head: head, body: [])
                let length = status == 100 || toHEAD ? 0 : response.header("content-length").flatMap { Int($0) } ?? 0
                if received.count >= end + 4 + length {
                    response.body = Array(received[(end + 4)..<(end + 4 + length)])
                    received.removeSubrange(..<(end + 4 + length))
                    return response
                }
            }
            guard receive() else { return nil }
        }
    }

    /// Whether the connection has ended in good order, without another byte.
    func hasEnded() -> Bool {
        let had = received.count
        while receive() {}
        return ending == .closed && received.count == had
    }

    private func receive() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count: Int
        if unsafe session == nil {
            count = unsafe recv(descriptor, &buffer, buffer.count, 0)
            if count < 0 { ending = errno == ECONNRESET ? .reset : .timeout }
        } else {
            ERR_clear_error()
            count = unsafe Int(SSL_read(session, &buffer, Int32(buffer.count)))
            if count <= 0 {
                switch unsafe SSL_get_error(session, Int32(count)) {
                case SSL_ERROR_ZERO_RETURN: ending = .closed
                case SSL_ERROR_WANT_READ: ending = .timeout
                default: ending = .reset
                }
            }
        }
        if count == 0 { ending = .closed }
        guard count > 0 else { return false }
        received += buffer[..<count]
        return true
    }

    private func position(of pattern: [UInt8]) -> Int? {
        guard received.count >= pattern.count else { return nil }
        return (0...(received.count - pattern.count)).first { received[$0] == pattern[0] && received[$0..<($0 + pattern.count)].elementsEqual(pattern) }
    }
}
