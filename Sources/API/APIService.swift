public import Encodings
public import HTTPServer
public import Operations
public import Problems
public import Sandbox
import Synchronization

/// What all handlers share.
public final class APIService: Sendable {
    /// Whether keys can be opened.
    public enum State: Sendable {
        case open(Operations, SandboxAuthority)
        /// Every call that needs a credential is answered with this.
        case sealed(Problem)
    }

    /// The name of the listener on which insight is given without a credential: bound to loopback, for a metrics collector.
    public static let operatorsListener = "metrics"

    let clock: @Sendable () -> Timestamp
    let rateLimiter: RateLimiter
    let metrics = Metrics()
    let log: @Sendable (AccessRecord) -> Void
    let serverStatistics: @Sendable () -> HTTPServerStatistics?
    let readiness: @Sendable () -> [Problem]
    private let current: Mutex<State>

    /// - Parameters:
    ///   - readiness: why payments can't be served, beside being sealed; empty where they can. May block.
    ///   - serverStatistics: what the HTTP server has counted, for `/metrics`; nil while it does not run.
    ///   - log: is given one record a request; must not block.
    public init(
        _ state: State, rateLimits: RateLimits = RateLimits(), clock: @escaping @Sendable () -> Timestamp,
        readiness: @escaping @Sendable () -> [Problem] = { [] },
        serverStatistics: @escaping @Sendable () -> HTTPServerStatistics? = { nil }, log: @escaping @Sendable (AccessRecord) -> Void = { _ in }
    ) {
        current = Mutex(state)
        rateLimiter = RateLimiter(rateLimits)
        self.clock = clock
        self.readiness = readiness
        self.serverStatistics = serverStatistics
        self.log = log
    }

    /// Setting it unseals or seals the service; requests under way end as they began.
    public var state: State {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }
}
