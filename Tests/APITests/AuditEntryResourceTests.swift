import Accounts
import Encodings
import Testing

@testable import API

@Suite struct AuditEntryResourceTests {
    @Test func `each sees its own, an auditor all`() async throws {
        let service = try TestService()
        let shop = try await Shop(service)
        let other = try await Shop(service, identifier: "merchant.com.example.other")
        _ = try await shop.issuedCertificate()
        let caller = try service.credential(.paymentService)
        try await service.call("POST", "/v1/decryptions", as: caller, .json(#"{"token":\#(try await shop.token()),"reference":"order 7"}"#))
        func list(_ who: String, _ query: String = "") async throws -> Answer { try await service.call("GET", "/v1/audit-entries?\(query)", as: who) }
        func actions(_ answer: Answer) -> [String] { answer.value("data")?.elements.compactMap { $0.member("action")?.string } ?? [] }
        let auditor = try service.credential(.auditor)
        let all = try await list(auditor, "limit=100")
        #expect(actions(all).contains("decryption") && actions(all).filter { $0 == "merchant.create" }.count == 2)
        let merchant = try service.credential(.merchant, merchants: [shop.merchantID])
        let own = try await list(merchant)
        #expect(actions(own).contains("decryption") && !own.text.contains(other.merchant))
        #expect(try await list(merchant, "merchant=\(other.merchant)").code == "merchant.unknown")
        #expect(!actions(try await list(shop.staff)).contains("decryption"))
        #expect(!(try await list(shop.staff)).text.contains(other.merchant))

        let opened = try await list(auditor, "action=decryption&outcome=success&registration=\(shop.registration)")
        #expect(actions(opened) == ["decryption"] && opened.value("data.0.reference")?.string == "order 7")
        #expect(!all.text.contains("4111") && !all.text.contains("cs_"))
        #expect(try await list(auditor, "from=2026-11-01T12:00:01Z").ids.isEmpty)
        #expect(try await list(auditor, "from=yesterday").code == "request.parameter_invalid")

        var seen: [String] = []
        var next: String? = "0"
        while let after = next {
            let page = try await list(auditor, "limit=3&after=\(after)")
            seen += page.ids
            next = page["next"]
        }
        #expect(seen == (try await list(auditor, "limit=100")).ids)
    }

    @Test func `the chain is verified, whole or in part`() async throws {
        let service = try TestService()
        _ = try await Shop(service)
        let auditor = try service.credential(.auditor)
        let whole = try await service.call("GET", "/v1/audit-entries/verify", as: auditor)
        #expect(whole.status == 200 && whole.value("intact")?.bool == true && whole.value("from")?.integer == 1)
        let count = try #require(whole.value("entry_count")?.integer)
        #expect(count >= 4 && whole.value("to")?.integer == count)
        let part = try await service.call("GET", "/v1/audit-entries/verify?from=2&to=3", as: auditor)
        #expect(part.value("entry_count")?.integer == 2)
        #expect(try await service.call("GET", "/v1/audit-entries/verify?from=900", as: auditor).value("entry_count")?.integer == 0)
        for query in ["from=3&to=2", "from=0", "from=x"] {
            #expect(try await service.call("GET", "/v1/audit-entries/verify?\(query)", as: auditor).code == "request.parameter_invalid")
        }
    }
}
