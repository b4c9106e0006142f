public import Encodings

/// What an operation must know of the call it serves, beside who makes it.
public struct Call: Sendable {
    public let requestID: String
    /// The caller's `Idempotency-Key`.
    public let idempotencyKey: String?
    /// SHA-256 of what was asked: method, path and body. The same key with another digest is refused.
    public let requestDigest: Digest256?

    public init(requestID: String, idempotencyKey: String? = nil, requestDigest: Digest256? = nil) {
        self.requestID = requestID
        self.idempotencyKey = idempotencyKey
        self.requestDigest = requestDigest
    }
}

/// What a call made, or found made before.
public struct Made<Value: Sendable>: Sendable {
    public let value: Value
    /// False when the same call had made it already.
    public let isNew: Bool

    public init(_ value: Value, isNew: Bool) {
        self.value = value
        self.isNew = isNew
    }
}

/// One page of a list.
public struct Page<Value: Sendable>: Sendable {
    public let values: [Value]
    /// What to give as `after` for the next page; nil at the end.
    public let next: String?

    /// - Parameter values: as many as were asked for and one more, if there is one.
    init(_ values: [Value], limit: Int, id: (Value) -> String) {
        self.values = Array(values.prefix(limit))
        self.next = values.count > limit ? self.values.last.map(id) : nil
    }

    init(values: [Value], next: String?) {
        self.values = values
        self.next = next
    }

    func map<Other: Sendable, E: Error>(_ transform: (Value) throws(E) -> Other) throws(E) -> Page<Other> {
        var others: [Other] = []
        for value in values { others.append(try transform(value)) }
        return Page<Other>(values: others, next: next)
    }
}
