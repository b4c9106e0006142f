import Accounts
import Problems
import Testing

@testable import API

@Suite struct StateResourceTests {
    private static let trouble: @Sendable () -> [Problem] = { [Problem(APIProblem.pathUnknown, cause: "The canary is out.")] }

    @Test func `lives, and describes itself, for everybody`() async throws {
        let service = try TestService()
        #expect(try await service.call("GET", "/healthz").text == #"{"status":"ok"}"#)
        #expect(try await service.call("HEAD", "/healthz").status == 200)
        let description = try await service.call("GET", "/openapi.json")
        #expect(description.status == 200 && description["openapi"] == "3.1.0")
    }

    @Test func `ready is yes or no to strangers, with reasons to those who run it`() async throws {
        #expect(try await TestService().call("GET", "/readyz").text == #"{"status":"ready"}"#)
        let service = try TestService(readiness: Self.trouble)
        for caller in [nil, try service.credential(.paymentService)] {
            let answer = try await service.call("GET", "/readyz", as: caller)
            #expect(answer.status == 503 && answer.header("Retry-After") != nil && !answer.text.contains("canary"))
        }
        for role in [Role.operator, .auditor] {
            let answer = try await service.call("GET", "/readyz", as: try service.credential(role))
            #expect(answer.status == 503 && answer.text.contains("The canary is out."))
        }
        #expect(try await service.call("GET", "/readyz", listener: "metrics").text.contains("canary"))
        #expect(try await service.call("GET", "/readyz", as: "nonsense").code == "credential.malformed")
    }

    @Test func `metrics need a right or the listener that is the operator's`() async throws {
        let service = try TestService()
        let shop = try await Shop(service, identifier: "merchant.com.canary")
        try await service.call("GET", "/v1/merchant-identifiers/merchant.com.canary", as: shop.staff)
        #expect(try await service.call("GET", "/metrics").code == "credential.missing")
        #expect(try await service.call("GET", "/metrics", as: try service.credential(.paymentService)).code == "credential.permission_missing")
        let mine = try await service.call("GET", "/metrics", listener: "metrics")
        #expect(mine.status == 200 && mine.header("Content-Type")?.hasPrefix("text/plain; version=0.0.4") == true)
        let text = try await service.call("GET", "/metrics", as: shop.staff).text
        #expect(text.contains("coster_requests_total{method=\"GET\",route=\"/v1/merchant-identifiers/{identifier}\",status=\"200\"} 1\n"))
        #expect(text.contains("coster_problems_total{code=\"credential.missing\"} 1\n") && text.contains("coster_ready 1\n"))
        #expect(!text.contains("canary") && !text.contains(shop.merchant))
        // Nothing else is served there.
        #expect(try await service.call("GET", "/v1/merchants", as: shop.staff, listener: "metrics").code == "request.path_unknown")
    }
}
