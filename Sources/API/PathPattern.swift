/// The path of a route: `/v1/merchants/{id}`. A part in braces fits any one segment and is handed on decoded.
public struct PathPattern: Sendable, Hashable {
    public let text: String
    private let segments: [Segment]

    private enum Segment: Hashable {
        case literal(String)
        case parameter(String)
    }

    init(_ text: String) {
        self.text = text
        segments = text.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map { segment in
            segment.hasPrefix("{") ? .parameter(String(segment.dropFirst().dropLast())) : .literal(String(segment))
        }
    }

    /// The names in braces, in order.
    public var parameters: [String] {
        segments.compactMap { if case .parameter(let name) = $0 { name } else { nil } }
    }

    /// The values of the parts in braces, in order; nil when the path is another one.
    /// - Parameter path: split at its slashes, without the empty part before the first; percent-encoded.
    func match(_ path: [Substring]) -> [String]? {
        guard path.count == segments.count else { return nil }
        var values: [String] = []
        for (segment, given) in zip(segments, path) {
            switch segment {
            case .literal(let text): guard given == text else { return nil }
            case .parameter:
                guard !given.isEmpty, let value = PercentEncoding.decode(given) else { return nil }
                values.append(value)
            }
        }
        return values
    }
}
