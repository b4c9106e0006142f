import Encodings
import HTTPServer
import Testing

@Suite struct TLSContextTests {
    private func told(_ client: RawClient) throws -> RawClient.Response {
        client.send("GET /loop HTTP/1.1\r\nHost: a\r\n\r\n")
        return try #require(client.response())
    }

    @Test(arguments: [0x0303, 0x0304])
    func `gives the hash of the client's key, also in a resumed session`(version: Int) throws {
        let server = try TestServer.shared.get()
        let identity = try #require(TestIdentity.client)
        let wanted = RawClient.TLS(identity: identity, maximumVersion: Int32(version))
        let first = try #require(RawClient(port: server.tlsPort, tls: wanted))
        #expect(try told(first).header("x-client") == identity.spkiHash.hex)
        #expect(!first.isResumed)
        let session = first.takeSession()
        // The server has two loops: at least one of these lands on another than the first.
        var held: [RawClient] = [first]
        for _ in 0..<3 {
            var again = wanted
            again.identity = nil
            again.session = session
            let resumed = try #require(RawClient(port: server.tlsPort, tls: again))
            #expect(resumed.isResumed)
            #expect(try told(resumed).header("x-client") == identity.spkiHash.hex)
            held.append(resumed)
        }
    }

    @Test(arguments: [0x0303, 0x0304])
    func `takes any client certificate and none`(version: Int) throws {
        let server = try TestServer.shared.get()
        let without = try #require(RawClient(port: server.tlsPort, tls: .init(maximumVersion: Int32(version))))
        #expect(try told(without).header("x-client") == nil)
        let other = try #require(TestIdentity.otherClient)
        let with = try #require(RawClient(port: server.tlsPort, tls: .init(identity: other, maximumVersion: Int32(version))))
        #expect(try told(with).header("x-client") == other.spkiHash.hex)
    }

    @Test(arguments: ["AES128-GCM-SHA256", "ECDHE-ECDSA-AES128-SHA", "ECDHE-ECDSA-AES256-SHA384", "DHE-RSA-AES128-GCM-SHA256"])
    func `refuses ciphers without AEAD or forward secrecy`(cipher: String) throws {
        let server = try TestServer.shared.get()
        #expect(RawClient(port: server.tlsPort, tls: .init(maximumVersion: 0x0303, ciphers12: "\(cipher):@SECLEVEL=0")) == nil)
    }

    @Test(arguments: ["ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES256-GCM-SHA384", "ECDHE-ECDSA-CHACHA20-POLY1305"])
    func `takes ECDHE with AEAD in TLS 1.2`(cipher: String) throws {
        let server = try TestServer.shared.get()
        let client = try #require(RawClient(port: server.tlsPort, tls: .init(maximumVersion: 0x0303, ciphers12: cipher)))
        #expect(try told(client).status == 200)
    }

    @Test func `refuses TLS 1.1 and renegotiation`() throws {
        let server = try TestServer.shared.get()
        #expect(RawClient(port: server.tlsPort, tls: .init(maximumVersion: 0x0302)) == nil)
        let client = try #require(RawClient(port: server.tlsPort, tls: .init(maximumVersion: 0x0303)))
        #expect(try told(client).status == 200)
        #expect(!client.renegotiate())
    }

    @Test func `tells a client that speaks plain HTTP to use TLS`() throws {
        let server = try TestServer.shared.get()
        let client = try #require(RawClient(port: server.tlsPort))
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        let response = try #require(client.response())
        #expect(response.status == 400)
        #expect(response.text == "request.tls_required")
        #expect(client.hasEnded())
    }
}
