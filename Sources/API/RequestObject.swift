import ApplePay
import Encodings
import Problems

/// A JSON body that was held against its route's ``Schema``: members there are known, stand once and are of their type.
struct RequestObject: Sendable {
    let value: JSONValue

    /// JSON of this depth is read and no deeper, a real token is four levels deep.
    static let maximumDepth = 32

    /// - Throws: `request.json_malformed`, `.too_deep`, `.member_unknown`, `.member_doubled`, `.member_missing`, `.member_invalid`.
    init(_ body: [UInt8], _ schema: Schema) throws(Problem) {
        let document: JSONDocument
        do {
            document = try JSONDocument(body, maximumDepth: RequestObject.maximumDepth)
        } catch {
            throw RequestObject.problem(error)
        }
        try schema.check(document.root)
        value = document.root
    }

    /// A value inside a body that was checked as a whole.
    init(checked value: JSONValue) { self.value = value }

    static func problem(_ error: JSONError) -> Problem {
        switch error {
        case .malformed(let offset):
            .api(.jsonMalformed, cause: "The body is not JSON from byte \(offset) on.", context: [("offset", .number(offset))])
        case .tooDeep(let limit, let offset):
            Problem(
                PaymentTokenProblem.tooDeep, cause: "The body's JSON is nested deeper than \(limit) levels.",
                context: [("limit", .number(limit)), ("offset", .number(offset))])
        }
    }

    /// The member's value; nil where it is absent or null.
    func given(_ name: String) -> JSONValue? { value.member(name).flatMap { $0.isNull ? nil : $0 } }
    /// Whether the member is there, be it null.
    func mentions(_ name: String) -> Bool { value.member(name) != nil }

    func text(_ name: String) -> String? { given(name)?.string }
    func integer(_ name: String) -> Int? { given(name)?.integer }
    func texts(_ name: String) -> [String]? { given(name)?.elements.compactMap(\.string) }

    /// A member that the schema requires.
    func demandedText(_ name: String) throws(Problem) -> String {
        guard let text = text(name) else { throw .memberMissing(name, at: JSONPointer()) }
        return text
    }

    func time(_ name: String) throws(Problem) -> Timestamp? {
        guard let text = text(name) else { return nil }
        guard let time = Timestamp(rfc3339: text) else { throw .memberInvalid(name, "is not a time of RFC 3339, such as 2027-01-31T00:00:00Z") }
        return time
    }

    func digest(_ name: String) throws(Problem) -> Digest256? {
        guard let text = text(name) else { return nil }
        guard let digest = Digest256(text: text) else { throw .memberInvalid(name, "is not a SHA-256 hash in base64 or hexadecimal") }
        return digest
    }

    func base64(_ name: String) throws(Problem) -> [UInt8]? {
        guard let text = given(name)?.stringSlice else { return nil }
        guard let bytes = Base64.decode(text) else { throw .memberInvalid(name, "is not base64") }
        return bytes
    }

    /// A member with a value of a fixed set; the schema has checked that it is one.
    func value<Value: RawRepresentable<String>>(_ name: String, as type: Value.Type) throws(Problem) -> Value? {
        guard let text = text(name) else { return nil }
        guard let value = Value(rawValue: text) else { throw .memberInvalid(name, "is none of the values allowed") }
        return value
    }
}

/// Where a value stands in a document (RFC 6901).
struct JSONPointer: Sendable {
    private(set) var text = ""

    func adding(_ name: String) -> JSONPointer {
        var copy = self
        copy.text += "/" + name.clipped.replacing("~", with: "~0").replacing("/", with: "~1")
        return copy
    }

    func adding(_ index: Int) -> JSONPointer { adding(String(index)) }
}

extension Problem {
    static func memberMissing(_ name: String, at parent: JSONPointer) -> Problem {
        .api(
            .memberMissing, cause: "The request lacks the member \"\(name)\".",
            context: [("member", .text(name)), ("pointer", .text(parent.adding(name).text))])
    }

    /// - Parameter what: what is wrong, without the value: it may be a secret.
    static func memberInvalid(
        _ name: String, at pointer: JSONPointer? = nil, _ what: String, context: [(name: String, value: ContextValue)] = []
    ) -> Problem {
        .api(
            .memberInvalid, cause: "The member \"\(name)\" \(what).",
            context: [("member", .text(name)), ("pointer", .text((pointer ?? JSONPointer().adding(name)).text))] + context)
    }
}

extension String {
    /// A name from outside, cut so that it can't fill a message.
    var clipped: String { unicodeScalars.count > 64 ? String(unicodeScalars.prefix(64)) + "…" : self }
}
