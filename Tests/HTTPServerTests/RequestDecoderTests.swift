import HTTPServer
import Problems
import Testing

@Suite struct RequestDecoderTests {
    private func decode(_ bytes: [UInt8], chunk: Int = .max, maximumBodyBytes: Int = 1024) -> [RequestDecoder.Event] {
        var decoder = RequestDecoder()
        var events: [RequestDecoder.Event] = []
        var start = 0
        while start < bytes.count {
            let part = Array(bytes[start..<(chunk < bytes.count - start ? start + chunk : bytes.count)])
            var position = 0
            while let event = decoder.next(part.span, at: &position) {
                events.append(event)
                if case .head = event { decoder.maximumBodyBytes = maximumBodyBytes }
            }
            #expect(position == part.count)
            start += part.count
        }
        return events
    }

    @Test(arguments: RequestCase.all)
    func `takes or refuses as the table says`(_ request: RequestCase) throws {
        let last = try #require(decode(request.bytes).last)
        switch last {
        case .refused(let problem):
            #expect(problem.code == request.code)
            #expect(problem.status == request.status)
        case .body: #expect(request.code == nil)
        case .head: Issue.record("ends within the body")
        }
    }

    @Test(arguments: RequestCase.all)
    func `means the same however the bytes are split`(_ request: RequestCase) {
        for seed in 0..<40 { #expect(RequestDecoderProbe.isIndependentOfChunks(request.bytes, seed: UInt64(seed))) }
    }

    @Test func `means the same however random changes are split`() {
        var random = Linear(state: 7)
        for round in 0..<3000 {
            let one = RequestCase.all[Int(random.next() % UInt64(RequestCase.all.count))].bytes
            var bytes = one + RequestCase.taken[round % RequestCase.taken.count].bytes
            for _ in 0..<Int(random.next() % 4) {
                let place = Int(random.next() % UInt64(bytes.count))
                switch random.next() % 3 {
                case 0: bytes[place] = UInt8(truncatingIfNeeded: random.next())
                case 1: bytes.remove(at: place)
                default: bytes.insert([0x0D, 0x0A, 0x20, 0x3A, 0x00][Int(random.next() % 5)], at: place)
                }
                if bytes.isEmpty { bytes = [0] }
            }
            #expect(RequestDecoderProbe.isIndependentOfChunks(bytes, seed: random.next()))
        }
    }

    @Test func `gives the parts of a head`() throws {
        let events = decode(
            Array(
                "PUT /v1/a%20b?x=1&y=?2 HTTP/1.1\r\nHost: Example.com:8443\r\nX-Two: a \r\nx-two:\tb\r\nContent-Length: 2\r\nConnection: x, Close\r\n\r\nok"
                    .utf8))
        guard case .head(let head) = try #require(events.first), case .body(let body) = try #require(events.last) else {
            Issue.record("not a head and a body")
            return
        }
        #expect(head.method == "PUT")
        #expect(head.target == "/v1/a%20b?x=1&y=?2")
        #expect(head.path == "/v1/a%20b")
        #expect(head.query == "x=1&y=?2")
        #expect(head.minorVersion == 1)
        #expect(head.header("host") == "Example.com:8443")
        #expect(head.header("x-two") == "a, b")
        #expect(head.count(of: "x-two") == 2)
        #expect(head.header("x-three") == nil)
        #expect(head.headers.map(\.name) == ["host", "x-two", "x-two", "content-length", "connection"])
        #expect(head.contentLength == 2)
        #expect(!head.isChunked)
        #expect(!head.keepsAlive)
        #expect(body == Array("ok".utf8))
    }

    @Test(arguments: [
        ("HTTP/1.1", "", true), ("HTTP/1.1", "Connection: close\r\n", false), ("HTTP/1.1", "Connection: keep-alive\r\n", true), ("HTTP/1.0", "", false),
        ("HTTP/1.0", "Connection: keep-alive\r\n", true), ("HTTP/1.1", "Connection: keep-alive\r\nConnection: CLOSE\r\n", false),
    ])
    func `knows whether the connection stays`(_ version: String, _ line: String, _ stays: Bool) throws {
        guard case .head(let head) = try #require(decode(Array("GET / \(version)\r\nHost: a\r\n\(line)\r\n".utf8)).first) else {
            Issue.record("no head")
            return
        }
        #expect(head.keepsAlive == stays)
    }

    @Test(
        arguments: [
            ("http://example.com", "/", nil), ("HTTPS://example.com:1/x", "/x", nil), ("http://[::1]?q", "/", "q"), ("/", "/", nil), ("/?", "/", ""),
            ("//x", "//x", nil),
        ] as [(String, String, String?)])
    func `finds path and query`(_ target: String, _ path: String, _ query: String?) throws {
        guard case .head(let head) = try #require(decode(Array("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n".utf8)).first) else {
            Issue.record("no head")
            return
        }
        #expect(head.path == path)
        #expect(head.query == query)
    }

    @Test(arguments: [1, 2, 3, 7, 64, 1000])
    func `reads pipelined requests in order`(chunk: Int) {
        var bytes: [UInt8] = []
        for number in 0..<20 {
            let body = String(repeating: "b", count: number)
            bytes += Array("POST /\(number) HTTP/1.1\r\nHost: a\r\nContent-Length: \(number)\r\n\r\n\(body)".utf8)
            bytes += Array("POST /\(number)c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n".utf8)
        }
        let told = decode(bytes, chunk: chunk).map { event in
            switch event {
            case .head(let head): head.path
            case .body(let body): "\(body.count)"
            case .refused(let problem): problem.code
            }
        }
        #expect(told == (0..<20).flatMap { ["/\($0)", "\($0)", "/\($0)c", "1"] })
    }

    @Test func `a limit names itself and the size seen`() throws {
        guard case .refused(let problem) = try #require(decode(Array("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2000\r\n\r\n".utf8)).last) else {
            Issue.record("taken")
            return
        }
        #expect(problem.context.map(\.name) == ["limit", "size"])
        #expect(problem.context.map(\.value) == [.number(1024), .number(2000)])
    }

    @Test func `says nothing more after a refusal`() {
        let events = decode(Array("BAD\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8), chunk: 1)
        #expect(events.count == 1)
    }

    @Test func `knows whether it stands within a request`() {
        var decoder = RequestDecoder()
        #expect(!decoder.isWithinRequest)
        var position = 0
        let part = Array("GE".utf8)
        let event = decoder.next(part.span, at: &position)
        #expect(event == nil)
        #expect(decoder.isWithinRequest)
    }
}

/// The same numbers in every run.
struct Linear: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state >> 16
    }
}
