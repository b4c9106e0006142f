import Accounts
import Encodings
import HTTPServer
import Problems
import Testing

@testable import API

@Suite struct APIHandlerTests {
    @Test func `unknown paths are 404, known ones say their methods`() async throws {
        let service = try TestService()
        for path in ["/", "/v1", "/v2/merchants", "/v1/merchants/", "/v1/decryptions/diagnose/x", "/v1/merchants/%zz"] {
            #expect(try await service.call("GET", path).code == "request.path_unknown", "\(path)")
        }
        let answer = try await service.call("DELETE", "/v1/merchants")
        #expect(answer.status == 405 && answer.code == "request.method_not_allowed" && answer.header("Allow") == "GET, HEAD, POST")
        #expect(answer.texts("context.allowed") == ["GET", "HEAD", "POST"])
        #expect(try await service.call("OPTIONS", "/v1/decryptions").header("Allow") == "POST")
    }

    @Test func `a credential comes in one of two ways, and in one only`() async throws {
        let service = try TestService()
        let credential = try service.credential(.operator)
        let halves = credential.split(separator: ".").map(String.init)
        func code(_ headers: [(String, String)]) async throws -> String? { try await service.call("GET", "/v1/merchants", headers: headers).code }
        #expect(try await code([("Authorization", "Bearer \(credential)")]) == nil)
        #expect(try await code([("authorization", "bearer  \(credential)")]) == nil)
        #expect(try await code([("X-API-Key", halves[0]), ("X-API-Secret", halves[1])]) == nil)
        for headers in [
            [("Authorization", "Bearer \(credential)"), ("X-API-Key", halves[0]), ("X-API-Secret", halves[1])],
            [("Authorization", "Bearer \(credential)"), ("Authorization", "Bearer \(credential)")], [("X-API-Key", halves[0])], [("X-API-Secret", halves[1])],
            [("Authorization", "Basic \(credential)")], [("Authorization", credential)], [("Authorization", "Bearer")],
            [("Authorization", "Bearer \(halves[0])")],
            [("Authorization", "Bearer \(credential).")], [("X-API-Key", credential), ("X-API-Secret", credential)],
        ] {
            #expect(try await code(headers) == "credential.malformed", "\(headers.map(\.0))")
        }
        #expect(try await code([]) == "credential.missing")
        let wrong = String(credential.dropLast()) + (credential.hasSuffix("A") ? "B" : "A")
        #expect(try await code([("Authorization", "Bearer \(wrong)")]) == "credential.invalid")
        #expect(try await code([("Authorization", "Bearer ck_\(String(repeating: "0", count: 32)).\(halves[1])")]) == "credential.invalid")
    }

    @Test func `bodies are JSON in UTF-8 of bounded size`() async throws {
        let service = try TestService()
        let staff = try service.credential(.operator)
        let json = Array(#"{"name":"Shop"}"#.utf8)
        func post(_ body: TestService.Body) async throws -> Answer { try await service.call("POST", "/v1/merchants", as: staff, body) }
        for type in ["application/json", "application/json; charset=utf-8", "Application/JSON;charset=\"UTF-8\"", nil] {
            #expect(try await post(.raw(json, type: type)).status == 201)
        }
        for type in [
            "text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin1", "application/problem+json", "nonsense;;=",
            "multipart/form-data; boundary=b",
        ] {
            let answer = try await post(.raw(json, type: type))
            #expect(answer.status == 415 && answer.code == "request.content_type_unsupported" && answer.texts("context.supported") == ["application/json"])
        }
        let large = try await post(.json(#"{"name":"\#(String(repeating: "x", count: 65_536))"}"#))
        #expect(large.status == 413 && large.value("context.limit")?.integer == 65_536 && large.value("context.size")?.integer == 65_547)
        #expect(try await post(.json(#"{"name":"\#("x")""#)).code == "request.json_malformed")
        #expect(try await post(.raw([0x7b, 0x22, 0xff], type: nil)).value("context.offset")?.integer == 2)
        #expect(try await service.call("GET", "/v1/merchants?limt=1", as: staff).code == "request.parameter_unknown")
        #expect(try await service.call("POST", "/v1/merchants?x=1", as: staff, .raw(json, type: nil)).code == "request.parameter_unknown")
        #expect(try await service.call("GET", "/v1/merchants", as: staff, .json("{}")).code == "request.body_too_large")
    }

    @Test func `answers carry no-store and nosniff, and the request's id`() async throws {
        let service = try TestService()
        let staff = try service.credential(.operator)
        let answer = try await service.call("GET", "/v1/merchants", as: staff, headers: [("X-Request-ID", "abc-1.2_3")])
        #expect(answer.header("Cache-Control") == "no-store" && answer.header("X-Content-Type-Options") == "nosniff")
        let refused = try await service.call("GET", "/v1/merchants/x", as: staff, headers: [("X-Request-ID", "abc-1.2_3")])
        #expect(refused["request_id"] == "abc-1.2_3" && refused.header("Cache-Control") == "no-store")
    }

    @Test func `the log has patterns and ids of callers, and nothing of what was asked`() async throws {
        let service = try TestService()
        let staff = try service.credential(.operator)
        let canary = "merchant.com.canary"
        try await service.call("GET", "/v1/merchant-identifiers/\(canary)", as: staff)
        try await service.call("POST", "/v1/merchants", as: staff, .json(#"{"name":"canary","canary":1}"#))
        try await service.call("CANARY", "/v1/canary?canary=1")
        try await service.call("GET", "/healthz")
        let lines = service.accessLog.map { String(decoding: $0.json, as: UTF8.self) }
        #expect(lines.count == 4)
        #expect(!lines.joined().lowercased().contains("canary"))
        let first = try #require(service.accessLog.first)
        #expect(first.route == "/v1/merchant-identifiers/{identifier}" && first.method == "GET" && first.status == 404)
        #expect(first.problem?.code == "merchant_identifier.unknown" && first.caller != nil)
        #expect(service.accessLog[2].method == "other" && service.accessLog[2].route == nil && service.accessLog[2].caller == nil)
        #expect(lines[3].contains(#""route":"/healthz","status":200,"code":null"#))
    }

    @Test func `a sealed service says so to every caller, and opens again`() async throws {
        let service = try TestService()
        let staff = try service.credential(.operator)
        let open = service.service.state
        service.service.state = .sealed(Problem(APIProblemForTests.sealed))
        let refused = try await service.call("GET", "/v1/merchants", as: staff)
        #expect(refused.status == 423 && refused.code == "custody.sealed")
        #expect(try await service.call("GET", "/healthz").status == 200)
        #expect(try await service.call("GET", "/openapi.json").status == 200)
        #expect(try await service.call("GET", "/readyz").code == "service.not_ready")
        service.service.state = open
        #expect(try await service.call("GET", "/v1/merchants", as: staff).status == 200)
    }

    @Test func `costly calls are counted for each credential`() async throws {
        var limits = RateLimits()
        limits.certificateSigningRequests = RateLimits.Rate(perMinute: 60, burst: 2)
        limits.uploads = RateLimits.Rate(perMinute: 60, burst: 1)
        let service = try TestService(rateLimits: limits)
        let shop = try await Shop(service)
        for _ in 0..<2 { _ = try await shop.newCertificate() }
        let path = "/v1/merchant-identifiers/\(shop.registration)/certificates"
        let refused = try await service.call("POST", path, as: shop.staff, .json("{}"))
        #expect(refused.status == 429 && refused.code == "request.rate_limited" && refused.header("Retry-After") == "1")
        #expect(refused.value("retryable")?.bool == true)
        let other = try service.credential(.operator)
        #expect(try await service.call("POST", path, as: other, .json("{}")).status == 201)
        #expect(try await shop.upload([1]).code == "certificate.not_a_certificate")
        #expect(try await shop.upload([1]).code == "request.rate_limited")
        service.pass(seconds: 1)
        #expect(try await shop.upload([1]).code == "certificate.not_a_certificate")
    }
}

private enum APIProblemForTests: String, ProblemEntry {
    case sealed = "custody.sealed"
    var page: ProblemPage { .init(.sealed, cause: "The service is sealed.", fix: "Unseal it.") }
}
