import Encodings
import Problems

/// A query parameter that a route knows.
public struct QueryParameter: Sendable {
    public let name: String
    public let schema: Schema

    init(_ name: String, _ schema: Schema) {
        self.name = name
        self.schema = schema
    }

    static let limit = QueryParameter("limit", .integer("Most values on the page; 50 when left out.", 1...100))
    /// - Parameter what: whose id, or what else stands in `next`.
    static func after(_ what: String) -> QueryParameter { QueryParameter("after", .text("The `next` of the page before: \(what).")) }
}

/// The query of one request: parameters the route knows, each once.
struct QueryString: Sendable {
    private let values: [(name: String, value: String)]

    /// - Throws: `request.parameter_malformed`, `.parameter_unknown`, `.parameter_doubled`.
    init(_ text: String?, _ known: [QueryParameter]) throws(Problem) {
        var values: [(name: String, value: String)] = []
        for pair in (text ?? "").split(separator: "&") {
            let halves = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = PercentEncoding.decode(halves[0]), let value = PercentEncoding.decode(halves.count > 1 ? halves[1] : "") else {
                throw .api(.parameterMalformed)
            }
            guard known.contains(where: { $0.name == name }) else {
                throw .api(
                    .parameterUnknown, cause: "The address has the query parameter \"\(name.clipped)\", which this call does not know.",
                    context: [("parameter", .text(name.clipped)), ("known", .list(known.map { .text($0.name) }))])
            }
            guard !values.contains(where: { $0.name == name }) else { throw .api(.parameterDoubled, context: [("parameter", .text(name))]) }
            values.append((name, value))
        }
        self.values = values
    }

    func text(_ name: String) -> String? { values.first { $0.name == name }?.value }

    func integer(_ name: String, in range: ClosedRange<Int>) throws(Problem) -> Int? {
        guard let text = text(name) else { return nil }
        guard let number = Int(text), range.contains(number), text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else {
            throw .parameterInvalid(
                name, "is not a number between \(range.lowerBound) and \(range.upperBound)",
                context: [("minimum", .number(range.lowerBound)), ("maximum", .number(range.upperBound))])
        }
        return number
    }

    /// How many values a page is to have.
    func limit() throws(Problem) -> Int { try integer("limit", in: 1...100) ?? 50 }

    func id<Kind: RecordKind>(_ name: String, _ type: RecordID<Kind>.Type = RecordID<Kind>.self) throws(Problem) -> RecordID<Kind>? {
        guard let text = text(name) else { return nil }
        guard let id = RecordID<Kind>(text) else { throw .parameterInvalid(name, "is not an id that begins with \(Kind.prefix)_") }
        return id
    }

    func digest(_ name: String) throws(Problem) -> Digest256? {
        guard let text = text(name) else { return nil }
        guard let digest = Digest256(text: text) else { throw .parameterInvalid(name, "is not a SHA-256 hash in base64, base64url or hexadecimal") }
        return digest
    }

    func time(_ name: String) throws(Problem) -> Timestamp? {
        guard let text = text(name) else { return nil }
        guard let time = Timestamp(rfc3339: text) else { throw .parameterInvalid(name, "is not a time of RFC 3339, such as 2027-01-31T00:00:00Z") }
        return time
    }

    func value<Value: RawRepresentable<String> & CaseIterable>(_ name: String, as type: Value.Type) throws(Problem) -> Value? {
        guard let text = text(name) else { return nil }
        guard let value = Value(rawValue: text) else {
            throw .parameterInvalid(
                name, "is none of the values allowed", context: [("allowed", .list(Value.allCases.map { .text($0.rawValue) }))])
        }
        return value
    }
}

extension Problem {
    static func parameterInvalid(_ name: String, _ what: String, context: [(name: String, value: ContextValue)] = []) -> Problem {
        .api(.parameterInvalid, cause: "The query parameter \"\(name)\" \(what).", context: [("parameter", .text(name))] + context)
    }
}

/// RFC 3986 §2.1. A plus sign is a plus sign, as base64 needs it: a query is no form.
enum PercentEncoding {
    /// Nil where a `%` is not followed by two digits, or where what comes out is not UTF-8.
    static func decode(_ text: some StringProtocol) -> String? {
        let source = Array(text.utf8)
        guard source.contains(UInt8(ascii: "%")) else { return String(text) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(source.count)
        var index = 0
        while index < source.count {
            if source[index] == UInt8(ascii: "%") {
                guard index + 2 < source.count, let high = Hex.value(source[index + 1]), let low = Hex.value(source[index + 2]) else { return nil }
                bytes.append(high << 4 | low)
                index += 3
            } else {
                bytes.append(source[index])
                index += 1
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
