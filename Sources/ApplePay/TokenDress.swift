import Encodings
import Problems

/// How a payment token was dressed when it came: what was taken off, from the outside in.
///
/// SDKs hand the same bytes on as an object, as JSON text or as base64, whole or as `paymentData` alone; the audit trail notes which.
public struct TokenDress: Sendable, Equatable, CustomStringConvertible {
    public enum Layer: String, Sendable { case text, base64 }

    /// At most ``maximumLayers``; empty for a plain object.
    public internal(set) var layers: [Layer] = []
    /// A `PKPaymentToken` with `paymentMethod` and `transactionIdentifier` around `paymentData`, not `paymentData` alone.
    public internal(set) var isWhole = false

    public static let maximumLayers = 2

    /// `object`, `text`, `base64`, `base64+text`, …
    public var description: String { layers.isEmpty ? "object" : layers.map(\.rawValue).joined(separator: "+") }
}

/// Takes a token's dress off, down to the object that holds `version`, `data`, `signature` and `header`.
struct TokenUndresser {
    private(set) var dress = TokenDress()

    /// The `paymentData` object, and the whole token around it where there is one.
    typealias Undressed = (paymentData: JSONValue, whole: JSONValue?)

    /// The members under which the field's APIs carry a token; their values are looked into.
    private static let wrappers = ["payment_data", "apple_pay_token", "payment_token", "wallet"]

    mutating func undress(_ value: JSONValue) throws(Problem) -> Undressed {
        try unwrap(object(in: value), whole: nil)
    }

    /// A file: JSON, or base64 without quotes around it.
    mutating func undress(_ bytes: [UInt8]) throws(Problem) -> Undressed {
        let text = trimmed(bytes)
        return try undress(looksLikeJSON(text) ? document(text) : open(text))
    }

    private mutating func unwrap(_ value: JSONValue, whole: JSONValue?) throws(Problem) -> Undressed {
        var value = value
        var whole = whole
        // Wrappers nest no deeper than JSON does, so this ends.
        while true {
            try refuseSimulator(value)
            if let inner = value.member("paymentData") {
                whole = value
                value = try object(in: inner)
            } else if isPaymentData(value) {
                dress.isWhole = whole != nil
                return (value, whole)
            } else if let inner = TokenUndresser.wrappers.lazy.compactMap({ value.member($0) }).first {
                value = try object(in: inner)
            } else {
                throw missingPaymentData(in: value)
            }
        }
    }

    /// `value` itself when it is an object; when it is text, the object that the text holds.
    private mutating func object(in value: JSONValue) throws(Problem) -> JSONValue {
        var value = value
        while true {
            switch value.kind {
            case .object:
                // Which of two equal names counts is the reader's whim, so a token with such a pair means nothing certain.
                if let name = value.doubledMember {
                    throw .paymentToken(.malformed, cause: "The payment token has the member \(quoted(name)) twice.", context: [("member", .text(name))])
                }
                return value
            case .string: value = try open(trimmed(value.stringBytes ?? []))
            default: throw .paymentToken(.malformed, cause: "The payment token is \(TokenUndresser.name(of: value.kind)) where an object was expected.")
            }
        }
    }

    /// Takes one layer off a text.
    private mutating func open(_ text: [UInt8]) throws(Problem) -> JSONValue {
        guard !text.isEmpty else {
            throw .paymentToken(
                .malformed, cause: "The payment token is empty.", fix: "Pay on a real device: the iOS Simulator gives an empty paymentData.")
        }
        guard dress.layers.count < TokenDress.maximumLayers else {
            throw .paymentToken(
                .encodingUnrecognised, cause: "The payment token is wrapped more than \(TokenDress.maximumLayers) times in text or base64.")
        }
        if looksLikeJSON(text) {
            dress.layers.append(.text)
            return try document(text)
        }
        guard let bytes = Base64.decode(text[...]) else { throw .paymentToken(.encodingUnrecognised) }
        dress.layers.append(.base64)
        let inner = trimmed(bytes)
        return try looksLikeJSON(inner) ? document(inner) : open(inner)
    }

    private func document(_ text: [UInt8]) throws(Problem) -> JSONValue {
        do {
            return try JSONDocument(text).root
        } catch {
            switch error {
            case .tooDeep(let limit, let offset):
                throw .paymentToken(
                    .tooDeep, cause: "The payment token's JSON is nested deeper than \(limit) levels.",
                    context: [("limit", .number(limit)), ("offset", .number(offset))])
            case .malformed(let offset):
                throw .paymentToken(
                    .malformed, cause: "The payment token's JSON is broken at byte \(offset).",
                    fix: "Do not build or quote the token's JSON by hand; send the text that Apple Pay gave.", context: [("offset", .number(offset))])
            }
        }
    }

    private func looksLikeJSON(_ text: [UInt8]) -> Bool {
        switch text.first {
        case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "\""): true
        default: false
        }
    }

    /// Without a byte order mark and JSON's blanks around it.
    private func trimmed(_ text: [UInt8]) -> [UInt8] {
        let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0d }
        let mark: [UInt8] = [0xef, 0xbb, 0xbf]
        guard let first = text.first, let last = text.last, isBlank(first) || isBlank(last) || text.starts(with: mark) else { return text }
        var slice = text.starts(with: mark) ? text.dropFirst(mark.count) : text[...]
        slice = slice.drop(while: isBlank)
        while let last = slice.last, isBlank(last) { slice.removeLast() }
        return Array(slice)
    }

    /// Any one of Apple's four members: what is missing then is said by name.
    private func isPaymentData(_ value: JSONValue) -> Bool {
        ["version", "data", "signature", "header"].contains { value.member($0) != nil }
    }

    /// - Source: Apple's simulator gives the identifier `Simulated Identifier`, the card `Simulated Instrument` and an empty `paymentData`.
    private func refuseSimulator(_ value: JSONValue) throws(Problem) {
        if value.member("transactionIdentifier")?.string == "Simulated Identifier" { throw .paymentToken(.simulator) }
        guard value.member("paymentMethod")?.member("displayName")?.string == "Simulated Instrument" else { return }
        let paymentData = value.member("paymentData")
        let isEmpty =
            switch paymentData?.kind {
            case nil, .null: true
            case .string: paymentData?.stringSlice?.isEmpty == true
            case .object: paymentData?.members.isEmpty == true
            default: false
            }
        if isEmpty { throw .paymentToken(.simulator) }
    }

    private func missingPaymentData(in value: JSONValue) -> Problem {
        guard let likely = likelyToken(in: value, depth: 3) else {
            return .paymentToken(
                .malformed, cause: "The payment token has no member paymentData, nor version, data, signature and header.",
                context: [("missing", .list(["paymentData"]))])
        }
        return .paymentToken(
            .malformed, cause: "The payment token has no member paymentData; its member \(quoted(likely)) looks like the token.",
            fix: "Send the value of that member as the token.", context: [("missing", .list(["paymentData"])), ("looks_like_token", .text(likely))])
    }

    /// The path of the first member whose value could be a token.
    private func likelyToken(in value: JSONValue, depth: Int) -> String? {
        guard depth > 0 else { return nil }
        for (name, inner) in value.members {
            switch inner.kind {
            case .object:
                if inner.member("paymentData") != nil || isPaymentData(inner) { return name }
                if let path = likelyToken(in: inner, depth: depth - 1) { return "\(name).\(path)" }
            case .string:
                // `{` itself, or `ey`, `ew`, `ewo`: base64 of `{"`, `{ ` and `{` with a line break.
                let text = inner.stringSlice ?? []
                if text.count > 500, text.first == UInt8(ascii: "{") || text.starts(with: "ey".utf8) || text.starts(with: "ew".utf8) { return name }
            default: continue
            }
        }
        return nil
    }

    private static func name(of kind: JSONValue.Kind) -> String {
        switch kind {
        case .object: "an object"
        case .array: "an array"
        case .string: "a text"
        case .number: "a number"
        case .bool: "true or false"
        case .null: "null"
        }
    }

    /// A member's name from outside, cut so that it can't fill a message.
    private func quoted(_ name: String) -> String { "\"\(name.unicodeScalars.count > 64 ? String(name.prefix(64)) + "…" : name)\"" }
}
