/// Why a text is not the JSON we read.
public enum JSONError: Error, Equatable, Sendable {
    /// Not JSON (RFC 8259), from byte `offset` on.
    case malformed(offset: Int)
    /// Nested deeper than `limit` at byte `offset`.
    case tooDeep(limit: Int, offset: Int)
}

/// One JSON text (RFC 8259), read once, strictly: UTF-8 only, no byte order mark, nothing after the value.
///
/// Strings and numbers stay in the source bytes until somebody asks. Depth is bounded while reading and the reader does not recurse.
/// A member name that comes twice in one object is no error here: ``JSONValue/doubledMember`` tells, and each caller refuses it under its own code.
/// (Foundation's reader keeps neither doubled members nor a number's text, and takes five times as long on a token.)
public final class JSONDocument: Sendable {
    public let bytes: [UInt8]
    fileprivate let nodes: [Node]
    fileprivate let doubled: [Doubled]

    fileprivate struct Doubled: Sendable {
        let name: String
        let offset: Int
    }

    fileprivate struct Node: Sendable {
        var kind: JSONValue.Kind
        /// A string with at least one backslash.
        var escaped = false
        /// Source range; for strings between the quotes.
        var start: UInt32
        var end: UInt32
        /// The node after this one's subtree. Children follow their parent; an object's are name, value, name, value, …
        var next: UInt32
    }

    /// - Parameter maximumDepth: how many arrays and objects may be open at once.
    public init(_ bytes: [UInt8], maximumDepth: Int = 32) throws(JSONError) {
        guard bytes.count < Int(UInt32.max) else { throw .malformed(offset: 0) }
        var reader = Reader(bytes: bytes, limit: maximumDepth)
        try reader.read()
        self.bytes = bytes
        self.nodes = reader.nodes
        self.doubled = reader.doubled
    }

    public var root: JSONValue { JSONValue(document: self, index: 0) }

    fileprivate struct Reader {
        let bytes: [UInt8]
        let limit: Int
        var nodes: [Node] = []
        var doubled: [Doubled] = []
        var position = 0
        /// The open arrays and objects.
        var open: [Int] = []

        init(bytes: [UInt8], limit: Int) {
            self.bytes = bytes
            self.limit = limit
            nodes.reserveCapacity(48)
        }

        mutating func read() throws(JSONError) {
            skipBlanks()
            try value()
            while let container = open.last {
                skipBlanks()
                guard position < bytes.count else { throw .malformed(offset: position) }
                let isObject = nodes[container].kind == .object
                let isFirst = nodes.count == container + 1
                let closer = isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")
                if bytes[position] == closer {
                    position += 1
                    nodes[container].end = UInt32(position)
                    nodes[container].next = UInt32(nodes.count)
                    open.removeLast()
                    if isObject { noteDoubled(in: container) }
                    continue
                }
                if !isFirst {
                    guard bytes[position] == UInt8(ascii: ",") else { throw .malformed(offset: position) }
                    position += 1
                    skipBlanks()
                }
                if isObject {
                    guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else { throw .malformed(offset: position) }
                    try string()
                    skipBlanks()
                    guard position < bytes.count, bytes[position] == UInt8(ascii: ":") else { throw .malformed(offset: position) }
                    position += 1
                    skipBlanks()
                }
                try value()
            }
            skipBlanks()
            guard position == bytes.count else { throw .malformed(offset: position) }
        }

        mutating func skipBlanks() {
            while position < bytes.count {
                switch bytes[position] {
                case 0x20, 0x09, 0x0a, 0x0d: position += 1
                default: return
                }
            }
        }

        mutating func append(_ kind: JSONValue.Kind, from start: Int, to end: Int, escaped: Bool = false) {
            nodes.append(Node(kind: kind, escaped: escaped, start: UInt32(start), end: UInt32(end), next: UInt32(nodes.count + 1)))
        }

        mutating func value() throws(JSONError) {
            guard position < bytes.count else { throw .malformed(offset: position) }
            switch bytes[position] {
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                guard open.count < limit else { throw .tooDeep(limit: limit, offset: position) }
                open.append(nodes.count)
                append(bytes[position] == UInt8(ascii: "{") ? .object : .array, from: position, to: position)
                position += 1
            case UInt8(ascii: "\""): try string()
            case UInt8(ascii: "t"): try literal("true", .bool)
            case UInt8(ascii: "f"): try literal("false", .bool)
            case UInt8(ascii: "n"): try literal("null", .null)
            default: try number()
            }
        }

        mutating func literal(_ text: StaticString, _ kind: JSONValue.Kind) throws(JSONError) {
            let start = position
            let expected = Array(text.description.utf8)
            guard position + expected.count <= bytes.count, bytes[position..<position + expected.count].elementsEqual(expected) else {
                throw .malformed(offset: start)
            }
            position += expected.count
            append(kind, from: start, to: position)
        }

        mutating func number() throws(JSONError) {
            let start = position
            func isDigit(_ index: Int) -> Bool { index < bytes.count && bytes[index] >= 48 && bytes[index] <= 57 }
            if bytes[position] == UInt8(ascii: "-") { position += 1 }
            guard isDigit(position) else { throw .malformed(offset: start) }
            if bytes[position] == UInt8(ascii: "0") {
                position += 1
            } else {
                while isDigit(position) { position += 1 }
            }
            if position < bytes.count, bytes[position] == UInt8(ascii: ".") {
                position += 1
                guard isDigit(position) else { throw .malformed(offset: position) }
                while isDigit(position) { position += 1 }
            }
            if position < bytes.count, bytes[position] | 0x20 == UInt8(ascii: "e") {
                position += 1
                if position < bytes.count, bytes[position] == UInt8(ascii: "+") || bytes[position] == UInt8(ascii: "-") { position += 1 }
                guard isDigit(position) else { throw .malformed(offset: position) }
                while isDigit(position) { position += 1 }
            }
            append(.number, from: start, to: position)
        }

        mutating func string() throws(JSONError) {
            position += 1
            let start = position
            var escaped = false
            while true {
                position = endOfPlainText(from: position)
                guard position < bytes.count else { throw .malformed(offset: position) }
                switch bytes[position] {
                case UInt8(ascii: "\""):
                    append(.string, from: start, to: position, escaped: escaped)
                    position += 1
                    return
                case UInt8(ascii: "\\"):
                    escaped = true
                    try escape()
                case 0..<0x20: throw .malformed(offset: position)
                default: try multibyte()
                }
            }
        }

        /// Where the next character stands that is not plain ASCII text. Nearly all of a token is such text, so this loop is what reading costs.
        func endOfPlainText(from start: Int) -> Int {
            let text = bytes.span
            var index = start
            while index < text.count {
                let byte = text[index]
                guard byte >= 0x20, byte < 0x80, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") else { break }
                index += 1
            }
            return index
        }

        mutating func escape() throws(JSONError) {
            guard position + 1 < bytes.count else { throw .malformed(offset: position) }
            switch bytes[position + 1] {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"),
                UInt8(ascii: "t"):
                position += 2
            case UInt8(ascii: "u"):
                guard position + 6 <= bytes.count else { throw .malformed(offset: position) }
                for index in position + 2..<position + 6 where Hex.value(bytes[index]) == nil { throw .malformed(offset: index) }
                position += 6
            default: throw .malformed(offset: position)
            }
        }

        /// One UTF-8 sequence of two to four bytes: no overlong form, no surrogate, nothing above U+10FFFF (RFC 3629).
        mutating func multibyte() throws(JSONError) {
            let start = position
            let lead = bytes[start]
            let (length, low, high): (Int, UInt8, UInt8)
            switch lead {
            case 0xc2...0xdf: (length, low, high) = (2, 0x80, 0xbf)
            case 0xe0: (length, low, high) = (3, 0xa0, 0xbf)
            case 0xe1...0xec, 0xee, 0xef: (length, low, high) = (3, 0x80, 0xbf)
            case 0xed: (length, low, high) = (3, 0x80, 0x9f)
            case 0xf0: (length, low, high) = (4, 0x90, 0xbf)
            case 0xf1...0xf3: (length, low, high) = (4, 0x80, 0xbf)
            case 0xf4: (length, low, high) = (4, 0x80, 0x8f)
            default: throw .malformed(offset: start)
            }
            guard start + length <= bytes.count, bytes[start + 1] >= low, bytes[start + 1] <= high else { throw .malformed(offset: start) }
            for index in start + 2..<max(start + 2, start + length) where bytes[index] & 0xc0 != 0x80 { throw .malformed(offset: start) }
            position += length
        }

        /// Compares the names of a closed object: pairwise while they are few, by a set when there are many.
        mutating func noteDoubled(in object: Int) {
            var names: [Int] = []
            var index = object + 1
            while index < nodes.count {
                names.append(index)
                index = Int(nodes[index + 1].next)
            }
            guard names.count > 1 else { return }
            if names.count <= 16, !names.contains(where: { nodes[$0].escaped }) {
                for later in 1..<names.count {
                    for earlier in 0..<later where sameBytes(names[earlier], names[later]) {
                        note(names[later])
                        return
                    }
                }
            } else {
                var seen: Set<[UInt8]> = []
                for name in names where !seen.insert(decodedString(bytes, nodes[name])).inserted {
                    note(name)
                    return
                }
            }
        }

        func sameBytes(_ left: Int, _ right: Int) -> Bool {
            let l = nodes[left]
            let r = nodes[right]
            guard l.end - l.start == r.end - r.start else { return false }
            for offset in 0..<Int(l.end - l.start) where bytes[Int(l.start) + offset] != bytes[Int(r.start) + offset] { return false }
            return true
        }

        mutating func note(_ name: Int) {
            doubled.append(Doubled(name: String(decoding: decodedString(bytes, nodes[name]), as: UTF8.self), offset: Int(nodes[name].start)))
        }
    }
}

/// One value of a ``JSONDocument``.
public struct JSONValue: Sendable {
    public enum Kind: UInt8, Sendable { case object, array, string, number, bool, null }

    public let document: JSONDocument
    private let index: Int
    private var node: JSONDocument.Node { document.nodes[index] }

    fileprivate init(document: JSONDocument, index: Int) {
        self.document = document
        self.index = index
    }

    public var kind: Kind { node.kind }
    public var isNull: Bool { node.kind == .null }

    /// Where the value stands in the source, quotes included.
    public var range: Range<Int> {
        let node = node
        return node.kind == .string ? Int(node.start) - 1..<Int(node.end) + 1 : Int(node.start)..<Int(node.end)
    }

    /// The value's own bytes in the source.
    public var source: ArraySlice<UInt8> { document.bytes[range] }

    /// The first member name that stands twice in one object at or below this value.
    public var doubledMember: String? {
        guard !document.doubled.isEmpty else { return nil }
        let range = range
        return document.doubled.first { range.contains($0.offset) }?.name
    }

    /// The value of the member called `name` (the first, when doubled); nil where there is none or this is no object.
    public func member(_ name: String) -> JSONValue? {
        guard node.kind == .object else { return nil }
        let wanted = name.utf8Span.span
        let bytes = document.bytes
        let source = bytes.span
        var index = index + 1
        let end = Int(node.next)
        while index < end {
            let nameNode = document.nodes[index]
            let isWanted: Bool
            if nameNode.escaped {
                isWanted = decodedString(bytes, nameNode).elementsEqual(name.utf8)
            } else {
                isWanted = same(source.extracting(Int(nameNode.start)..<Int(nameNode.end)), wanted)
            }
            if isWanted { return JSONValue(document: document, index: index + 1) }
            index = Int(document.nodes[index + 1].next)
        }
        return nil
    }

    /// An object's members in order; empty for other kinds.
    public var members: [(name: String, value: JSONValue)] {
        guard node.kind == .object else { return [] }
        var members: [(name: String, value: JSONValue)] = []
        var index = index + 1
        while index < Int(node.next) {
            let name = String(decoding: decodedString(document.bytes, document.nodes[index]), as: UTF8.self)
            members.append((name, JSONValue(document: document, index: index + 1)))
            index = Int(document.nodes[index + 1].next)
        }
        return members
    }

    /// How many members an object has; 0 for other kinds.
    public var memberCount: Int {
        guard node.kind == .object else { return 0 }
        var count = 0
        var index = index + 1
        while index < Int(node.next) {
            count += 1
            index = Int(document.nodes[index + 1].next)
        }
        return count
    }

    /// An array's elements; empty for other kinds.
    public var elements: [JSONValue] {
        guard node.kind == .array else { return [] }
        var elements: [JSONValue] = []
        var index = index + 1
        while index < Int(node.next) {
            elements.append(JSONValue(document: document, index: index))
            index = Int(document.nodes[index].next)
        }
        return elements
    }

    /// A string's text as UTF-8, escapes resolved (a lone surrogate becomes U+FFFD); nil for other kinds.
    public var stringBytes: [UInt8]? { node.kind == .string ? decodedString(document.bytes, node) : nil }

    /// As ``stringBytes``, without a copy where no escape stands in the text.
    public var stringSlice: ArraySlice<UInt8>? {
        let node = node
        guard node.kind == .string else { return nil }
        return node.escaped ? decodedString(document.bytes, node)[...] : document.bytes[Int(node.start)..<Int(node.end)]
    }

    public var string: String? { stringSlice.map { String(decoding: $0, as: UTF8.self) } }

    public var bool: Bool? { node.kind == .bool ? document.bytes[Int(node.start)] == UInt8(ascii: "t") : nil }

    /// A number's text exactly as written; nil for other kinds.
    public var numberText: String? { node.kind == .number ? String(decoding: source, as: UTF8.self) : nil }

    /// A number written as an integer that fits; nil for `1.0`, `1e3` and other kinds.
    public var integer: Int? { numberText.flatMap { Int($0) } }
}

private func decodedString(_ bytes: [UInt8], _ node: JSONDocument.Node) -> [UInt8] {
    let source = bytes[Int(node.start)..<Int(node.end)]
    guard node.escaped else { return Array(source) }
    var text: [UInt8] = []
    text.reserveCapacity(source.count)
    var index = source.startIndex
    while index < source.endIndex {
        guard source[index] == UInt8(ascii: "\\") else {
            text.append(source[index])
            index += 1
            continue
        }
        switch source[index + 1] {
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0c)
        case UInt8(ascii: "n"): text.append(0x0a)
        case UInt8(ascii: "r"): text.append(0x0d)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"):
            var unit = codeUnit(at: index + 2)
            if unit & 0xfc00 == 0xd800, index + 12 <= source.endIndex, source[index + 6] == UInt8(ascii: "\\"), source[index + 7] == UInt8(ascii: "u") {
                let low = codeUnit(at: index + 8)
                if low & 0xfc00 == 0xdc00 {
                    unit = 0x10000 + (unit & 0x3ff) << 10 + (low & 0x3ff)
                    index += 6
                }
            }
            text.append(contentsOf: String(Character(Unicode.Scalar(unit) ?? "\u{fffd}")).utf8)
            index += 4
        default: text.append(source[index + 1])
        }
        index += 2
    }
    return text

    func codeUnit(at start: Int) -> UInt32 {
        source[start..<start + 4].reduce(0) { $0 << 4 | UInt32(Hex.value($1) ?? 0) }
    }
}

private func same(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    for index in 0..<left.count where left[index] != right[index] { return false }
    return true
}
