import HTTPServer
import Testing

@Suite struct ResponseEncoderTests {
    private func encode(_ response: HTTPResponse, isHEAD: Bool = false, closes: Bool = false, isHTTP10: Bool = false) -> String {
        var output: [UInt8] = []
        let exchange = ResponseEncoder.Exchange(requestID: "r-1", isHEAD: isHEAD, closes: closes, isHTTP10: isHTTP10, date: Array("D".utf8))
        ResponseEncoder.encode(response, exchange, into: &output)
        return String(decoding: output, as: UTF8.self)
    }

    @Test func `writes head and body`() {
        let text = encode(HTTPResponse(status: 200, headers: [("Content-Type", "text/plain")], body: Array("hello".utf8)))
        #expect(text == "HTTP/1.1 200 OK\r\nDate: D\r\nContent-Length: 5\r\nX-Request-ID: r-1\r\nContent-Type: text/plain\r\n\r\nhello")
    }

    @Test func `announces but leaves out the body of HEAD`() {
        let text = encode(HTTPResponse(status: 200, body: Array("hello".utf8)), isHEAD: true)
        #expect(text.contains("Content-Length: 5\r\n"))
        #expect(text.hasSuffix("\r\n\r\n"))
    }

    @Test(arguments: [204, 304])
    func `gives no length where there is no content`(status: Int) {
        let text = encode(HTTPResponse(status: status, body: [1]))
        #expect(!text.contains("Content-Length"))
        #expect(text.hasSuffix("\r\n\r\n"))
    }

    @Test func `says what becomes of the connection`() {
        #expect(encode(HTTPResponse(status: 200), closes: true).contains("\r\nConnection: close\r\n"))
        #expect(encode(HTTPResponse(status: 200), isHTTP10: true).contains("\r\nConnection: keep-alive\r\n"))
        #expect(!encode(HTTPResponse(status: 200)).contains("Connection"))
    }

    @Test func `lets no text end its line`() {
        let text = encode(HTTPResponse(status: 200, headers: [("X-A", "b\r\nX-Evil: c"), ("X\r\n\r\n", "d\0")]))
        #expect(text.contains("\r\nX-A: b  X-Evil: c\r\n"))
        #expect(text.contains("\r\nX    : d \r\n\r\n"))
    }

    @Test(arguments: ["Content-Length", "connection", "Transfer-Encoding", "DATE", "X-Request-Id"])
    func `keeps the framing to itself`(name: String) {
        #expect(!encode(HTTPResponse(status: 200, headers: [(name, "evil")])).contains("evil"))
    }
}
