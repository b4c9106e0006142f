import Accounts
import Encodings
import Testing

@testable import API

@Suite struct CredentialResourceTests {
    private func create(_ service: TestService, _ staff: String, _ members: String, key: String? = nil) async throws -> Answer {
        try await service.call("POST", "/v1/credentials", as: staff, .json("{\(members)}"), headers: key.map { [("Idempotency-Key", $0)] } ?? [])
    }

    @Test func `a secret is shown once`() async throws {
        let service = try TestService()
        let staff = try service.credential(.operator)
        let made = try await create(service, staff, #""role":"payment_service","name":"till""#, key: "k")
        let id = try #require(made["id"])
        #expect(made.status == 201 && made["credential"] == "\(made["api_key"] ?? "").\(made["api_secret"] ?? "")")
        #expect(made["environment"] == "sandbox" && made.value("merchants")?.isNull == true && made["expires_at"] == "2027-11-01T12:00:00Z")
        let again = try await create(service, staff, #""role":"payment_service","name":"till""#, key: "k")
        #expect(again.status == 200 && again["id"] == id && again["api_secret"] == nil && again["credential"] == nil)
        for answer in [try await service.call("GET", "/v1/credentials/\(id)", as: staff), try await service.call("GET", "/v1/credentials", as: staff)] {
            #expect(answer.status == 200 && !answer.text.contains("cs_"))
        }
    }

    @Test func `rotation overlaps, and 0 ends both former secrets`() async throws {
        let service = try TestService()
        let staff = try service.credential(.operator)
        let made = try await create(service, staff, #""role":"payment_service""#)
        let id = try #require(made["id"])
        func works(_ credential: String?) async throws -> Bool { try await service.call("GET", "/v1/problems", as: credential).status == 200 }
        func rotate(_ body: String, key: String? = nil) async throws -> Answer {
            try await service.call("POST", "/v1/credentials/\(id)/rotate", as: staff, .json(body), headers: key.map { [("Idempotency-Key", $0)] } ?? [])
        }
        let first = try #require(made["credential"])
        let rotated = try await rotate("{}", key: "r")
        let second = try #require(rotated["credential"])
        #expect(rotated.status == 201 && rotated["api_key"] == made["api_key"] && rotated["former_secret_ends_at"] == "2026-11-02T12:00:00Z")
        let repeated = try await rotate("{}", key: "r")
        #expect(repeated.status == 200 && repeated["credential"] == nil)
        for credential in [first, second] { #expect(try await works(credential)) }
        #expect(try await rotate(#"{"overlap_seconds":60}"#).code == "credential.rotation_pending")
        let third = try #require(try await rotate(#"{"overlap_seconds":0}"#)["credential"])
        for credential in [first, second] { #expect(try await !works(credential)) }
        #expect(try await works(third))
        let fourth = try #require(try await rotate(#"{"overlap_seconds":60}"#)["credential"])
        for credential in [third, fourth] { #expect(try await works(credential)) }
        service.pass(seconds: 60)
        #expect(try await !works(third))
        #expect(try await works(fourth))
        #expect(try await rotate(#"{"overlap_seconds":-1}"#).code == "request.value_out_of_range")
    }

    @Test func `revocation acts on the next request, expiry by itself`() async throws {
        let service = try TestService()
        let staff = try service.credential(.operator)
        let made = try await create(service, staff, #""role":"payment_service","expires_at":"2026-11-01T13:00:00+00:00""#)
        let credential = try #require(made["credential"])
        service.pass(seconds: 3599)
        #expect(try await service.call("GET", "/v1/problems", as: credential).status == 200)
        service.pass(seconds: 1)
        #expect(try await service.call("GET", "/v1/problems", as: credential).code == "credential.expired")
        let other = try await create(service, staff, #""role":"payment_service""#)
        let path = "/v1/credentials/\(try #require(other["id"]))"
        let revoked = try await service.call("DELETE", path, as: staff)
        #expect(revoked.status == 200 && revoked["revoked_at"] == "2026-11-01T13:00:00Z")
        #expect(try await service.call("GET", "/v1/problems", as: other["credential"]).code == "credential.revoked")
        #expect(try await service.call("DELETE", path, as: staff).text == revoked.text)
        #expect(try await create(service, staff, #""role":"payment_service","expires_at":"2026-11-01T13:00:00Z""#).code == "request.value_out_of_range")
        #expect(try await create(service, staff, #""role":"payment_service","expires_at":"tomorrow""#).code == "request.member_invalid")
    }

    @Test func `a pinned credential works only with its certificate`() async throws {
        let service = try TestService()
        let staff = try service.credential(.operator)
        let pin = try #require(Digest256([UInt8](repeating: 7, count: 32)))
        let other = try #require(Digest256([UInt8](repeating: 8, count: 32)))
        for text in [pin.hex, pin.base64] {
            let made = try await create(service, staff, #""role":"payment_service","client_certificate_spki_sha256":"\#(text)""#)
            #expect(made["client_certificate_spki_sha256"] == pin.hex)
            let credential = try #require(made["credential"])
            #expect(try await service.call("GET", "/v1/problems", as: credential).code == "credential.client_certificate_required")
            #expect(try await service.call("GET", "/v1/problems", as: credential, pin: other).code == "credential.client_certificate_required")
            #expect(try await service.call("GET", "/v1/problems", as: credential, pin: pin).status == 200)
        }
        #expect(try await create(service, staff, #""role":"payment_service","client_certificate_spki_sha256":"x""#).code == "request.member_invalid")
    }

    @Test func `an operator makes no staff, and nothing beyond its own`() async throws {
        let service = try TestService()
        let shop = try await Shop(service)
        for role in ["operator", "auditor"] { #expect(try await create(service, shop.staff, #""role":"\#(role)""#).code == "credential.role_not_allowed") }
        #expect(try await create(service, shop.staff, #""role":"root""#).code == "request.member_invalid")
        #expect(try await create(service, shop.staff, #""role":"merchant""#).code == "credential.merchants_invalid")
        #expect(try await create(service, shop.staff, #""role":"merchant","merchants":[]"#).code == "credential.merchants_invalid")
        #expect(try await create(service, shop.staff, #""role":"merchant","merchants":["nobody"]"#).code == "merchant.unknown")
        #expect(try await create(service, shop.staff, #""role":"payment_service","environment":"production""#).code == "credential.environment_mismatch")
        let limited = try service.credential(.operator, merchants: [shop.merchantID])
        #expect(try await create(service, limited, #""role":"payment_service""#).code == "credential.merchants_invalid")
        #expect(try await create(service, limited, #""role":"payment_service","merchants":["\#(shop.merchant)"]"#).status == 201)
        let other = try await Shop(service, identifier: "merchant.com.other", staff: shop.staff)
        #expect(try await create(service, limited, #""role":"payment_service","merchants":["\#(other.merchant)"]"#).code == "credential.merchants_invalid")
    }
}
