import Dispatch
import Encodings
import Foundation
import Glibc
import HTTPServer
import Problems
import Secrets
import Testing

/// A server on loopback with a plain and a TLS listener, whose handler tells what it saw.
final class TestServer: Sendable {
    let server: HTTPServer
    let handler: TellingHandler
    let plainPort: Int
    let tlsPort: Int

    init(_ change: (inout HTTPServerConfiguration) -> Void = { _ in }) throws {
        let identity = try #require(TestIdentity.server)
        let tls = TLSConfiguration(
            certificateChainPEM: identity.certificatePEM, privateKeyPEM: SecretBytes(copying: identity.keyPEM), requestClientCertificates: true)
        var configuration = HTTPServerConfiguration(
            listeners: [.init(name: "plain", address: "127.0.0.1", port: 0, tls: nil), .init(name: "tls", address: "127.0.0.1", port: 0, tls: tls)], loops: 2)
        change(&configuration)
        handler = TellingHandler()
        server = try HTTPServer(configuration: configuration, handler: handler)
        let bound = try server.start()
        plainPort = bound[0].port
        tlsPort = bound[1].port
    }

    /// For tests that leave it as they found it.
    static let shared = Result { try TestServer() }

    func client(_ wire: Wire) -> RawClient? {
        switch wire {
        case .plain: RawClient(port: plainPort)
        case .tls13: RawClient(port: tlsPort, tls: .init())
        case .tls12: RawClient(port: tlsPort, tls: .init(maximumVersion: 0x0303))
        }
    }
}

enum Wire: CaseIterable {
    case plain, tls13, tls12
}

/// Answers with `METHOD path body-length`; what the path names decides on lane and limits.
final class TellingHandler: RequestHandler {
    /// Closed: requests to `/gate` wait.
    let gate = Gate()

    func plan(_ head: HTTPRequestHead) -> RequestPlan {
        switch head.path {
        case "/refuse": .refuse(HTTPResponse(status: 401, body: Array("refused \(head.requestID)".utf8)))
        case "/payments", "/gate": .read(maximumBodyBytes: 1024, lane: .payments)
        case "/background": .read(maximumBodyBytes: 1024, lane: .background)
        case "/large": .read(maximumBodyBytes: 4_000_000, lane: .loop)
        default: .read(maximumBodyBytes: 1024, lane: .loop)
        }
    }

    func respondOnLoop(_ request: HTTPRequest) -> HTTPResponse {
        if request.head.path == "/flood" { return HTTPResponse(status: 200, body: [UInt8](repeating: 0x78, count: 8_000_000)) }
        return told(request)
    }

    func respond(to request: HTTPRequest) async -> HTTPResponse {
        if request.head.path == "/gate" { await gate.pass() }
        return told(request)
    }

    func refusal(_ problem: Problem, requestID: String) -> HTTPResponse {
        HTTPResponse(status: problem.status, headers: [("Content-Type", "application/problem+json")], body: Array(problem.code.utf8))
    }

    private func told(_ request: HTTPRequest) -> HTTPResponse {
        var headers: [(name: String, value: String)] = [("X-Listener", request.listener), ("X-Peer", request.peerAddress), ("X-TLS", "\(request.isTLS)")]
        if let certificate = request.clientCertificate { headers.append(("X-Client", certificate.spkiHash.hex)) }
        return HTTPResponse(status: 200, headers: headers, body: Array("\(request.head.method) \(request.head.path) \(request.body.count)".utf8))
    }
}

/// Lets tasks wait until it is opened.
final class Gate: @unchecked Sendable {
    // Sendable: both variables are touched only with `lock` held. A POSIX lock, because the thread sanitizer sees through no other.
    private let lock = NSLock()
    private var isOpen = false
    private var held: [CheckedContinuation<Void, Never>] = []

    var waiting: Int { lock.withLock { held.count } }

    func pass() async {
        await withCheckedContinuation { continuation in
            let passes = lock.withLock {
                if !isOpen { held.append(continuation) }
                return isOpen
            }
            if passes { continuation.resume() }
        }
    }

    func open() {
        let released = lock.withLock {
            isOpen = true
            defer { held = [] }
            return held
        }
        for continuation in released { continuation.resume() }
    }
}

/// Looks every millisecond until `condition` holds, at most ten seconds. Blocks, so that no other test's blocking can keep it from looking.
func eventually(_ condition: () -> Bool) -> Bool {
    for _ in 0..<10_000 {
        if condition() { return true }
        usleep(1000)
    }
    return false
}

/// Runs `body` on a thread of its own. The result waits for its end.
func inParallel(_ body: @escaping @Sendable () -> Void) -> () -> Void {
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
        body()
        done.signal()
    }
    return { done.wait() }
}
