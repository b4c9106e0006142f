import Encodings
import Glibc
import HTTPServer
import Problems
import Secrets
import Testing

/// What holds for every connection, plain and over TLS 1.3 and 1.2.
@Suite struct HTTPServerTests {
    @Test(arguments: RequestCase.all, Wire.allCases)
    func `answers as the table says`(_ request: RequestCase, _ wire: Wire) throws {
        let client = try #require(try TestServer.shared.get().client(wire))
        client.send(request.bytes)
        let response = try #require(client.response())
        #expect(response.status == request.status)
        if let code = request.code {
            #expect(response.text == code)
            #expect(response.header("connection") == "close")
            #expect(client.hasEnded())
        } else {
            #expect(response.text.contains(" /loop "))
        }
    }

    @Test(arguments: Wire.allCases)
    func `takes requests byte by byte and in one piece, in order, on every lane`(_ wire: Wire) throws {
        let client = try #require(try TestServer.shared.get().client(wire))
        let paths = ["/loop", "/payments", "/loop", "/background", "/refuse", "/payments", "/loop"]
        let bytes = Array(
            paths.enumerated().map { number, path in
                path == "/refuse"
                    ? "GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n"
                    : "POST \(path) HTTP/1.1\r\nHost: a\r\nContent-Length: \(number)\r\n\r\n" + String(repeating: "b", count: number)
            }.joined().utf8)
        client.send(bytes)
        for byte in bytes { client.send([byte]) }
        for _ in 0..<2 {
            for (number, path) in paths.enumerated() {
                let response = try #require(client.response())
                if path == "/refuse" {
                    #expect(response.status == 401)
                } else {
                    #expect(response.text == "POST \(path) \(number)")
                }
                #expect(response.header("connection") == nil)
            }
        }
    }

    @Test(arguments: Wire.allCases)
    func `takes very many pipelined requests without losing one`(_ wire: Wire) throws {
        let client = try #require(try TestServer.shared.get().client(wire))
        client.send(String(repeating: "GET /loop HTTP/1.1\r\nHost: a\r\n\r\n", count: 2000))
        for _ in 0..<2000 { #expect(try #require(client.response()).text == "GET /loop 0") }
    }

    @Test(arguments: Wire.allCases)
    func `takes a large body and gives a large answer`(_ wire: Wire) throws {
        let client = try #require(try TestServer.shared.get().client(wire))
        client.send(Array("POST /large HTTP/1.1\r\nHost: a\r\nContent-Length: 3000000\r\n\r\n".utf8) + [UInt8](repeating: 0x61, count: 3_000_000))
        #expect(try #require(client.response()).text == "POST /large 3000000")
        client.send("GET /flood HTTP/1.1\r\nHost: a\r\n\r\nGET /loop HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try #require(client.response()).body.count == 8_000_000)
        #expect(try #require(client.response()).text == "GET /loop 0")
    }

    @Test(arguments: Wire.allCases)
    func `answers early to a body that is too large, and the answer arrives`(_ wire: Wire) throws {
        let client = try #require(try TestServer.shared.get().client(wire))
        client.send("POST /loop HTTP/1.1\r\nHost: a\r\nContent-Length: 900000\r\n\r\n")
        // The client goes on sending before it looks.
        client.send([UInt8](repeating: 0x61, count: 900_000))
        let response = try #require(client.response())
        #expect(response.status == 413)
        #expect(client.hasEnded())
    }

    @Test(arguments: Wire.allCases)
    func `refuses by plan before the body`(_ wire: Wire) throws {
        let client = try #require(try TestServer.shared.get().client(wire))
        client.send("POST /refuse HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\nX-Request-ID: abc\r\n\r\n")
        let response = try #require(client.response())
        #expect(response.status == 401)
        #expect(response.text == "refused abc")
        #expect(response.header("connection") == "close")
        #expect(client.hasEnded())
    }

    @Test(arguments: Wire.allCases)
    func `answers HEAD without a body`(_ wire: Wire) throws {
        let client = try #require(try TestServer.shared.get().client(wire))
        for path in ["/loop", "/payments"] {
            client.send("HEAD \(path) HTTP/1.1\r\nHost: a\r\n\r\nGET /loop HTTP/1.1\r\nHost: a\r\n\r\n")
            let head = try #require(client.response(toHEAD: true))
            #expect(head.header("content-length") == "\("HEAD \(path) 0".utf8.count)")
            #expect(try #require(client.response()).text == "GET /loop 0")
        }
    }

    @Test(arguments: Wire.allCases)
    func `asks for a body only where it will read it`(_ wire: Wire) throws {
        let server = try TestServer.shared.get()
        let client = try #require(server.client(wire))
        for path in ["/loop", "/payments"] {
            client.send("POST \(path) HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\nContent-Length: 2\r\n\r\n")
            #expect(try #require(client.response()).status == 100)
            client.send("ok")
            #expect(try #require(client.response()).text == "POST \(path) 2")
        }
        // With the body already there, nobody waits for a 100.
        client.send("POST /loop HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nok")
        #expect(try #require(client.response()).status == 200)
        client.send("POST /loop HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2000\r\n\r\n")
        #expect(try #require(client.response()).status == 413)
        let refused = try #require(server.client(wire))
        refused.send("POST /refuse HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
        #expect(try #require(refused.response()).status == 401)
    }

    @Test(arguments: Wire.allCases)
    func `closes when the client wants it, and only then`(_ wire: Wire) throws {
        let server = try TestServer.shared.get()
        for (request, stays) in [
            ("GET /loop HTTP/1.1\r\nHost: a\r\n\r\n", true), ("GET /payments HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", false),
            ("GET /loop HTTP/1.0\r\n\r\n", false), ("GET /loop HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", true),
        ] {
            let client = try #require(server.client(wire))
            client.send(request)
            let response = try #require(client.response())
            #expect(response.status == 200)
            if stays {
                client.send("GET /loop HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(try #require(client.response()).status == 200)
            } else {
                #expect(response.header("connection") == "close")
                #expect(client.hasEnded())
            }
        }
    }

    @Test(arguments: Wire.allCases)
    func `answers a client that has already said its last byte`(_ wire: Wire) throws {
        let client = try #require(try TestServer.shared.get().client(wire))
        client.send("GET /payments HTTP/1.1\r\nHost: a\r\n\r\n")
        client.endSending()
        #expect(try #require(client.response()).status == 200)
        #expect(client.hasEnded())
    }

    @Test(arguments: [
        ("abc-DEF_0.9", true), (String(repeating: "x", count: 128), true), (String(repeating: "x", count: 129), false), ("", false), ("a b", false),
        ("a\u{e4}", false), ("a,b", false),
    ])
    func `echoes a fit request id and makes one otherwise`(_ id: String, _ fits: Bool) throws {
        let client = try #require(try TestServer.shared.get().client(.plain))
        client.send("GET /loop HTTP/1.1\r\nHost: a\r\nX-Request-ID: \(id)\r\n\r\n")
        let echoed = try #require(client.response()?.header("x-request-id"))
        #expect((echoed == id) == fits)
        #expect(!echoed.isEmpty)
    }

    @Test func `makes another request id each time, also with a refusal or a doubled header`() throws {
        let server = try TestServer.shared.get()
        var ids: Set<String> = []
        for request in [
            "GET /loop HTTP/1.1\r\nHost: a\r\n\r\n", "GET /loop HTTP/1.1\r\nHost: a\r\nX-Request-ID: a\r\nX-Request-ID: a\r\n\r\n", "BAD\r\n\r\n",
            "GET /payments HTTP/1.1\r\nHost: a\r\n\r\n",
        ] {
            let client = try #require(server.client(.plain))
            client.send(request)
            let response = try #require(client.response())
            ids.insert(try #require(response.header("x-request-id")))
            #expect(response.header("date")?.hasSuffix(" GMT") == true)
        }
        #expect(ids.count == 4)
        #expect(!ids.contains("a"))
    }

    @Test func `tells the handler where a request came from`() throws {
        let server = try TestServer.shared.get()
        for (wire, listener) in [(Wire.plain, "plain"), (.tls13, "tls")] {
            let client = try #require(server.client(wire))
            client.send("GET /loop HTTP/1.1\r\nHost: a\r\n\r\n")
            let response = try #require(client.response())
            #expect(response.header("x-listener") == listener)
            #expect(response.header("x-peer") == "127.0.0.1")
            #expect(response.header("x-tls") == "\(wire != .plain)")
        }
    }

    // MARK: Deadlines

    /// Sends the bytes one at a time with a pause after each, until the server has ended the connection or none are left.
    private func trickle(_ bytes: [UInt8], to client: RawClient) {
        for byte in bytes {
            guard client.send([byte]) else { return }
            usleep(10_000)
        }
    }

    @Test(arguments: Wire.allCases)
    func `a total deadline ends slow heads and slow bodies`(_ wire: Wire) throws {
        let server = try TestServer {
            $0.deadlines.head = .milliseconds(60)
            $0.deadlines.body = .milliseconds(60)
        }
        let slowHead = try #require(server.client(wire))
        trickle(Array("GET /loop HTTP/1.1".utf8), to: slowHead)
        #expect(try #require(slowHead.response()).text == "request.timeout")
        let slowBody = try #require(server.client(wire))
        slowBody.send("POST /loop HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n")
        trickle([UInt8](repeating: 0x61, count: 18), to: slowBody)
        #expect(try #require(slowBody.response()).status == 408)
        #expect(server.server.statistics.deadlines == ["head": 1, "body": 1])
        #expect(server.server.statistics.refusals == ["request.timeout": 2])
    }

    @Test func `ends a handshake that does not come to its end`() throws {
        let server = try TestServer { $0.deadlines.handshake = .milliseconds(60) }
        let silent = try #require(RawClient(port: server.tlsPort))
        silent.send([0x16, 0x03, 0x01])
        #expect(silent.response() == nil)
        #expect(silent.ending != .timeout)
        #expect(server.server.statistics.handshakesFailed == 1)
    }

    @Test(arguments: Wire.allCases)
    func `ends idle connections, counted anew after each request`(_ wire: Wire) throws {
        let server = try TestServer { $0.deadlines.idle = .milliseconds(80) }
        let silent = try #require(server.client(wire))
        let used = try #require(server.client(wire))
        used.send("GET /loop HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(used.response() != nil)
        #expect(silent.hasEnded())
        #expect(used.hasEnded())
        #expect(server.server.statistics.deadlines == ["idle": 2])
    }

    @Test(arguments: Wire.allCases)
    func `ends a client that does not read its answer`(_ wire: Wire) throws {
        let server = try TestServer { $0.deadlines.write = .milliseconds(80) }
        let client = try #require(server.client(wire))
        client.send("GET /flood HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(eventually { server.server.statistics.deadlines == ["write": 1] && server.server.statistics.connections == 0 })
    }

    @Test func `ends a client that goes on sending after the last answer`() throws {
        let server = try TestServer {
            $0.deadlines.linger = .milliseconds(80)
            $0.limits.lingerBytes = 100_000
        }
        let slow = try #require(server.client(.plain))
        slow.send("BAD\r\n")
        #expect(slow.response() != nil)
        #expect(eventually { server.server.statistics.deadlines == ["linger": 1] })
        let fast = try #require(server.client(.plain))
        fast.send("BAD\r\n")
        var chunks = 0
        while chunks < 10_000, fast.send([UInt8](repeating: 0x61, count: 65_536)) { chunks += 1 }
        #expect(chunks < 10_000)
        #expect(eventually { server.server.statistics.connections == 0 })
    }

    @Test func `a request at a worker is under no deadline of the connection`() throws {
        let server = try TestServer {
            $0.deadlines.idle = .milliseconds(20)
            $0.deadlines.head = .milliseconds(20)
            $0.deadlines.body = .milliseconds(20)
        }
        let client = try #require(server.client(.tls13))
        client.send("GET /gate HTTP/1.1\r\nHost: a\r\n\r\n")
        usleep(60_000)
        server.handler.gate.open()
        #expect(try #require(client.response()).status == 200)
    }

    // MARK: Bounds

    @Test func `a full queue is a 503 at once, and the connection goes on`() throws {
        let server = try TestServer { $0.payments = .init(threads: 2, niceness: 0, queueLimit: 3) }
        let waiting = try (0..<3).map { _ in try #require(server.client(.plain)) }
        for client in waiting { client.send("GET /gate HTTP/1.1\r\nHost: a\r\n\r\n") }
        #expect(eventually { server.handler.gate.waiting == 3 })
        let client = try #require(server.client(.plain))
        client.send("GET /payments HTTP/1.1\r\nHost: a\r\n\r\nGET /background HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try #require(client.response()).text == "request.too_busy")
        #expect(try #require(client.response()).text == "GET /background 0")
        #expect(server.server.statistics.refusals == ["request.too_busy": 1])
        #expect(server.server.statistics.paymentsLoad == 3)
        server.handler.gate.open()
        for client in waiting { #expect(try #require(client.response()).status == 200) }
        client.send("GET /payments HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try #require(client.response()).status == 200)
    }

    @Test func `many answers made at one moment all arrive`() throws {
        let server = try TestServer()
        let clients = try (0..<100).map { number in try #require(server.client(number.isMultiple(of: 2) ? .plain : .tls13)) }
        for client in clients { client.send("GET /gate HTTP/1.1\r\nHost: a\r\n\r\n") }
        #expect(eventually { server.handler.gate.waiting == 100 })
        server.handler.gate.open()
        for client in clients { #expect(try #require(client.response()).text == "GET /gate 0") }
    }

    @Test func `an answer whose connection has gone is dropped`() throws {
        let server = try TestServer { $0.loops = 1 }
        for _ in 0..<5 {
            let client = try #require(server.client(.plain))
            client.send("GET /gate HTTP/1.1\r\nHost: a\r\n\r\n")
        }
        #expect(eventually { server.handler.gate.waiting == 5 })
        server.handler.gate.open()
        #expect(eventually { server.server.statistics.connections == 0 })
        let next = try #require(server.client(.plain))
        next.send("GET /loop HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try #require(next.response()).text == "GET /loop 0")
    }

    @Test func `connections beyond the limit are closed unanswered`() throws {
        let server = try TestServer { $0.limits.connections = 2 }
        let first = try #require(server.client(.plain))
        let second = try #require(server.client(.tls13))
        let third = try #require(server.client(.plain))
        third.send("GET /loop HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(third.response() == nil)
        #expect(server.server.statistics.connectionsRefused == 1)
        for client in [first, second] {
            client.send("GET /loop HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            #expect(try #require(client.response()).status == 200)
            #expect(client.hasEnded())
        }
    }

    @Test func `two hundred idle TLS connections disturb no one`() throws {
        let server = try TestServer()
        let idle = try (0..<200).map { _ in try #require(server.client(.tls13)) }
        #expect(server.server.statistics.connections == 200)
        let working = try Wire.allCases.map { wire in try #require(server.client(wire)) }
        for _ in 0..<50 {
            for client in working {
                client.send("POST /payments HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc")
                #expect(try #require(client.response()).text == "POST /payments 3")
            }
        }
        for client in idle {
            client.send("GET /loop HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try #require(client.response()).status == 200)
        }
        #expect(server.server.statistics.requests == 350)
        #expect(server.server.statistics.handshakes == 202)
    }

    // MARK: The end

    @Test(arguments: Wire.allCases)
    func `drains: finishes what is under way, closes what is idle, takes nothing new`(_ wire: Wire) throws {
        let server = try TestServer()
        let idle = try #require(server.client(wire))
        let working = try #require(server.client(wire))
        let halfWay = try #require(server.client(wire))
        working.send("GET /gate HTTP/1.1\r\nHost: a\r\n\r\nGET /loop HTTP/1.1\r\nHost: a\r\n\r\n")
        halfWay.send("GET /loop HTTP/1.1\r\nHo")
        #expect(eventually { server.handler.gate.waiting == 1 })
        let drained = inParallel { server.server.drain(seconds: 5) }
        #expect(idle.hasEnded())
        #expect(RawClient(port: server.plainPort) == nil)
        halfWay.send("st: a\r\n\r\n")
        #expect(try #require(halfWay.response()).header("connection") == "close")
        server.handler.gate.open()
        let last = try #require(working.response())
        #expect(last.text == "GET /gate 0")
        #expect(last.header("connection") == "close")
        #expect(working.hasEnded())
        #expect(halfWay.hasEnded())
        for client in [working, halfWay] { client.endSending() }
        drained()
        #expect(server.server.statistics.connections == 0)
    }

    @Test func `cuts what is not done in time`() throws {
        let server = try TestServer()
        let client = try #require(server.client(.tls13))
        client.send("GET /gate HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(eventually { server.handler.gate.waiting == 1 })
        server.server.drain(seconds: 0.05)
        #expect(client.response() == nil)
        server.handler.gate.open()
    }

    @Test func `stops twice and without having started`() throws {
        let server = try TestServer()
        server.server.stop()
        server.server.stop()
        let never = try HTTPServer(configuration: .init(listeners: []), handler: TellingHandler())
        never.stop()
    }

    // MARK: The start

    @Test func `refuses to start where it cannot listen rightly`() throws {
        let identity = try #require(TestIdentity.server)
        let other = try #require(TestIdentity.client)
        let tls = TLSConfiguration(
            certificateChainPEM: identity.certificatePEM, privateKeyPEM: SecretBytes(copying: identity.keyPEM), requestClientCertificates: false)
        func start(_ address: String, _ port: Int, _ tls: TLSConfiguration?) throws(Problem) {
            let server = try HTTPServer(
                configuration: .init(listeners: [.init(name: "x", address: address, port: port, tls: tls)]), handler: TellingHandler())
            _ = try server.start()
        }
        #expect(throws: Problem.listener(.plainBeyondLoopback)) { try start("0.0.0.0", 0, nil) }
        #expect(throws: Problem.listener(.plainBeyondLoopback)) { try start("::", 0, nil) }
        #expect(throws: Problem.listener(.addressUnusable)) { try start("203.0.113.7", 0, tls) }
        #expect(throws: Problem.listener(.addressUnusable)) { try start("no address", 0, tls) }
        #expect(throws: Problem.listener(.addressUnusable)) { try start("127.0.0.1", 70_000, tls) }
        let taken = try TestServer.shared.get().plainPort
        #expect(throws: Problem.listener(.addressInUse)) { try start("127.0.0.1", taken, nil) }
        var broken = tls
        broken.certificateChainPEM = Array("no certificate".utf8)
        #expect(throws: Problem.listener(.certificateUnreadable)) { try start("127.0.0.1", 0, broken) }
        broken = tls
        broken.privateKeyPEM = SecretBytes(copying: Array("no key".utf8))
        #expect(throws: Problem.listener(.privateKeyUnreadable)) { try start("127.0.0.1", 0, broken) }
        broken.privateKeyPEM = SecretBytes(copying: other.keyPEM)
        #expect(throws: Problem.listener(.keyMismatch)) { try start("127.0.0.1", 0, broken) }
        #expect(throws: Never.self) { try start("127.0.0.1", 0, tls) }
    }
}
