/// Everything that goes wrong in this house, with its cause and the next step: the one thrown type (`throws(Problem)`).
///
/// Two problems are equal when their codes are. `title` says what is wrong, `detail` what the reader does next, one sentence each; neither
/// holds a secret, account data or a library's error text. Those go to ``underlying``, which only the operator's log prints.
/// - Source: RFC 9457; `code`, `retryable`, `request_id` and `context` are our members.
public struct Problem: Error, Sendable {
    /// `area.name`; never reworded, never reused.
    public let code: String
    /// The HTTP status this problem answers with.
    public let status: Int
    /// The cause, one sentence.
    public let title: String
    /// The next step, one sentence.
    public let detail: String
    /// Hashes, ids, dates, limits and sizes; never a secret. Order is kept.
    public var context: [(name: String, value: ContextValue)]
    /// What a library said. For the operator's log only.
    public let underlying: String?
    /// For 429 and 503: how long to wait, in seconds.
    public var retryAfterSeconds: Int?

    /// - Parameters:
    ///   - cause: replaces the page's sentence where the case at hand can be said more exactly.
    ///   - fix: likewise.
    public init<Entry: ProblemEntry>(
        _ entry: Entry, cause: String? = nil, fix: String? = nil, context: [(name: String, value: ContextValue)] = [],
        underlying: String? = nil, retryAfterSeconds: Int? = nil
    ) {
        let page = entry.page
        self.code = entry.rawValue
        self.status = page.status
        self.title = cause ?? page.cause
        self.detail = fix ?? page.fix
        self.context = context
        self.underlying = underlying
        self.retryAfterSeconds = retryAfterSeconds ?? (page.retryable ? 1 : nil)
    }

    /// Whether the same call may succeed later without any change: 429 and 503 only.
    public var retryable: Bool { status == 429 || status == 503 }

    /// The same problem with one more fact.
    public func with(_ name: String, _ value: ContextValue) -> Problem {
        var copy = self
        copy.context.append((name, value))
        return copy
    }
}

extension Problem: Equatable {
    public static func == (left: Problem, right: Problem) -> Bool { left.code == right.code }
}

extension Problem: CustomStringConvertible {
    /// Code, cause and next step: what a command prints.
    public var description: String { "\(code): \(title) \(detail)" }
}

/// One fact beside a problem.
public enum ContextValue: Sendable, Equatable, ExpressibleByStringLiteral, ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral {
    case text(String)
    case number(Int)
    case list([ContextValue])
    case record([String: ContextValue])

    public init(stringLiteral value: String) { self = .text(value) }
    public init(integerLiteral value: Int) { self = .number(value) }
}
