/// Request line and headers, as they came: one block of bytes with ranges over it. Text is made only where it is asked for.
///
/// Made by ``RequestDecoder`` alone, so its existence proves that the syntax was right and the length of the body unambiguous.
public struct HTTPRequestHead: Sendable {
    /// Where one header line stands in `bytes`; the value is without the blanks around it.
    struct Field: Sendable {
        var nameStart: UInt16
        var nameEnd: UInt16
        var valueStart: UInt16
        var valueEnd: UInt16

        var name: Range<Int> { Int(nameStart)..<Int(nameEnd) }
        var value: Range<Int> { Int(valueStart)..<Int(valueEnd) }
    }

    /// How the end of the body is found.
    enum Framing: Sendable, Equatable {
        case none
        case length(Int)
        case chunked
    }

    let bytes: [UInt8]
    let fields: [Field]
    let methodEnd: Int
    let targetEnd: Int
    /// The part of the target before `?`, without scheme and authority.
    let pathRange: Range<Int>
    let framing: Framing
    /// 1 for HTTP/1.1, 0 for HTTP/1.0.
    public let minorVersion: Int
    /// `Expect: 100-continue` by an HTTP/1.1 client.
    public let expectsContinue: Bool
    /// Whether the client wants the connection to stay open after the answer.
    public let keepsAlive: Bool
    /// The client's `X-Request-ID` where it is 1…128 of `[A-Za-z0-9._-]` and stands once, else one made by the server.
    public internal(set) var requestID = ""

    /// Case matters: `GET`, `POST`.
    public var method: String { text(0..<methodEnd) }
    /// The request target as sent.
    public var target: String { text(methodEnd + 1..<targetEnd) }
    /// The target before `?`, percent-encoding left as it is. `/` where an absolute target has no path.
    public var path: String { pathRange.isEmpty ? "/" : text(pathRange) }
    /// The target after the first `?`; nil without one.
    public var query: String? { pathRange.upperBound < targetEnd ? text(pathRange.upperBound + 1..<targetEnd) : nil }
    /// The length the client announced; nil for a chunked body, 0 for none.
    public var contentLength: Int? {
        switch framing {
        case .none: 0
        case .length(let length): length
        case .chunked: nil
        }
    }
    public var isChunked: Bool { framing == .chunked }
    /// Whether at least one byte of body follows, or a chunked body, whose length nobody knows yet.
    public var hasBody: Bool { contentLength != 0 }

    /// Every header line in order, names in lower case.
    public var headers: [(name: String, value: String)] {
        fields.map { (name: text($0.name).lowercased(), value: text($0.value)) }
    }

    /// The value of the header `name` (in lower case), or nil. Lines that repeat it are joined with ", " (RFC 9110 §5.3), so a doubled
    /// `Authorization` is never "the first one".
    public func header(_ name: String) -> String? {
        var joined: String?
        for field in fields where has(field, name: name) {
            let value = text(field.value)
            joined = joined.map { $0 + ", " + value } ?? value
        }
        return joined
    }

    /// How many header lines have `name` (in lower case).
    public func count(of name: String) -> Int {
        var count = 0
        for field in fields where has(field, name: name) { count += 1 }
        return count
    }

    var isHEAD: Bool { methodEnd == 4 && bytes[0] == 0x48 && bytes[1] == 0x45 && bytes[2] == 0x41 && bytes[3] == 0x44 }

    private func has(_ field: Field, name: String) -> Bool {
        equalIgnoringCase(bytes, field.name, name)
    }

    private func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
}

/// Whether the ASCII bytes in `range` are `lowerCase`, letters of either case.
func equalIgnoringCase(_ bytes: [UInt8], _ range: Range<Int>, _ lowerCase: String) -> Bool {
    let expected = lowerCase.utf8
    guard range.count == expected.count else { return false }
    var index = range.lowerBound
    for character in expected {
        let byte = bytes[index]
        let lowered = byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte
        guard lowered == character else { return false }
        index += 1
    }
    return true
}

extension HTTPRequestHead {
    /// The client's own request id where it is fit to be echoed.
    var acceptableRequestID: String? {
        var found: String?
        for field in fields where field.name.count == 12 && equalIgnoringCase(bytes, field.name, "x-request-id") {
            guard found == nil, (1...128).contains(field.value.count), bytes[field.value].allSatisfy(isRequestIDByte) else { return nil }
            found = String(decoding: bytes[field.value], as: UTF8.self)
        }
        return found
    }
}

private func isRequestIDByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
    default: false
    }
}
