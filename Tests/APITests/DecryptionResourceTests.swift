import Accounts
import Encodings
import Foundation
import Testing

@testable import API

@Suite struct DecryptionResourceTests {
    /// A shop with an issued certificate, and a payment service for it.
    private func world(_ policies: String = "") async throws -> (TestService, Shop, caller: String) {
        let service = try TestService()
        let shop = try await Shop(service, policies: policies)
        _ = try await shop.issuedCertificate()
        return (service, shop, try service.credential(.paymentService, merchants: [shop.merchantID]))
    }

    private func decrypt(_ service: TestService, _ token: String, as caller: String, _ members: String = "", key: String? = nil) async throws -> Answer {
        try await service.call(
            "POST", "/v1/decryptions", as: caller, .json(#"{"token":\#(token)\#(members)}"#), headers: key.map { [("Idempotency-Key", $0)] } ?? [])
    }

    @Test func `answers as the contract shows`() async throws {
        let (service, shop, caller) = try await world()
        let token = try await shop.token(#", "amount": "12.50", "currency": "EUR", "application_data": "aGVsbG8=""#)
        let answer = try await decrypt(service, token, as: caller, #", "reference": "order 7""#)
        #expect(answer.status == 200 && answer["merchant_identifier"] == shop.identifier && answer["registration"] == shop.registration)
        #expect(answer["certificate_status"] == "active" && answer["version"] == "EC_v1" && answer.value("replayed")?.bool == false)
        #expect(answer["network_token.number"] == "4111111111111111" && answer["network_token.last4"] == "1111" && answer["network_token.bin"] == "411111")
        #expect(answer["network_token.eci"] == "07" && answer["network_token.eci_raw"] == "7" && answer["network_token.type"] == "dpan")
        #expect(answer["transaction.amount"] == "12.50" && answer["transaction.amount_minor"] == "1250" && answer["transaction.currency"] == "EUR")
        #expect(answer["application_data"] == "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824")
        #expect(answer["unsigned.network"] == "Visa" && answer["payment_data.applicationPrimaryAccountNumber"] == "4111111111111111")
        #expect(answer.json?.members.map(\.name).suffix(4) == ["transaction", "application_data", "unsigned", "payment_data"])

        let id = try #require(answer["id"])
        let record = try await service.call("GET", "/v1/decryptions/\(id)", as: caller)
        #expect(record["outcome"] == "success" && record["reference"] == "order 7" && record["certificate"] == answer["certificate"])
        #expect(record["merchant"] == shop.merchant && !record.text.contains("4111") && !record.text.contains("1250"))
        // Another payment service of the same merchant does not see it.
        let other = try service.credential(.paymentService, merchants: [shop.merchantID])
        #expect(try await service.call("GET", "/v1/decryptions/\(id)", as: other).code == "decryption.unknown")
        for bad in ["dec_1", "aud_\(id.dropFirst(4))", "dec_\(String(repeating: "0", count: 32))"] {
            #expect(try await service.call("GET", "/v1/decryptions/\(bad)", as: caller).code == "decryption.unknown")
        }
    }

    @Test func `what is absent stays absent`() async throws {
        let (service, shop, caller) = try await world()
        let odd = #"{ "transactionAmount": 1.5 , "new":[1.0,2e3], "applicationPrimaryAccountNumber":"4111111111111111" }"#
        let token = try await shop.token(#", "payload": \#(odd)"#)
        let data = try #require(try JSONDocument(Array(token.utf8)).root.member("paymentData"))
        let answer = try await decrypt(service, String(decoding: data.source, as: UTF8.self), as: caller)
        #expect(answer.status == 200)
        #expect(answer.value("payment_data").map { String(decoding: $0.source, as: UTF8.self) } == odd)
        #expect(answer.value("network_token")?.members.map(\.name) == ["number", "bin", "last4", "network", "type"])
        #expect(
            answer.value("transaction")?.members.isEmpty == true && answer.value("unsigned")?.members.isEmpty == true && answer.value("application_data") == nil
        )
        #expect(answer.value("warnings")?.elements.isEmpty == false)
    }

    @Test func `all dresses of a token are one token`() async throws {
        let (service, shop, caller) = try await world(#", "replay_policy": "observe""#)
        let token = try await shop.token()
        let base64 = Base64.encode(Array(token.utf8))
        let paymentData = try #require(try JSONDocument(Array(token.utf8)).root.member("paymentData"))
        let inner = String(decoding: paymentData.source, as: UTF8.self)
        let dresses = [
            token, inner, quoted(token), quoted(inner), quoted(base64), quoted(Base64.encodeURL(Array(token.utf8))), quoted(quoted(token)),
            #"{"payment_data":\#(inner)}"#, #"{"paymentData":\#(quoted(inner))}"#, #"{"paymentData":\#(quoted(token))}"#, #"{"apple_pay_token":\#(token)}"#,
            #"{"wallet":{"payment_token":\#(quoted(token))}}"#, token.replacing("{\"paymentData\"", with: "{\"x\":{\"y\":[1]},\"paymentData\""),
        ]
        for dress in dresses {
            let answer = try await decrypt(service, dress, as: caller)
            #expect(answer["network_token.last4"] == "1111", "\(dress.prefix(60)): \(answer.text.prefix(300))")
        }
        #expect(try await decrypt(service, quoted(quoted(quoted(token))), as: caller).code == "payment_token.encoding_unrecognised")
        let wrapped = try await decrypt(service, #"{"type":"applepay","token_data":\#(token)}"#, as: caller)
        #expect(wrapped.code == "payment_token.malformed" && wrapped.text.contains("token_data"))
    }

    @Test(arguments: [
        ("", "request.json_malformed"), ("{}", "request.member_missing"), (#"{"token":null}"#, "payment_token.malformed"),
        (#"{"token":7}"#, "payment_token.malformed"),
        (#"{"token":""}"#, "payment_token.malformed"), (#"{"token":{},"tokken":1}"#, "request.member_unknown"),
        (#"{"token":{},"token":{}}"#, "request.member_doubled"),
        (#"{"token":{"a":1,"a":1}}"#, "payment_token.malformed"), (#"{"token":{},"reference":"x","reference":"y"}"#, "request.member_doubled"),
        (#"{"token":{},"reference":7}"#, "request.member_invalid"), (#"{"token":{},"expected":{"amount":1}}"#, "request.member_invalid"),
        (#"{"token":{},"expected":{"amount":"1,00"}}"#, "request.member_invalid"), (#"{"token":{},"expected":{"sum":"1"}}"#, "request.member_unknown"),
        (#"{"token":{},"expected":{"application_data":"*"}}"#, "request.member_invalid"), (#"{"token":{},"expected":[]}"#, "request.member_invalid"),
        (#"{"token":{},"merchant_identifier":"merchant.com.nobody"}"#, "merchant_identifier.unknown"),
        (#"{"token":{},"merchant_identifier":"merchant.com.Example.shop"}"#, "merchant_identifier.case_differs"),
        (#"{"token":{"paymentData":"","transactionIdentifier":"Simulated Identifier"}}"#, "payment_token.simulator"),
    ])
    func `the first thing wrong gives the code`(_ body: String, _ code: String) async throws {
        let (service, _, caller) = try await world()
        let answer = try await service.call("POST", "/v1/decryptions", as: caller, .json(body.isEmpty ? " " : body))
        #expect(answer.code == code, "\(answer.text)")
    }

    @Test func `a reference has at most 128 characters, a body at most a mebibyte, JSON 32 levels`() async throws {
        let (service, _, caller) = try await world()
        #expect(try await decrypt(service, "{}", as: caller, #", "reference": "\#(String(repeating: "é", count: 128))""#).code == "payment_token.malformed")
        #expect(try await decrypt(service, "{}", as: caller, #", "reference": "\#(String(repeating: "é", count: 129))""#).code == "request.member_invalid")
        #expect(try await decrypt(service, "\"\(String(repeating: "x", count: 1_048_576))\"", as: caller).status == 413)
        let deep = String(repeating: "[", count: 40) + String(repeating: "]", count: 40)
        #expect(try await decrypt(service, deep, as: caller).code == "request.too_deep")
        #expect(try await decrypt(service, quoted(deep), as: caller).code == "request.too_deep")
    }

    @Test func `what is expected is compared inside`() async throws {
        let (service, shop, caller) = try await world(#", "replay_policy": "observe""#)
        let token = try await shop.token(#", "amount": "12.50", "currency": "EUR", "application_data": "aGVsbG8=""#)
        for good in [
            #"{"amount":"12.50"}"#, #"{"amount":"12.5","currency":"EUR"}"#, #"{"application_data":"aGVsbG8","payment_data_type":"3DSecure"}"#, "{}", "null",
        ] { #expect(try await decrypt(service, token, as: caller, #", "expected": \#(good)"#).status == 200, "\(good)") }
        for (bad, member) in [
            (#"{"amount":"12.51"}"#, "amount"), (#"{"currency":"USD"}"#, "currency"), (#"{"application_data":"aGVsbG9v"}"#, "application_data"),
            (#"{"payment_data_type":"EMV"}"#, "payment_data_type"),
        ] {
            let refused = try await decrypt(service, token, as: caller, #", "expected": \#(bad)"#)
            #expect(refused.code == "payment_token.expectation_failed" && refused.texts("context.members") == [member])
            #expect(!refused.text.contains("12.50") && !refused.text.contains("EUR"))
        }
    }

    @Test func `replays, by policy`() async throws {
        for (policy, same, other, retry) in [
            ("same_caller", "success", "payment_token.replayed", "success"), ("reject", "payment_token.replayed", "payment_token.replayed", "success"),
            ("observe", "success", "success", "success"),
        ] {
            let (service, shop, caller) = try await world(#", "replay_policy": "\#(policy)""#)
            let stranger = try service.credential(.paymentService, merchants: [shop.merchantID])
            let token = try await shop.token()
            let first = try await decrypt(service, token, as: caller, key: "k")
            #expect(first.status == 200 && first.value("replayed")?.bool == false)
            let again = try await decrypt(service, token, as: caller)
            #expect(again.outcome == same, "\(policy)")
            if same == "success" { #expect(again.value("replayed")?.bool == true && again["network_token.number"] == "4111111111111111") }
            if policy == "observe" { #expect(again.text.contains("\"code\":\"replayed\"")) }
            #expect(try await decrypt(service, token, as: stranger).outcome == other, "\(policy)")
            #expect(try await decrypt(service, token, as: caller, key: "k").outcome == retry, "\(policy)")
        }
    }

    @Test func `late, early and of the wrong time`() async throws {
        let (service, shop, caller) = try await world()
        for (defect, code) in [("signed_one_hour_ago", "signature.too_old"), ("signed_in_the_future", "signature.in_the_future")] {
            #expect(try await decrypt(service, try await shop.token(#", "defects": ["\#(defect)"]"#), as: caller).code == code)
        }
        let token = try await shop.token()
        service.pass(seconds: 300)
        #expect(try await decrypt(service, token, as: caller).status == 200)
        service.pass(seconds: 1)
        #expect(try await decrypt(service, token, as: caller).code == "signature.too_old")
    }

    @Test func `one key with two merchants is ambiguous to who may use both`() async throws {
        let service = try TestService()
        let first = try await Shop(service, identifier: "merchant.com.example.shop")
        let second = try await Shop(service, identifier: "merchant.com.example.shop", staff: first.staff)
        let place = "minted/pki/merchants/merchant.com.example.shop/ec-1"
        for shop in [first, second] { try await shop.importKey("\(place).key.pem", "\(place).cert.pem") }
        let both = try service.credential(.paymentService)
        let token = try await first.token()
        let unnamed = try await decrypt(service, token, as: both)
        #expect(unnamed.status == 409 && unnamed.code == "merchant_identifier.ambiguous")
        #expect(Set(unnamed.texts("context.registrations")) == [first.registration, second.registration])
        #expect(try await decrypt(service, token, as: both, #", "merchant_identifier": "\#(first.identifier)""#).code == "merchant_identifier.ambiguous")
        let named = try await decrypt(service, token, as: both, #", "merchant_identifier": "\#(second.registration)""#)
        #expect(named["registration"] == second.registration)
        let own = try service.credential(.paymentService, merchants: [first.merchantID])
        #expect(try await decrypt(service, token, as: own)["registration"] == first.registration)
    }
}
