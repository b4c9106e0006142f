/// One entry of a room's catalogue: an enum whose raw values are the codes and whose one switch gives the pages, so that code, cause and fix
/// cannot drift apart.
public protocol ProblemEntry: RawRepresentable, CaseIterable, Sendable where RawValue == String {
    var page: ProblemPage { get }
}

/// What stands in the catalogue under a code.
public struct ProblemPage: Sendable {
    /// HTTP status, 400…599.
    public let status: Int
    /// What is wrong with the thing the reader gave us, in their words. One sentence, with its full stop.
    public let cause: String
    /// What the reader does next. One sentence, with its full stop.
    public let fix: String

    public init(_ kind: ProblemKind, cause: String, fix: String) {
        self.init(status: kind.rawValue, cause: cause, fix: fix)
    }

    /// For the HTTP codec's own refusals (417, 431, 501, …), which carry their status.
    public init(status: Int, cause: String, fix: String) {
        self.status = status
        self.cause = cause
        self.fix = fix
    }

    public var retryable: Bool { status == 429 || status == 503 }
}

/// Kinds of problem; the raw value is the HTTP status.
public enum ProblemKind: Int, Sendable, CaseIterable {
    case unreadable = 400
    case unauthenticated = 401
    case forbidden = 403
    case notFound = 404
    case conflict = 409
    case tooLarge = 413
    case unsupportedMedia = 415
    case invalid = 422
    case sealed = 423
    case tooMany = 429
    case fault = 500
    case unavailable = 503
}
