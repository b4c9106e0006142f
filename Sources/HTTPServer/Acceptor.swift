import Glibc
import Problems
import Synchronization

/// The thread that accepts, and gives each socket to the loop with the fewest connections.
///
/// The kernel would share few long-lived clients unevenly between listening loops (SO_REUSEPORT: eight of them, 29 % chance of 6:2 or worse).
@safe final class Acceptor: @unchecked Sendable {
    // Sendable: `listeners` is touched before the thread starts and on it; the rest is safe for any thread.
    private let base: EventBase
    private let loops: [EventLoop]
    private let connectionLimit: Int
    private let refused = Atomic<Int>(0)
    private var listeners: [ListenerBox] = []

    init(loops: [EventLoop], connectionLimit: Int) throws(Problem) {
        base = try EventBase()
        self.loops = loops
        self.connectionLimit = connectionLimit
    }

    /// - Parameter sockets: each with the number of its listener in the configuration.
    func start(_ sockets: [(socket: ListeningSocket, number: Int)]) throws(Problem) -> PlainThread {
        for (socket, number) in sockets {
            listeners.append(ListenerBox(try base.listen(socket.release()) { [unowned self] in accepted($0, peer: $1, listener: number) }))
        }
        return try base.start(name: "acceptor") { [unowned self] in
            listeners = []
            base.stop()
        }
    }

    /// Closes the listening sockets and ends the thread.
    func stop() { base.wake() }

    var statistics: HTTPServerStatistics {
        var statistics = HTTPServerStatistics()
        statistics.connectionsRefused = refused.load(ordering: .relaxed)
        return statistics
    }

    private func accepted(_ descriptor: Int32, peer: String, listener: Int) {
        var total = 0
        var least = loops[0]
        var leastLoad = Int.max
        for loop in loops {
            let load = loop.load.load(ordering: .relaxed)
            total += load
            if load < leastLoad { (least, leastLoad) = (loop, load) }
        }
        guard total < connectionLimit else {
            refused.add(1, ordering: .relaxed)
            close(descriptor)
            return
        }
        least.load.add(1, ordering: .relaxed)
        least.post(.adopt(descriptor: descriptor, listener: listener, peer: peer))
    }

    private final class ListenerBox {
        private let listener: EventBase.Listener
        init(_ listener: consuming EventBase.Listener) { self.listener = listener }
    }
}

/// A bound, listening socket; closed with the last reference unless released.
@safe final class ListeningSocket {
    /// The port it got.
    let port: Int
    private var descriptor: Int32

    /// - Parameters:
    ///   - address: numeric.
    ///   - loopbackOnly: refuses any other address.
    init(address: String, port: Int, loopbackOnly: Bool) throws(Problem) {
        let place: [(name: String, value: ContextValue)] = [("address", .text(address)), ("port", .number(port))]
        var hints = unsafe addrinfo()
        unsafe hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        guard (0...65_535).contains(port), unsafe getaddrinfo(address, "\(port)", &hints, &found) == 0, let found = unsafe found else {
            throw .listener(.addressUnusable, context: place)
        }
        defer { unsafe freeaddrinfo(found) }
        if loopbackOnly, unsafe !isLoopback(found.pointee.ai_addr) { throw .listener(.plainBeyondLoopback, context: place) }

        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let opened = unsafe socket(found.pointee.ai_family, type, 0)
        guard opened >= 0 else { throw .listener(.resources, context: place) }
        var on: Int32 = 1
        let size = socklen_t(MemoryLayout<Int32>.size)
        _ = unsafe setsockopt(opened, SOL_SOCKET, SO_REUSEADDR, &on, size)
        // Inherited by every accepted socket. Without it Nagle's algorithm holds answers back for the client's acknowledgement.
        _ = unsafe setsockopt(opened, Int32(IPPROTO_TCP), TCP_NODELAY, &on, size)
        if unsafe found.pointee.ai_family == AF_INET6 { _ = unsafe setsockopt(opened, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &on, size) }
        var name = sockaddr_storage()
        var nameLength = socklen_t(MemoryLayout<sockaddr_storage>.size)
        guard unsafe bind(opened, found.pointee.ai_addr, found.pointee.ai_addrlen) == 0, listen(opened, 4096) == 0,
            unsafe (withUnsafeMutablePointer(
                to: &name, { unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe getsockname(opened, $0, &nameLength) } })) == 0
        else {
            let error = errno
            close(opened)
            throw .listener(error == EADDRINUSE ? .addressInUse : .addressUnusable, context: place, underlying: unsafe String(cString: strerror(error)))
        }
        descriptor = opened
        // The port stands at the same place in both families.
        self.port = unsafe withUnsafeBytes(of: &name) { unsafe Int($0[2]) << 8 | Int($0[3]) }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Gives the descriptor away.
    func release() -> Int32 {
        defer { descriptor = -1 }
        return descriptor
    }
}

@unsafe private func isLoopback(_ address: UnsafeMutablePointer<sockaddr>?) -> Bool {
    guard let address = unsafe address else { return false }
    switch Int32(unsafe address.pointee.sa_family) {
    case AF_INET:
        return unsafe address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { unsafe UInt32(bigEndian: $0.pointee.sin_addr.s_addr) >> 24 == 127 }
    case AF_INET6:
        return unsafe address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { pointer in
            unsafe withUnsafeBytes(of: &pointer.pointee.sin6_addr) { unsafe $0.dropLast().allSatisfy { $0 == 0 } && $0.last == 1 }
        }
    default: return false
    }
}
