import Accounts
import Encodings
import Testing

@testable import API

@Suite struct MerchantIdentifierResourceTests {
    @Test func `registers, trims and says so`() async throws {
        let service = try TestService()
        let shop = try await Shop(service)
        let made = try await service.call(
            "POST", "/v1/merchant-identifiers", as: shop.staff, .json(#"{"identifier":" merchant.com.example.two\t","merchant":"\#(shop.merchant)"}"#))
        #expect(made.status == 201 && made["identifier"] == "merchant.com.example.two" && made["environment"] == "sandbox")
        #expect(made.value("warnings.0.code")?.string == "identifier_trimmed")
        #expect(made["replay_policy"] == "same_caller" && made.value("max_token_age_seconds")?.integer == 300 && made.texts("flags") == ["unproven"])
        let again = try await service.call(
            "POST", "/v1/merchant-identifiers", as: shop.staff, .json(#"{"identifier":"merchant.com.example.two","merchant":"\#(shop.merchant)"}"#))
        #expect(again.code == "merchant_identifier.already_registered" && again["context.registration"] == made["id"])
        for identifier in ["com.example", "merchant.", "merchant.a\u{200b}b", ""] {
            let refused = try await service.call(
                "POST", "/v1/merchant-identifiers", as: shop.staff, .json(#"{"identifier":\#(quoted(identifier)),"merchant":"\#(shop.merchant)"}"#))
            #expect(refused.code == "merchant_identifier.malformed")
        }
        let elsewhere = try await service.call(
            "POST", "/v1/merchant-identifiers", as: shop.staff,
            .json(#"{"identifier":"merchant.com.x","merchant":"\#(shop.merchant)","environment":"production"}"#))
        #expect(elsewhere.status == 403 && elsewhere.code == "credential.environment_mismatch")
        for merchant in ["mer_\(String(repeating: "0", count: 32))", "nobody"] {
            let unknown = try await service.call(
                "POST", "/v1/merchant-identifiers", as: shop.staff, .json(#"{"identifier":"merchant.com.x","merchant":"\#(merchant)"}"#))
            #expect(unknown.code == "merchant.unknown")
        }
    }

    @Test func `the identifier's case counts, and the slip is named`() async throws {
        let service = try TestService()
        let shop = try await Shop(service, identifier: "merchant.com.Example.shop")
        let slip = try await service.call("GET", "/v1/merchant-identifiers/merchant.com.example.shop", as: shop.staff)
        #expect(slip.status == 404 && slip.code == "merchant_identifier.case_differs")
        let both = try await Shop(service, identifier: "merchant.com.example.shop", staff: shop.staff, merchant: shop.merchant)
        #expect(try await service.call("GET", "/v1/merchant-identifiers/merchant.com.example.shop", as: shop.staff)["id"] == both.registration)
        #expect(try await service.call("GET", "/v1/merchant-identifiers/merchant.com.Example.shop", as: shop.staff)["id"] == shop.registration)
    }

    @Test func `two merchants may hold one identifier: the literal is ambiguous to those who see both`() async throws {
        let service = try TestService()
        let first = try await Shop(service)
        let second = try await Shop(service, staff: first.staff)
        let answer = try await service.call("GET", "/v1/merchant-identifiers/\(first.identifier)", as: first.staff)
        #expect(answer.status == 409 && answer.code == "merchant_identifier.ambiguous")
        #expect(Set(answer.texts("context.registrations")) == [first.registration, second.registration])
        for shop in [first, second] {
            let own = try service.credential(.merchant, merchants: [shop.merchantID])
            #expect(try await service.call("GET", "/v1/merchant-identifiers/\(first.identifier)", as: own)["id"] == shop.registration)
            #expect(try await service.call("GET", "/v1/merchant-identifiers/\(shop.registration)", as: first.staff)["id"] == shop.registration)
        }
    }

    @Test func `policies are for operators, names for merchants too`() async throws {
        let service = try TestService()
        let shop = try await Shop(service)
        let merchant = try service.credential(.merchant, merchants: [shop.merchantID])
        let path = "/v1/merchant-identifiers/\(shop.identifier)"
        #expect(try await service.call("PATCH", path, as: merchant, .json(#"{"display_name":"Shop"}"#))["display_name"] == "Shop")
        for body in [#"{"replay_policy":"observe"}"#, #"{"max_token_age_seconds":60}"#, #"{"max_token_age_seconds":null}"#] {
            #expect(try await service.call("PATCH", path, as: merchant, .json(body)).code == "credential.permission_missing")
            #expect(try await service.call("PATCH", path, as: shop.staff, .json(body)).status == 200)
        }
        for body in [#"{"max_token_age_seconds":0}"#, #"{"max_token_age_seconds":86401}"#, #"{"replay_policy":"never"}"#] {
            #expect(try await service.call("PATCH", path, as: shop.staff, .json(body)).code == "request.member_invalid")
        }
        #expect(try await service.call("PATCH", path, as: shop.staff, .json(#"{"identifier":"merchant.x"}"#)).code == "request.member_unknown")
        let list = try await service.call("GET", "/v1/merchant-identifiers?merchant=\(shop.merchant)", as: merchant)
        #expect(list.ids == [shop.registration])
    }
}
