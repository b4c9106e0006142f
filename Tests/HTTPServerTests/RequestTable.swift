import Testing

/// One raw request and what becomes of it. Used on the decoder alone and on a server, plain and over TLS.
struct RequestCase: CustomTestStringConvertible, Sendable {
    let name: String
    let bytes: [UInt8]
    /// Of the last answer.
    let status: Int
    /// The problem's code; nil for a request that is taken.
    let code: String?

    var testDescription: String { name }

    init(_ name: String, _ status: Int, _ code: String? = nil, _ request: String) {
        self.init(name, status, code, Array(request.utf8))
    }

    init(_ name: String, _ status: Int, _ code: String? = nil, _ bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
        self.status = status
        self.code = code
    }

    /// A head with these lines between a good request line and the blank line.
    private static func head(_ name: String, _ status: Int, _ code: String?, _ lines: String, body: String = "", method: String = "POST") -> RequestCase {
        RequestCase(name, status, code, "\(method) /loop HTTP/1.1\r\nHost: a\r\n\(lines)\r\n\(body)")
    }

    private static let chunked = "Transfer-Encoding: chunked\r\n"
    private static let malformed = "request.malformed"
    private static let ambiguous = "request.length_ambiguous"

    static let all: [RequestCase] = taken + framing + syntax + limits

    static let taken: [RequestCase] = [
        head("no body", 200, nil, "", method: "GET"),
        head("a body by length", 200, nil, "Content-Length: 5\r\n", body: "hello"),
        head("leading zeros in a length", 200, nil, "Content-Length: 0005\r\n", body: "hello"),
        head("blanks around a length", 200, nil, "Content-Length: \t 5 \t\r\n", body: "hello"),
        head("length 0", 200, nil, "Content-Length: 0\r\n"),
        head("one chunk", 200, nil, chunked, body: "5\r\nhello\r\n0\r\n\r\n"),
        head("three chunks, hex of both cases", 200, nil, chunked, body: "A\r\n0123456789\r\na\r\n0123456789\r\n001\r\n!\r\n0\r\n\r\n"),
        head("an empty chunked body", 200, nil, chunked, body: "0\r\n\r\n"),
        head("Chunked in another case", 200, nil, "Transfer-encoding: CHUNKED\r\n", body: "0\r\n\r\n"),
        head("an empty value", 200, nil, "X-Empty:\r\n", method: "GET"),
        head("bytes beyond ASCII in a value", 200, nil, "X-Name: Müller\r\n", method: "GET"),
        RequestCase("one blank line before", 200, nil, "\r\nGET /loop HTTP/1.1\r\nHost: a\r\n\r\n"),
        RequestCase("absolute target", 200, nil, "GET http://example.com/loop?x=1 HTTP/1.1\r\nHost: a\r\n\r\n"),
        RequestCase("HTTP/1.0 without a host", 200, nil, "GET /loop HTTP/1.0\r\n\r\n"),
        RequestCase("Expect from HTTP/1.0 is passed over", 200, nil, "POST /loop HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\nx"),
        head("exactly the most header lines", 200, nil, String(repeating: "X: y\r\n", count: 63), method: "GET"),
    ]

    static let framing: [RequestCase] = [
        head("length and transfer encoding", 400, ambiguous, "Content-Length: 5\r\n" + chunked, body: "0\r\n\r\n"),
        head("transfer encoding and length", 400, ambiguous, chunked + "Content-Length: 5\r\n", body: "0\r\n\r\n"),
        head("two lengths that differ", 400, ambiguous, "Content-Length: 5\r\nContent-Length: 6\r\n", body: "hello"),
        head("two lengths that agree", 400, ambiguous, "Content-Length: 5\r\nContent-Length: 5\r\n", body: "hello"),
        head("a list of lengths", 400, ambiguous, "Content-Length: 5, 5\r\n", body: "hello"),
        head("length +5", 400, ambiguous, "Content-Length: +5\r\n", body: "hello"),
        head("length -5", 400, ambiguous, "Content-Length: -5\r\n", body: "hello"),
        head("length 0x5", 400, ambiguous, "Content-Length: 0x5\r\n", body: "hello"),
        head("length 5 5", 400, ambiguous, "Content-Length: 5 5\r\n", body: "hello"),
        head("an empty length", 400, ambiguous, "Content-Length:\r\n", body: "hello"),
        head("length in other digits", 400, ambiguous, "Content-Length: ٥\r\n", body: "hello"),
        head("an unknown transfer encoding", 501, "request.transfer_encoding_unsupported", "Transfer-Encoding: gzip\r\n"),
        head("identity", 501, "request.transfer_encoding_unsupported", "Transfer-Encoding: identity\r\n"),
        head("xchunked", 501, "request.transfer_encoding_unsupported", "Transfer-Encoding: xchunked\r\n"),
        head("gzip, chunked", 501, "request.transfer_encoding_unsupported", "Transfer-Encoding: gzip, chunked\r\n"),
        head("chunked, gzip", 400, ambiguous, "Transfer-Encoding: chunked, gzip\r\n"),
        head("chunked, chunked", 400, ambiguous, "Transfer-Encoding: chunked, chunked\r\n"),
        head("chunked twice", 400, ambiguous, chunked + chunked),
        head("an empty transfer encoding", 400, ambiguous, "Transfer-Encoding:\r\n"),
        RequestCase("transfer encoding in HTTP/1.0", 400, ambiguous, "POST /loop HTTP/1.0\r\nHost: a\r\n\(chunked)\r\n0\r\n\r\n"),
        head("chunk size 0x5", 400, malformed, chunked, body: "0x5\r\nhello\r\n0\r\n\r\n"),
        head("chunk size +5", 400, malformed, chunked, body: "+5\r\nhello\r\n0\r\n\r\n"),
        head("chunk size -1", 400, malformed, chunked, body: "-1\r\nhello\r\n0\r\n\r\n"),
        head("an empty chunk size", 400, malformed, chunked, body: "\r\nhello\r\n0\r\n\r\n"),
        head("a chunk size of nine digits", 400, malformed, chunked, body: "000000005\r\nhello\r\n0\r\n\r\n"),
        head("a blank after the chunk size", 400, malformed, chunked, body: "5 \r\nhello\r\n0\r\n\r\n"),
        head("a chunk extension", 400, malformed, chunked, body: "5;a=b\r\nhello\r\n0\r\n\r\n"),
        head("an extension of the last chunk", 400, malformed, chunked, body: "0;a\r\n\r\n"),
        head("a trailer", 400, malformed, chunked, body: "0\r\nX: y\r\n\r\n"),
        head("a chunk longer than its size", 400, malformed, chunked, body: "4\r\nhello\r\n0\r\n\r\n"),
        head("a bare LF after a chunk size", 400, malformed, chunked, body: "5\nhello\r\n0\r\n\r\n"),
        head("a bare LF after a chunk", 400, malformed, chunked, body: "5\r\nhello\n0\r\n\r\n"),
        head("a bare LF at the end", 400, malformed, chunked, body: "0\r\n\n"),
    ]

    static let syntax: [RequestCase] = [
        head("a blank before the colon", 400, malformed, "X : y\r\n"),
        head("a tab before the colon", 400, malformed, "X\t: y\r\n"),
        head("a folded line", 400, malformed, "X: y\r\n z\r\n"),
        head("a folded line by tab", 400, malformed, "X: y\r\n\tz\r\n"),
        RequestCase("a blank before the first header", 400, malformed, "GET /loop HTTP/1.1\r\n Host: a\r\n\r\n"),
        head("NUL in a value", 400, malformed, "X: a\0b\r\n"),
        head("a bare CR in a value", 400, malformed, "X: a\rb\r\n"),
        head("an escape in a value", 400, malformed, "X: a\u{1b}b\r\n"),
        head("DEL in a value", 400, malformed, "X: a\u{7f}b\r\n"),
        head("a header line that ends in LF", 400, malformed, "X: y\n"),
        RequestCase("a request line that ends in LF", 400, malformed, "GET /loop HTTP/1.1\nHost: a\r\n\r\n"),
        RequestCase("a head that ends in LF", 400, malformed, "GET /loop HTTP/1.1\r\nHost: a\r\n\n"),
        head("an empty name", 400, malformed, ": y\r\n"),
        head("a name with a bracket", 400, malformed, "X(y): z\r\n"),
        head("a name beyond ASCII", 400, malformed, "Ä: z\r\n"),
        head("a line without a colon", 400, malformed, "XYZ\r\n"),
        RequestCase("no host", 400, "request.host_missing", "GET /loop HTTP/1.1\r\nX: y\r\n\r\n"),
        head("two hosts", 400, "request.host_missing", "Host: b\r\n"),
        head("two equal hosts", 400, "request.host_missing", "Host: a\r\n"),
        RequestCase("two hosts in HTTP/1.0", 400, "request.host_missing", "GET /loop HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n"),
        RequestCase("a host with a blank", 400, malformed, "GET /loop HTTP/1.1\r\nHost: a b\r\n\r\n"),
        RequestCase("a host with a path", 400, malformed, "GET /loop HTTP/1.1\r\nHost: a/b\r\n\r\n"),
        RequestCase("two blanks after the method", 400, malformed, "GET  /loop HTTP/1.1\r\nHost: a\r\n\r\n"),
        RequestCase("two blanks before the version", 400, malformed, "GET /loop  HTTP/1.1\r\nHost: a\r\n\r\n"),
        RequestCase("a blank after the version", 400, malformed, "GET /loop HTTP/1.1 \r\nHost: a\r\n\r\n"),
        RequestCase("a tab in the request line", 400, malformed, "GET\t/loop HTTP/1.1\r\nHost: a\r\n\r\n"),
        RequestCase("no version", 400, malformed, "GET /loop\r\nHost: a\r\n\r\n"),
        RequestCase("no target", 400, malformed, "GET HTTP/1.1\r\nHost: a\r\n\r\n"),
        RequestCase("a method with a bracket", 400, malformed, "G(T /loop HTTP/1.1\r\nHost: a\r\n\r\n"),
        RequestCase("an endless method", 400, malformed, String(repeating: "G", count: 40)),
        RequestCase("a target with a fragment", 400, malformed, "GET /loop#x HTTP/1.1\r\nHost: a\r\n\r\n"),
        RequestCase("a target beyond ASCII", 400, malformed, "GET /ü HTTP/1.1\r\nHost: a\r\n\r\n"),
        RequestCase("a target without a slash", 400, malformed, "GET loop HTTP/1.1\r\nHost: a\r\n\r\n"),
        RequestCase("the authority form", 400, malformed, "CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n"),
        RequestCase("a star for GET", 400, malformed, "GET * HTTP/1.1\r\nHost: a\r\n\r\n"),
        RequestCase("an absolute target without a host", 400, malformed, "GET http:///loop HTTP/1.1\r\nHost: a\r\n\r\n"),
        RequestCase("an absolute target with user and host", 400, malformed, "GET http://u@h/loop HTTP/1.1\r\nHost: a\r\n\r\n"),
        RequestCase("a version in lower case", 400, malformed, "GET /loop http/1.1\r\nHost: a\r\n\r\n"),
        RequestCase("a version of three digits", 400, malformed, "GET /loop HTTP/1.10\r\nHost: a\r\n\r\n"),
        RequestCase("HTTP/1.2", 505, "request.version_unsupported", "GET /loop HTTP/1.2\r\nHost: a\r\n\r\n"),
        RequestCase("HTTP/0.9", 505, "request.version_unsupported", "GET /loop HTTP/0.9\r\nHost: a\r\n\r\n"),
        RequestCase("the preface of HTTP/2", 505, "request.version_unsupported", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
        RequestCase("two blank lines before", 400, malformed, "\r\n\r\nGET /loop HTTP/1.1\r\nHost: a\r\n\r\n"),
        RequestCase("a bare LF before", 400, malformed, "\nGET /loop HTTP/1.1\r\nHost: a\r\n\r\n"),
        RequestCase("a TLS greeting", 400, malformed, [0x16, 0x03, 0x01, 0x02, 0x00, 0x01]),
        head("another expectation", 417, "request.expectation_unsupported", "Expect: 200-ok\r\n"),
        head("100-continue and more", 417, "request.expectation_unsupported", "Expect: 100-continue, x\r\n"),
    ]

    static let limits: [RequestCase] = [
        head("one header line too many", 431, "request.too_many_headers", String(repeating: "X: y\r\n", count: 64), method: "GET"),
        head("a head one byte too large", 431, "request.head_too_large", "X: " + String(repeating: "y", count: 16_384 - 33) + "\r\n", method: "GET"),
        RequestCase("an endless target", 431, "request.head_too_large", "GET /" + String(repeating: "a", count: 16_400)),
        RequestCase("an endless name", 431, "request.head_too_large", "GET / HTTP/1.1\r\n" + String(repeating: "a", count: 16_400)),
        head("a length over the limit", 413, "request.body_too_large", "Content-Length: 1025\r\n"),
        head("a length of forty digits", 413, "request.body_too_large", "Content-Length: \(String(repeating: "9", count: 40))\r\n"),
        head("a chunk over the limit", 413, "request.body_too_large", chunked, body: "401\r\n"),
        head("the largest chunk size", 413, "request.body_too_large", chunked, body: "FFFFFFFF\r\n"),
        head("chunks over the limit together", 413, "request.body_too_large", chunked, body: "3ff\r\n\(String(repeating: "x", count: 1023))\r\n2\r\n"),
    ]
}
