/// What a server has done so far, for metrics. Counted, never reset.
public struct HTTPServerStatistics: Sendable, Equatable {
    /// Connections open now.
    public var connections = 0
    public var connectionsAccepted = 0
    /// Closed unanswered because the limit was reached.
    public var connectionsRefused = 0
    public var handshakes = 0
    public var handshakesResumed = 0
    public var handshakesFailed = 0
    /// Requests whose head was complete.
    public var requests = 0
    /// Connections closed by a deadline, by its name: `handshake` `head` `body` `write` `idle` `linger`.
    public var deadlines: [String: Int] = [:]
    /// Refusals of the server's own, by problem code.
    public var refusals: [String: Int] = [:]
    /// Requests at hand in each lane now.
    public var paymentsLoad = 0
    public var backgroundLoad = 0

    static func + (left: HTTPServerStatistics, right: HTTPServerStatistics) -> HTTPServerStatistics {
        var sum = left
        sum.connections += right.connections
        sum.connectionsAccepted += right.connectionsAccepted
        sum.connectionsRefused += right.connectionsRefused
        sum.handshakes += right.handshakes
        sum.handshakesResumed += right.handshakesResumed
        sum.handshakesFailed += right.handshakesFailed
        sum.requests += right.requests
        sum.deadlines.merge(right.deadlines, uniquingKeysWith: +)
        sum.refusals.merge(right.refusals, uniquingKeysWith: +)
        return sum
    }
}
