import CLibevent
import Glibc
public import Problems
import Synchronization

/// An HTTP/1.1 server, plain and over TLS, that knows no route.
///
/// One thread accepts and gives each connection to the loop that has fewest; each loop decodes, asks the handler and writes; what may block runs
/// on two worker pools.
public final class HTTPServer: Sendable {
    /// A listener and where it really listens.
    public struct BoundAddress: Sendable, Equatable {
        public let name: String
        public let address: String
        public let port: Int
    }

    private let configuration: HTTPServerConfiguration
    private let core: ServerCore
    let loops: [EventLoop]
    private let acceptor: Acceptor
    private let acceptorThread = Mutex<PlainThread?>(nil)
    private let loopThreads = Mutex<[PlainThread]>([])

    /// Reads certificates and keys. Nothing listens before ``start()``.
    public init(configuration: HTTPServerConfiguration, handler: any RequestHandler) throws(Problem) {
        self.configuration = configuration
        var listeners: [(name: String, tls: TLSContext?)] = []
        for listener in configuration.listeners {
            var tls: TLSContext?
            if let wanted = listener.tls { tls = try TLSContext(wanted) }
            listeners.append((listener.name, tls))
        }
        core = ServerCore(
            handler: handler, limits: configuration.limits, deadlines: configuration.deadlines, listeners: listeners,
            payments: WorkerPool(name: "payments", configuration.payments), background: WorkerPool(name: "background", configuration.background))
        var loops: [EventLoop] = []
        for _ in 0..<max(1, configuration.loops) { loops.append(try EventLoop(core: core)) }
        self.loops = loops
        acceptor = try Acceptor(loops: loops, connectionLimit: Self.connectionLimit(configuration.limits.connections))
    }

    deinit { stop() }

    /// Listens on every address of the configuration, or throws and listens on none. Once.
    public func start() throws(Problem) -> [BoundAddress] {
        var sockets: [(ListeningSocket, Int)] = []
        var bound: [BoundAddress] = []
        for (index, listener) in configuration.listeners.enumerated() {
            let socket = try ListeningSocket(address: listener.address, port: listener.port, loopbackOnly: listener.tls == nil)
            bound.append(BoundAddress(name: listener.name, address: listener.address, port: socket.port))
            sockets.append((socket, index))
        }
        for (number, loop) in loops.enumerated() {
            let thread = try loop.start(number: number + 1)
            loopThreads.withLock { $0.append(thread) }
        }
        let thread = try acceptor.start(sockets)
        acceptorThread.withLock { $0 = thread }
        return bound
    }

    /// Ends in good order: no new connections, idle ones closed, requests under way answered with `Connection: close`. What is not done after
    /// `seconds` is cut. Returns when the last connection is gone; blocks until then.
    public func drain(seconds: Double) {
        // The acceptor first: after its end no loop gets another connection.
        acceptor.stop()
        acceptorThread.withLock { $0.take() }?.join()
        for loop in loops { loop.post(.drain(seconds: seconds)) }
        let threads = loopThreads.withLock { threads in
            let started = threads
            threads = []
            return started
        }
        for thread in threads { thread.join() }
        core.payments.stop()
        core.background.stop()
    }

    /// Ends at once. Requests under way are not answered.
    public func stop() { drain(seconds: 0) }

    /// What has been done so far, for metrics.
    public var statistics: HTTPServerStatistics {
        var sum = acceptor.statistics
        for loop in loops { sum = sum + loop.statistics }
        sum.paymentsLoad = core.payments.load
        sum.backgroundLoad = core.background.load
        return sum
    }

    /// Raises the limit on open files to what `wanted` connections need, and gives how many there is room for: 256 files are left to the rest of
    /// the program.
    public static func connectionLimit(_ wanted: Int) -> Int {
        let files = coster_raise_open_file_limit(wanted + 256)
        return files < 0 ? wanted : max(1, min(wanted, Int(files) - 256))
    }
}

extension WorkerPool {
    convenience init(name: String, _ size: HTTPServerConfiguration.LaneSize) {
        self.init(name: name, threads: size.threads, niceness: size.niceness, queueLimit: size.queueLimit)
    }
}
