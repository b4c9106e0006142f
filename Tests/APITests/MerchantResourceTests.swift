import Accounts
import Encodings
import Testing

@testable import API

@Suite struct MerchantResourceTests {
    @Test func `makes, shows, changes and lists`() async throws {
        let service = try TestService()
        let staff = try service.credential(.operator)
        let made = try await service.call("POST", "/v1/merchants", as: staff, .json(#"{"name":"Obst & Söhne","contacts":["a@example.com"]}"#))
        let id = try #require(made["id"])
        #expect(made.status == 201 && id.hasPrefix("mer_") && made["created_at"] == "2026-11-01T12:00:00Z")
        service.pass(seconds: 60)
        let changed = try await service.call("PATCH", "/v1/merchants/\(id)", as: staff, .json(#"{"contacts":[]}"#))
        #expect(changed["name"] == "Obst & Söhne" && changed.texts("contacts").isEmpty && changed["updated_at"] == "2026-11-01T12:01:00Z")
        #expect(try await service.call("GET", "/v1/merchants/\(id)", as: staff).text == changed.text)
        for body in [#"{"name":""}"#, #"{"name":"a\nb"}"#, #"{"name":"\#(String(repeating: "x", count: 201))"}"#] {
            #expect(try await service.call("POST", "/v1/merchants", as: staff, .json(body)).status == 422)
        }
    }

    @Test func `pages hold together without gap or double`() async throws {
        let service = try TestService()
        let staff = try service.credential(.operator)
        var made: [String] = []
        for number in 0..<7 { made.append(try #require(try await service.call("POST", "/v1/merchants", as: staff, .json(#"{"name":"\#(number)"}"#))["id"])) }
        var seen: [String] = []
        var next: String? = ""
        while let after = next {
            let page = try await service.call("GET", "/v1/merchants?limit=3\(after.isEmpty ? "" : "&after=\(after)")", as: staff)
            seen += page.ids
            next = page["next"]
            #expect(page.ids.count <= 3)
        }
        #expect(seen == made)
        #expect(try await service.call("GET", "/v1/merchants?limit=7", as: staff).value("next")?.isNull == true)
        #expect(try await service.call("GET", "/v1/merchants?after=cert_1", as: staff).code == "request.parameter_invalid")
        // A caller limited to two merchants sees those two.
        let limited = try service.credential(.operator, merchants: [made[2], made[5]].compactMap { MerchantID($0) })
        #expect(try await service.call("GET", "/v1/merchants?limit=1", as: limited).ids == [made[2]])
        #expect(try await service.call("GET", "/v1/merchants", as: limited).ids == [made[2], made[5]])
    }

    @Test func `the same key makes nothing twice`() async throws {
        let service = try TestService()
        let staff = try service.credential(.operator)
        func post(_ name: String, _ key: String, as caller: String) async throws -> Answer {
            try await service.call("POST", "/v1/merchants", as: caller, .json(#"{"name":"\#(name)"}"#), headers: [("Idempotency-Key", key)])
        }
        let first = try await post("A", "k1", as: staff)
        let second = try await post("A", "k1", as: staff)
        #expect(first.status == 201 && second.status == 200 && first["id"] == second["id"])
        #expect(try await post("B", "k1", as: staff).code == "request.idempotency_key_reused")
        #expect(try await post("A", "k2", as: staff)["id"] != first["id"])
        // Keys are the caller's own, and kept 24 hours.
        #expect(try await post("A", "k1", as: try service.credential(.operator)).status == 201)
        service.pass(seconds: 86_401)
        #expect(try await post("B", "k1", as: staff).status == 201)
        for key in ["", "a b", String(repeating: "k", count: 256), "é"] {
            #expect(try await post("A", key, as: staff).code == "request.idempotency_key_malformed", "\(key.count)")
        }
        #expect(try await post("A", String(repeating: "k", count: 255), as: staff).status == 201)
    }
}
