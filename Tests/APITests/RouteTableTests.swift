import HTTPServer
import Testing

@testable import API

@Suite struct RouteTableTests {
    private func name(_ method: String, _ path: String) -> String {
        switch RouteTable.all.match(method: method, path: path) {
        case .route(let route, let segments): "\(route.method.rawValue) \(route.path.text) \(segments)"
        case .methodNotAllowed(let methods): "405 \(methods.map(\.rawValue))"
        case .unknown: "404"
        }
    }

    @Test func `finds the line of a request`() {
        #expect(name("GET", "/v1/merchants") == "GET /v1/merchants []")
        #expect(name("HEAD", "/v1/merchants/x") == #"GET /v1/merchants/{id} ["x"]"#)
        #expect(
            name("POST", "/v1/merchant-identifiers/merchant.a/certificates/upload")
                == #"POST /v1/merchant-identifiers/{identifier}/certificates/upload ["merchant.a"]"#)
        #expect(name("GET", "/v1/audit-entries/verify") == "GET /v1/audit-entries/verify []")
        #expect(name("DELETE", "/v1/merchants/x") == #"405 ["GET", "PATCH"]"#)
        #expect(name("HEAD", "/v1/decryptions") == #"405 ["POST"]"#)
        #expect(name("get", "/healthz") == #"405 ["GET"]"#)
        #expect(name("GET", "/v1") == "404" && name("GET", "/healthz/") == "404" && name("GET", "//healthz") == "404")
    }

    @Test func `payments have a lane of their own, and only what never blocks runs on the loop`() {
        for route in RouteTable.all.routes {
            switch (route.method.rawValue, route.path.text) {
            case ("POST", "/v1/decryptions"), ("GET", "/readyz"): #expect(route.lane == .payments)
            case ("GET", "/healthz"), ("GET", "/openapi.json"): #expect(route.lane == .loop)
            default: #expect(route.lane == .background, "\(route.path.text)")
            }
        }
    }

    @Test func `what makes something takes an Idempotency-Key, the costly calls are counted`() {
        let makers = RouteTable.all.routes.filter(\.makes).map(\.path.text)
        #expect(
            Set(makers) == [
                "/v1/merchants", "/v1/merchant-identifiers", "/v1/merchant-identifiers/{identifier}/certificates",
                "/v1/merchant-identifiers/{identifier}/certificates/upload", "/v1/decryptions", "/v1/credentials", "/v1/credentials/{id}/rotate",
            ])
        #expect(Set(RouteTable.all.routes.compactMap(\.rate)) == [.certificateSigningRequests, .uploads, .decryptions])
        #expect(RouteTable.all.routes.allSatisfy { $0.summary.hasSuffix(".") })
    }
}
