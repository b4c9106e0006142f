/// A header value of the form `value; name=text; name="quoted text"` (RFC 9110 §5.6.6).
struct HeaderParameters: Sendable {
    /// In lower case.
    let value: String
    private let parameters: [(name: String, value: String)]

    /// Nil where the text is not of that form, or a parameter comes twice.
    init?(_ text: ArraySlice<UInt8>) {
        var reader = Reader(rest: text)
        reader.skipBlanks()
        value = reader.takeWhile { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }.lowercased()
        guard !value.isEmpty else { return nil }
        var parameters: [(name: String, value: String)] = []
        while true {
            reader.skipBlanks()
            guard reader.take(UInt8(ascii: ";")) else { break }
            reader.skipBlanks()
            // RFC 9110 §5.6.6 lets an empty parameter stand.
            if reader.rest.isEmpty || reader.rest.first == UInt8(ascii: ";") { continue }
            let name = reader.takeWhile(HeaderParameters.isToken).lowercased()
            guard !name.isEmpty, reader.take(UInt8(ascii: "=")) else { return nil }
            let text: String
            if reader.take(UInt8(ascii: "\"")) {
                guard let quoted = reader.takeQuoted() else { return nil }
                text = quoted
            } else {
                text = reader.takeWhile(HeaderParameters.isToken)
                guard !text.isEmpty else { return nil }
            }
            guard !parameters.contains(where: { $0.name == name }) else { return nil }
            parameters.append((name, text))
        }
        guard reader.rest.isEmpty else { return nil }
        self.parameters = parameters
    }

    init?(_ text: String) { self.init(Array(text.utf8)[...]) }

    /// - Parameter name: in lower case.
    subscript(name: String) -> String? { parameters.first { $0.name == name }?.value }

    /// RFC 9110 §5.6.2, and the characters that boundaries of RFC 2046 have beside them.
    private static func isToken(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"): true
        default: "!#$%&'*+-.^_`|~/?:()".utf8.contains(byte)
        }
    }

    private struct Reader {
        var rest: ArraySlice<UInt8>

        mutating func skipBlanks() { rest = rest.drop { $0 == 0x20 || $0 == 0x09 } }

        mutating func take(_ byte: UInt8) -> Bool {
            guard rest.first == byte else { return false }
            rest.removeFirst()
            return true
        }

        mutating func takeWhile(_ belongs: (UInt8) -> Bool) -> String {
            let taken = rest.prefix(while: belongs)
            rest = rest[taken.endIndex...]
            return String(decoding: taken, as: UTF8.self)
        }

        /// Up to the closing quote; nil without one.
        mutating func takeQuoted() -> String? {
            var text: [UInt8] = []
            while let byte = rest.popFirst() {
                switch byte {
                case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
                case UInt8(ascii: "\\"):
                    guard let escaped = rest.popFirst() else { return nil }
                    text.append(escaped)
                default: text.append(byte)
                }
            }
            return nil
        }
    }
}
