public import Secrets

/// Where a server listens and what it bounds.
public struct HTTPServerConfiguration: Sendable {
    public var listeners: [Listener]
    /// Event loops, each on a thread of its own.
    public var loops: Int
    public var deadlines = Deadlines()
    public var limits = Limits()
    /// For decryptions.
    public var payments = LaneSize(threads: 2, niceness: 0, queueLimit: 1024)
    /// For everything slow; the niceness lets payments go first.
    public var background = LaneSize(threads: 2, niceness: 10, queueLimit: 64)

    public init(listeners: [Listener], loops: Int = 1) {
        self.listeners = listeners
        self.loops = loops
    }

    /// One address to listen on.
    public struct Listener: Sendable {
        /// Told to the handler with every request.
        public var name: String
        /// Numeric, IPv4 or IPv6.
        public var address: String
        /// 0: any free one; ``HTTPServer/start()`` says which.
        public var port: Int
        /// Nil: plain HTTP, on a loopback address only.
        public var tls: TLSConfiguration?

        public init(name: String, address: String, port: Int, tls: TLSConfiguration?) {
            self.name = name
            self.address = address
            self.port = port
            self.tls = tls
        }
    }

    /// Total times, whatever arrives meanwhile. All requests of one kind have the same, so that a queue of each kind is always in order.
    public struct Deadlines: Sendable {
        /// From the connection to the end of the TLS handshake.
        public var handshake: Duration = .seconds(5)
        /// From the first byte of a head to its end.
        public var head: Duration = .seconds(10)
        /// From the end of the head to the end of the body.
        public var body: Duration = .seconds(15)
        /// From the moment an answer cannot be written at once to its last byte.
        public var write: Duration = .seconds(10)
        /// Without any byte of a request.
        public var idle: Duration = .seconds(60)
        /// For reading on after the last answer, so that a reset does not eat it.
        public var linger: Duration = .seconds(2)

        public init() {}
    }

    public struct Limits: Sendable {
        public var head = RequestDecoder.Limits()
        /// Those beyond it are closed unanswered.
        public var connections = 10_000
        /// Bytes read on after the last answer of a connection before it is cut.
        public var lingerBytes = 1_048_576

        public init() {}
    }

    /// A pool of threads and what may wait for it.
    public struct LaneSize: Sendable {
        public var threads: Int
        /// 0…19: added to the priority of each thread, higher is slower.
        public var niceness: Int
        /// Requests at hand, waiting, running and suspended together; the next one gets 503 at once.
        public var queueLimit: Int

        public init(threads: Int, niceness: Int, queueLimit: Int) {
            self.threads = threads
            self.niceness = niceness
            self.queueLimit = queueLimit
        }
    }
}

/// The server's own certificate and what it asks of clients.
public struct TLSConfiguration: Sendable {
    /// The server's certificate, then its intermediates.
    public var certificateChainPEM: [UInt8]
    /// Unencrypted.
    public var privateKeyPEM: SecretBytes
    /// Asks every client for a certificate; none is fine, and any is taken (see ``ClientCertificate``).
    public var requestClientCertificates: Bool

    public init(certificateChainPEM: [UInt8], privateKeyPEM: SecretBytes, requestClientCertificates: Bool) {
        self.certificateChainPEM = certificateChainPEM
        self.privateKeyPEM = privateKeyPEM
        self.requestClientCertificates = requestClientCertificates
    }
}
