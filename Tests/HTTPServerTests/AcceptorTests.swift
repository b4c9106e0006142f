import Synchronization
import Testing

@testable import HTTPServer

@Suite struct AcceptorTests {
    @Test func `gives each connection to the loop with the fewest`() throws {
        let server = try TestServer { $0.loops = 3 }
        var clients: [RawClient] = []
        for number in 0..<9 { clients.append(try #require(server.client(number.isMultiple(of: 3) ? .tls13 : .plain))) }
        #expect(eventually { server.server.statistics.connectionsAccepted == 9 })
        #expect(server.server.loops.map { $0.load.load(ordering: .relaxed) } == [3, 3, 3])
        for client in clients {
            client.send("GET /loop HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try #require(client.response()).status == 200)
        }
    }
}
