import Accounts
import ApplePay
import Cryptography
import Encodings
import HTTPServer
import Testing

@testable import API

@Suite struct CertificateResourceTests {
    @Test func `a request is an attachment: PEM, or DER for who asks`() async throws {
        let service = try TestService()
        let shop = try await Shop(service)
        let id = try await shop.newCertificate()
        let path = "/v1/certificates/\(id)/certificate-signing-request"
        let pem = try await service.call("GET", path, as: shop.staff, headers: [("Accept", "text/html,application/xhtml+xml,*/*;q=0.8")])
        #expect(pem.header("Content-Type") == "application/x-pem-file" && pem.header("X-Content-Type-Options") == "nosniff")
        #expect(pem.header("Content-Disposition") == "attachment; filename=\"merchant.com.example.shop.certSigningRequest\"")
        #expect(pem.text.hasPrefix("-----BEGIN CERTIFICATE REQUEST-----\n") && pem.text.hasSuffix("-----\n") && !pem.text.hasSuffix("\n\n"))
        let der = try await service.call("GET", path, as: shop.staff, headers: [("Accept", "application/pkcs10")])
        #expect(der.header("Content-Type") == "application/pkcs10" && der.response.body == PEM.blocks(in: pem.response.body).first?.bytes)
        let request = try CertificationRequest(der: der.response.body)
        #expect(request.subject.description == "UID=merchant.com.example.shop, CN=Apple Pay Payment Processing" && request.isSelfSigned())
        for accept in ["application/pkcs10;q=0", "application/x-pem-file, application/pkcs10;q=0.5"] {
            #expect(try await service.call("GET", path, as: shop.staff, headers: [("Accept", accept)]).header("Content-Type") == "application/x-pem-file")
        }
        // GET never makes anything.
        #expect(try await service.call("GET", path, as: shop.staff).text == pem.text)
        #expect(try await service.call("GET", "/v1/certificates", as: shop.staff).ids == [id])
    }

    @Test func `from request to destruction, and no step out of turn`() async throws {
        let service = try TestService()
        let shop = try await Shop(service)
        let staff = shop.staff
        func step(_ id: String, _ verb: String, _ body: String = "{}") async throws -> Answer {
            try await service.call("POST", "/v1/certificates/\(id)/\(verb)", as: staff, .json(body))
        }
        let first = try await shop.newCertificate()
        #expect(try await step(first, "activate").code == "certificate.state_conflict")
        _ = try await shop.upload(Array(try await shop.issue(first).utf8))
        #expect(try await step(first, "activate")["status"] == "active")
        #expect(try await step(first, "activate")["status"] == "active")
        #expect(try await service.call("POST", "/v1/certificates/\(first)/activate", as: staff)["status"] == "active")
        #expect(try await step(first, "cancel").code == "certificate.state_conflict")

        let second = try await shop.issuedCertificate(#""replaces":"\#(first)","display_name":"Next""#)
        let record = try await service.call("GET", "/v1/certificates/\(second)", as: staff)
        #expect(record["status"] == "staged" && record["replaces"] == first && record["display_name"] == "Next" && record.value("use_count")?.integer == 0)
        #expect(try await service.call("GET", "/v1/certificates/\(first)", as: staff)["replaced_by"] == second)
        #expect(try await step(second, "activate")["status"] == "active")
        #expect(try await service.call("GET", "/v1/certificates/\(first)", as: staff)["status"] == "retiring")
        #expect(try await step(first, "reinstate")["status"] == "active")
        #expect(try await step(second, "reinstate")["status"] == "active")

        #expect(try await step(first, "retire")["status"] == "retired")
        let hash = try #require(try await service.call("GET", "/v1/certificates/\(first)", as: staff)["public_key_hash"])
        #expect(try await step(first, "destroy").code == "request.member_missing")
        #expect(try await step(first, "destroy", #"{"public_key_hash":"AAAA"}"#).code == "certificate.public_key_hash_mismatch")
        #expect(try await step(second, "destroy", #"{"public_key_hash":"\#(hash)"}"#).code == "certificate.public_key_hash_mismatch")
        #expect(try await step(first, "destroy", #"{"public_key_hash":"\#(hash)"}"#)["status"] == "destroyed")
        #expect(try await step(first, "reinstate").code == "certificate.state_conflict")

        let flagged = try await step(second, "compromised", #"{"reason":"laptop lost"}"#)
        #expect(flagged["status"] == "active" && flagged.texts("flags").contains("compromised"))
        let active = try #require(flagged["public_key_hash"])
        #expect(try await step(second, "destroy", #"{"public_key_hash":"\#(active)"}"#)["status"] == "destroyed")

        let third = try await shop.newCertificate()
        #expect(try await step(third, "cancel")["status"] == "cancelled")
        #expect(try await step(third, "cancel", #"{"x":1}"#).code == "request.member_unknown")
    }

    @Test func `a key in recent use is neither retired nor destroyed`() async throws {
        let service = try TestService()
        let shop = try await Shop(service)
        let old = try await shop.issuedCertificate()
        let caller = try service.credential(.paymentService)
        #expect(try await service.call("POST", "/v1/decryptions", as: caller, .json(#"{"token":\#(try await shop.token())}"#)).status == 200)
        let new = try await shop.issuedCertificate()
        try await service.call("POST", "/v1/certificates/\(new)/activate", as: shop.staff)
        let path = "/v1/certificates/\(old)/retire"
        let early = try await service.call("POST", path, as: shop.staff)
        #expect(early.code == "certificate.in_recent_use" && early["context.possible_from"] == "2026-11-08T12:00:00Z")
        service.pass(seconds: 7 * 86_400)
        #expect(try await service.call("POST", path, as: shop.staff)["status"] == "retired")
    }

    @Test func `lists are narrowed`() async throws {
        let service = try TestService()
        let shop = try await Shop(service)
        let other = try await Shop(service, identifier: "merchant.com.example.other", staff: shop.staff, merchant: shop.merchant)
        let staged = try await shop.issuedCertificate()
        let rsa = try await shop.newCertificate(#""key_algorithm":"rsa_2048""#)
        let foreign = try await other.newCertificate()
        func list(_ query: String) async throws -> Answer { try await service.call("GET", "/v1/certificates?\(query)", as: shop.staff) }
        #expect(try await list("").ids == [staged, rsa, foreign])
        #expect(try await list("status=staged").ids == [staged])
        #expect(try await list("merchant_identifier=merchant.com.example.other").ids == [foreign])
        #expect(try await list("merchant_identifier=\(shop.registration)&status=awaiting_certificate").ids == [rsa])
        #expect(try await list("merchant_identifier=merchant.com.nobody").code == "merchant_identifier.unknown")
        #expect(try await list("expiring_within=30").ids.isEmpty)
        #expect(try await list("expiring_within=800").ids == [staged])
        #expect(try await list("limit=2").value("next")?.string == rsa)
        let record = try await service.call("GET", "/v1/certificates/\(rsa)", as: shop.staff)
        #expect(record["key_algorithm"] == "rsa_2048" && record.value("serial_number")?.isNull == true)
        let hash = try #require(record["public_key_hash"].flatMap { Digest256(text: $0) })
        for text in [hash.base64, hash.hex, Base64.encodeURL(hash.bytes), hash.base64.replacing("+", with: "%2B").replacing("=", with: "%3D")] {
            #expect(try await list("public_key_hash=\(text)").ids == [rsa])
        }
        for query in ["status=new", "expiring_within=-1", "public_key_hash=x", "after=mer_1", "limit=0"] {
            #expect(try await list(query).code == "request.parameter_invalid", "\(query)")
        }
    }

    @Test func `at most twenty requests stay open`() async throws {
        let shop = try await Shop(try TestService())
        for _ in 0..<20 { _ = try await shop.newCertificate() }
        let path = "/v1/merchant-identifiers/\(shop.registration)/certificates"
        #expect(try await shop.service.call("POST", path, as: shop.staff, .json("{}")).code == "certificate.too_many_pending")
    }

    @Test func `a key of the other environment is refused`() async throws {
        let service = try TestService()
        let production = try await Shop(service, identifier: "merchant.com.example.shop", environment: .production)
        let sandboxStaff = try service.credential(.operator)
        let sandbox = try await Shop(service, identifier: "merchant.com.example.shop", staff: sandboxStaff, merchant: production.merchant)
        let place = "minted/pki/merchants/merchant.com.example.shop/ec-1"
        try await sandbox.importKey("\(place).key.pem", "\(place).cert.pem")
        let file = try PKCS12File.make(key: "\(place).key.pem", certificate: "\(place).cert.pem")
        // Not from Apple comes first in the order of the checks.
        #expect(try await production.upload(file, password: PKCS12File.password).code == "certificate.not_from_apple")
        #expect(try await service.call("GET", "/v1/certificates", as: production.staff).ids.isEmpty)
    }
}
