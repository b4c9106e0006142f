public import Accounts
import Encodings
public import HTTPServer
import Problems

/// Methods that routes have. HEAD is answered by what GET answers.
public enum HTTPMethod: String, Sendable, CaseIterable {
    case get = "GET"
    case post = "POST"
    case patch = "PATCH"
    case delete = "DELETE"
}

/// One line of the table: everything that is known of a call, for answering it and for `openapi.json`.
///
/// A handler is given the ``Grant`` of the permission that its route names, and there is no other way to make a route with a permission: none can
/// forget to ask.
public final class Route: Sendable {
    /// Who may call.
    public enum Access: Sendable {
        /// Everybody.
        case open
        /// Whoever's credential has this permission.
        case permission(any Permission.Type)
        /// As `permission`, or anybody on the operator's own loopback listener.
        case operatorsListener(any Permission.Type)
        /// Everybody; who has the permission is told more.
        case openWithMore(any Permission.Type)
    }

    /// What a body may be.
    public enum Body: Sendable {
        case none
        /// One JSON object. Where the schema demands no member, the body may be empty.
        case json(Schema, maximumBytes: Int = 65_536)
        /// The file itself, a form, or JSON: see ``UploadBody``.
        case upload(maximumBytes: Int)

        var maximumBytes: Int {
            switch self {
            case .none: 0
            case .json(_, let maximumBytes), .upload(let maximumBytes): maximumBytes
            }
        }
    }

    /// What a good answer is.
    public enum Answer: Sendable {
        case json(Schema, statuses: [Int: String])
        /// Something else, by content type.
        case other(types: [String], summary: String)

        static func ok(_ schema: Schema, _ summary: String = "The record.") -> Answer { .json(schema, statuses: [200: summary]) }
        static func made(_ schema: Schema, again: String = "The same call had made it already.") -> Answer {
            .json(schema, statuses: [201: "Made.", 200: again])
        }
    }

    public let method: HTTPMethod
    public let path: PathPattern
    public let access: Access
    public let lane: Lane
    public let query: [QueryParameter]
    public let body: Body
    public let answer: Answer
    /// One sentence.
    public let summary: String
    /// Whether an `Idempotency-Key` is read: the call makes something.
    public let makes: Bool
    /// What the caller's calls are counted under.
    public let rate: RateLimits.Kind?
    let responder: Responder

    enum Responder: Sendable {
        /// Never blocks.
        case onLoop(@Sendable (Exchange) throws(Problem) -> HTTPResponse)
        /// Notes the caller as soon as it is known.
        case onWorker(@Sendable (Exchange, inout CredentialID?) async throws(Problem) -> HTTPResponse)
    }

    private init(
        _ method: HTTPMethod, _ path: String, _ access: Access, _ lane: Lane, query: [QueryParameter] = [], body: Body = .none, answer: Answer,
        _ summary: String, makes: Bool = false, rate: RateLimits.Kind? = nil, _ responder: Responder
    ) {
        self.method = method
        self.path = PathPattern(path)
        self.access = access
        self.lane = lane
        self.query = query
        self.body = body
        self.answer = answer
        self.summary = summary
        self.makes = makes
        self.rate = rate
        self.responder = responder
    }

    /// A call that needs a permission.
    convenience init<Allowed: Permission>(
        _ method: HTTPMethod, _ path: String, _ permission: Allowed.Type, lane: Lane = .background, query: [QueryParameter] = [], body: Body = .none,
        answer: Answer, _ summary: String, makes: Bool = false, rate: RateLimits.Kind? = nil,
        _ handler: @escaping @Sendable (Exchange, Grant<Allowed>) async throws(Problem) -> HTTPResponse
    ) {
        self.init(
            method, path, .permission(permission), lane, query: query, body: body, answer: answer, summary, makes: makes, rate: rate,
            .onWorker { exchange, caller throws(Problem) in
                let principal = try exchange.authenticate()
                caller = principal.credential
                let grant = try principal.grant(permission)
                if let rate { try exchange.service.rateLimiter.admit(principal.credential, rate, at: exchange.service.clock()) }
                // Unknown parameters are refused by every call, also by those that know none.
                _ = try exchange.query()
                return try await handler(exchange, grant)
            })
    }

    /// A call that is open to everybody and never blocks.
    convenience init(
        open path: String, answer: Answer, _ summary: String, _ handler: @escaping @Sendable (Exchange) throws(Problem) -> HTTPResponse
    ) {
        self.init(.get, path, .open, .loop, answer: answer, summary, .onLoop(handler))
    }

    /// A call for those who run the service; on the listener that is theirs alone, without a credential too.
    /// - Parameter openToStrangers: whether others get an answer; the handler is told whether it has an insider before it.
    convenience init<Allowed: Permission>(
        insight path: String, _ permission: Allowed.Type, openToStrangers: Bool, lane: Lane, answer: Answer, _ summary: String,
        _ handler: @escaping @Sendable (Exchange, _ isInsider: Bool) throws(Problem) -> HTTPResponse
    ) {
        self.init(
            .get, path, openToStrangers ? .openWithMore(permission) : .operatorsListener(permission), lane, answer: answer, summary,
            .onWorker { exchange, caller throws(Problem) in
                if exchange.isOnOperatorsListener { return try handler(exchange, true) }
                if openToStrangers, !exchange.request.head.carriesCredential { return try handler(exchange, false) }
                let principal = try exchange.authenticate()
                caller = principal.credential
                guard openToStrangers else {
                    _ = try principal.grant(permission)
                    return try handler(exchange, true)
                }
                return try handler(exchange, Allowed.roles.contains(principal.role))
            })
    }
}
