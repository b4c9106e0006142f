/// Writes one JSON text, compact, members in the order given. The caller keeps the structure right; commas are ours.
public struct JSONWriter {
    public private(set) var bytes: [UInt8] = []
    private var needsComma = false

    public init(reserving capacity: Int = 256) { bytes.reserveCapacity(capacity) }

    /// A whole object.
    public static func object(_ body: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter()
        writer.object(body)
        return writer.bytes
    }

    public mutating func object(_ body: (inout JSONWriter) -> Void) {
        open("{")
        body(&self)
        close("}")
    }

    public mutating func array(_ body: (inout JSONWriter) -> Void) {
        open("[")
        body(&self)
        close("]")
    }

    public mutating func member(_ name: String, _ body: (inout JSONWriter) -> Void) {
        self.name(name)
        body(&self)
    }

    public mutating func member(_ name: String, _ value: String?) {
        self.name(name)
        if let value { string(value) } else { null() }
    }

    public mutating func member(_ name: String, _ value: Int?) {
        self.name(name)
        if let value { integer(value) } else { null() }
    }

    public mutating func member(_ name: String, _ value: Bool) {
        self.name(name)
        bool(value)
    }

    public mutating func member(_ name: String, _ value: Timestamp?) { member(name, value?.rfc3339) }

    public mutating func member(_ name: String, _ values: [String]) {
        self.name(name)
        array { for value in values { $0.string(value) } }
    }

    /// A member whose value is JSON text already, spliced in untouched.
    @specialized(where Bytes == [UInt8])
    @specialized(where Bytes == ArraySlice<UInt8>)
    public mutating func member<Bytes: Sequence<UInt8>>(_ name: String, raw json: Bytes) {
        self.name(name)
        raw(json)
    }

    public mutating func name(_ name: String) {
        string(name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    public mutating func string(_ text: String) {
        string(utf8: text.utf8)
    }

    /// A string whose text is valid UTF-8.
    @specialized(where Bytes == [UInt8])
    @specialized(where Bytes == ArraySlice<UInt8>)
    @specialized(where Bytes == String.UTF8View)
    public mutating func string<Bytes: Sequence<UInt8>>(utf8: Bytes) {
        comma()
        bytes.append(UInt8(ascii: "\""))
        // Nearly every text goes out as it is.
        if utf8.allSatisfy({ $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") && $0 != 0x7f }) {
            bytes.append(contentsOf: utf8)
        } else {
            for byte in utf8 { escape(byte) }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func escape(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"):
            bytes.append(UInt8(ascii: "\\"))
            bytes.append(byte)
        case 0x0a: bytes.append(contentsOf: "\\n".utf8)
        case 0x0d: bytes.append(contentsOf: "\\r".utf8)
        case 0x09: bytes.append(contentsOf: "\\t".utf8)
        case 0..<0x20, 0x7f:
            bytes.append(contentsOf: "\\u00".utf8)
            bytes.append(contentsOf: Hex.encodeToBytes(CollectionOfOne(byte)))
        default: bytes.append(byte)
        }
    }

    public mutating func integer(_ value: Int) {
        comma()
        bytes.append(contentsOf: String(value).utf8)
    }

    public mutating func bool(_ value: Bool) {
        comma()
        bytes.append(contentsOf: (value ? "true" : "false").utf8)
    }

    public mutating func null() {
        comma()
        bytes.append(contentsOf: "null".utf8)
    }

    /// JSON text, spliced in untouched.
    @specialized(where Bytes == [UInt8])
    @specialized(where Bytes == ArraySlice<UInt8>)
    public mutating func raw<Bytes: Sequence<UInt8>>(_ json: Bytes) {
        comma()
        bytes.append(contentsOf: json)
    }

    private mutating func open(_ bracket: Unicode.Scalar) {
        comma()
        bytes.append(UInt8(ascii: bracket))
        needsComma = false
    }

    private mutating func close(_ bracket: Unicode.Scalar) {
        bytes.append(UInt8(ascii: bracket))
        needsComma = true
    }

    private mutating func comma() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }
}
