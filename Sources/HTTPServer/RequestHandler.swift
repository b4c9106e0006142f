public import Problems

/// What answers the requests of a server. Called on the loops' threads, except ``respond(to:)``.
public protocol RequestHandler: Sendable {
    /// What to do with a head before its body is read. On the loop: it must not block.
    func plan(_ head: HTTPRequestHead) -> RequestPlan
    /// The answer for lane `.loop`. On the loop: it must not block.
    func respondOnLoop(_ request: HTTPRequest) -> HTTPResponse
    /// The answer for the lanes `.payments` and `.background`. Runs on that lane's ``WorkerPool``, may block its thread, may suspend.
    func respond(to request: HTTPRequest) async -> HTTPResponse
    /// How a refusal of the server's own is written. On the loop: it must not block.
    func refusal(_ problem: Problem, requestID: String) -> HTTPResponse
}

/// What the server does with a request whose head it knows.
public enum RequestPlan: Sendable {
    /// Answers at once. Where a body was to follow it is not read: the connection ends in good order after the answer.
    case refuse(HTTPResponse)
    /// Reads a body of at most `maximumBodyBytes` (more is 413), then answers on `lane`.
    case read(maximumBodyBytes: Int, lane: Lane)
}

/// Where an answer is made.
public enum Lane: Sendable {
    /// On the event loop itself, for what costs microseconds and never blocks.
    case loop
    /// The pool for decryptions.
    case payments
    /// The pool for everything slow, at lower priority.
    case background
}
