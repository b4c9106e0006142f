import Accounts
import ApplePay
import Encodings
import Sandbox
import Testing

@testable import API

@Suite struct SandboxResourceTests {
    /// Every defect, alone, ends in the code its catalogue names; through minting, transport and opening.
    @Test(arguments: [("EC_v1", KeyAlgorithm.ecP256), ("RSA_v1", .rsa2048)])
    func `each defect ends in its code`(_ version: String, _ algorithm: KeyAlgorithm) async throws {
        let service = try TestService()
        let shop = try await Shop(service)
        _ = try await shop.issuedCertificate(#""key_algorithm":"\#(algorithm.rawValue)""#)
        let caller = try service.credential(.paymentService)
        for defect in Defect.allCases {
            let order = #"{"merchant_identifier":"\#(shop.identifier)","version":"\#(version)","defects":["\#(defect.rawValue)"]}"#
            let minted = try await service.call("POST", "/v1/sandbox/payment-tokens", as: caller, .json(order))
            guard defect.applies(to: algorithm) else {
                #expect(minted.code == "sandbox.defect_not_applicable")
                continue
            }
            let token = String(decoding: try #require(minted.value("token")).source, as: UTF8.self)
            let answer = try await service.call(
                "POST", "/v1/decryptions", as: caller, .json(#"{"token":\#(token),"merchant_identifier":"\#(shop.identifier)"}"#))
            #expect(answer.outcome == defect.expectedCode ?? "success", "\(version) \(defect.rawValue): \(answer.text.prefix(300))")
        }
    }

    @Test func `mints every shape`() async throws {
        let service = try TestService()
        let shop = try await Shop(service)
        _ = try await shop.issuedCertificate()
        let caller = try service.credential(.paymentService)
        for preset in TestPayload.Preset.allCases {
            let token = try await shop.token(#", "payload": "\#(preset.rawValue)""#)
            let answer = try await service.call("POST", "/v1/decryptions", as: caller, .json(#"{"token":\#(token)}"#))
            #expect(answer.status == 200 && answer["transaction.amount"] == "19.99", "\(preset.rawValue)")
        }
    }

    @Test(arguments: [
        (#"{"defects":[]}"#, "request.member_missing"), (#"{"merchant_identifier":"merchant.com.nobody"}"#, "merchant_identifier.unknown"),
        (#"{"merchant_identifier":"IDENTIFIER","defects":["rust"]}"#, "request.member_invalid"),
        (#"{"merchant_identifier":"IDENTIFIER","payload":"4ds"}"#, "request.member_invalid"),
        (#"{"merchant_identifier":"IDENTIFIER","payload":[]}"#, "request.member_invalid"),
        (#"{"merchant_identifier":"IDENTIFIER","amount":"1.234"}"#, "request.member_invalid"),
        (#"{"merchant_identifier":"IDENTIFIER","amount":"-1"}"#, "request.member_invalid"),
        (#"{"merchant_identifier":"IDENTIFIER","currency":"XYZ"}"#, "request.member_invalid"),
        (#"{"merchant_identifier":"IDENTIFIER","version":"EC_v2"}"#, "request.member_invalid"),
        (#"{"merchant_identifier":"IDENTIFIER","version":"RSA_v1"}"#, "certificate.none_to_mint_for"),
        (#"{"merchant_identifier":"IDENTIFIER","certificate":"cert_1"}"#, "certificate.unknown"),
    ])
    func `a wrong order is named`(_ order: String, _ code: String) async throws {
        let service = try TestService()
        let shop = try await Shop(service)
        _ = try await shop.issuedCertificate()
        let answer = try await service.call(
            "POST", "/v1/sandbox/payment-tokens", as: shop.staff, .json(order.replacing("IDENTIFIER", with: shop.identifier)))
        #expect(answer.code == code, "\(answer.text)")
    }

    @Test func `is closed to production`() async throws {
        let service = try TestService()
        let shop = try await Shop(service, environment: .production)
        let id = try await shop.newCertificate()
        let request = quoted(try await shop.request(id))
        let certificate = try await service.call(
            "POST", "/v1/sandbox/certificates", as: shop.staff, .json(#"{"certificate_signing_request":\#(request),"identifier":"\#(shop.identifier)"}"#))
        #expect(certificate.status == 403 && certificate.code == "credential.environment_mismatch")
        let token = try await service.call(
            "POST", "/v1/sandbox/payment-tokens", as: shop.staff, .json(#"{"merchant_identifier":"\#(shop.identifier)"}"#))
        #expect(token.status == 403 && token.code == "credential.environment_mismatch")
        // And what the sandbox issued is not Apple's there.
        let sandbox = try await Shop(service, identifier: shop.identifier)
        let issued = try await sandbox.issue(try await sandbox.newCertificate())
        #expect(try await shop.upload(Array(issued.utf8)).code == "certificate.not_from_apple")
    }

    @Test func `a request that is none is named`() async throws {
        let service = try TestService()
        let shop = try await Shop(service)
        for text in ["", "hello", "-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n"] {
            let answer = try await service.call(
                "POST", "/v1/sandbox/certificates", as: shop.staff,
                .json(#"{"certificate_signing_request":\#(quoted(text)),"identifier":"\#(shop.identifier)"}"#))
            #expect(answer.code == "certificate.request_malformed")
        }
    }
}
