/// A value bound to a place in a statement. Values are always bound, never spliced into the text.
public enum Parameter: Sendable, Equatable {
    case null
    case integer(Int64)
    case text(String)
    case blob([UInt8])

    /// `nil` becomes NULL.
    public init(_ value: Int64?) { self = value.map(Parameter.integer) ?? .null }
    /// `nil` becomes NULL.
    public init(_ value: Int?) { self = value.map { .integer(Int64($0)) } ?? .null }
    /// `nil` becomes NULL.
    public init(_ value: String?) { self = value.map(Parameter.text) ?? .null }
    /// `nil` becomes NULL.
    public init(_ value: [UInt8]?) { self = value.map(Parameter.blob) ?? .null }
    /// 1 or 0.
    public init(_ value: Bool) { self = .integer(value ? 1 : 0) }
}

extension Parameter: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral, ExpressibleByNilLiteral, ExpressibleByBooleanLiteral {
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(stringLiteral value: String) { self = .text(value) }
    public init(nilLiteral: ()) { self = .null }
    public init(booleanLiteral value: Bool) { self = .integer(value ? 1 : 0) }
}
