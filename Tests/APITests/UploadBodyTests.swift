import Accounts
import Encodings
import TestSupport
import Testing

@testable import API

@Suite struct UploadBodyTests {
    private static let certificate = "minted/pki/merchants/merchant.com.example.shop/ec-1.cer"
    private static let container = "minted/pki/p12/aes256-sha256.p12"

    @Test func `the three forms of an upload come to the same`() async throws {
        let file = try Vectors.bytes(Self.container)
        let base64 = Base64.encode(file)
        var wrapped = ""
        for (index, character) in base64.enumerated() { wrapped += (index > 0 && index.isMultiple(of: 64) ? "\r\n" : "") + String(character) }
        let bodies: [TestService.Body] = [
            .form([("file", file), ("password", Array("test".utf8))]), .json(#"{"content":"\#(base64)","password":"test"}"#),
            .json(#"{"content":\#(quoted(wrapped)),"password":"test","key_password":null}"#), .form([("password", Array("test".utf8)), ("file", file)]),
        ]
        for body in bodies {
            let service = try TestService()
            let shop = try await Shop(service)
            let path = "/v1/merchant-identifiers/\(shop.registration)/certificates/upload"
            let answer = try await service.call("POST", path, as: shop.staff, body)
            #expect(answer.status == 201 && answer["status"] == "staged" && answer["source"] == "pkcs12", "\(answer.text)")
            #expect(try await service.call("POST", path, as: shop.staff, body).status == 200)
        }
    }

    @Test func `a raw body is the file, whatever its content type says`() async throws {
        let file = try Vectors.bytes(Self.certificate)
        let service = try TestService()
        let shop = try await Shop(service)
        try await shop.importKey(
            "minted/pki/merchants/merchant.com.example.shop/ec-1.key.pem", "minted/pki/merchants/merchant.com.example.shop/ec-1.cert.pem")
        let path = "/v1/merchant-identifiers/\(shop.registration)/certificates/upload"
        for type in [nil, "application/octet-stream", "application/pkix-cert", "application/x-www-form-urlencoded", "text/html", "odd"] {
            #expect(try await service.call("POST", path, as: shop.staff, .raw(file, type: type)).status == 200)
        }
        #expect(try await service.call("POST", path, as: shop.staff, .raw(file, type: "multipart/mixed; boundary=b")).status == 415)
        #expect(try await service.call("POST", path, as: shop.staff, .raw(Array(Base64.encode(file).utf8), type: "text/plain")).status == 200)
    }

    @Test(arguments: [
        (#"{}"#, "request.member_missing"), (#"{"content":"***"}"#, "request.member_invalid"), (#"{"content":1}"#, "request.member_invalid"),
        (#"{"content":"AAAA","passwort":"x"}"#, "request.member_unknown"), (#"{"content":"AAAA","password":7}"#, "request.member_invalid"),
        (#"{"content":"AAAA","content":"AAAA"}"#, "request.member_doubled"), (#"{"content":"AAAA"}"#, "certificate.not_a_certificate"),
    ])
    func `a wrong JSON body is named`(_ json: String, _ code: String) async throws {
        let shop = try await Shop(try TestService())
        let path = "/v1/merchant-identifiers/\(shop.registration)/certificates/upload"
        #expect(try await shop.service.call("POST", path, as: shop.staff, .json(json)).code == code)
    }

    @Test(arguments: [
        ([("password", "x")], "request.member_missing"), ([("file", "x"), ("file", "x")], "request.member_doubled"),
        ([("file", "x"), ("pasword", "x")], "request.member_unknown"), ([("file", "x"), ("password", "a"), ("password", "b")], "request.member_doubled"),
        ([("file", "")], "certificate.not_a_certificate"),
    ])
    func `a wrong form is named`(_ parts: [(String, String)], _ code: String) async throws {
        let shop = try await Shop(try TestService())
        let path = "/v1/merchant-identifiers/\(shop.registration)/certificates/upload"
        let body = TestService.Body.form(parts.map { (name: $0.0, content: Array($0.1.utf8)) })
        #expect(try await shop.service.call("POST", path, as: shop.staff, body).code == code)
    }

    /// Cases C116, `design.md` §10.
    @Test func `too large says the limit and the size`() async throws {
        let shop = try await Shop(try TestService())
        let path = "/v1/merchant-identifiers/\(shop.registration)/certificates/upload"
        func upload(_ count: Int) async throws -> Answer {
            try await shop.service.call("POST", path, as: shop.staff, .raw([UInt8](repeating: 7, count: count), type: nil))
        }
        let body = try await upload(1_572_865)
        #expect(body.status == 413 && body.value("context.limit")?.integer == 1_572_864 && body.value("context.size")?.integer == 1_572_865)
        let file = try await upload(70_000)
        #expect(file.status == 413 && file.value("context.limit")?.integer == 65_536 && file.value("context.size")?.integer == 70_000, "\(file.text)")
        #expect(try await upload(60_000).code == "certificate.not_a_certificate")
    }

    @Test func `the same file under the same key makes nothing twice, whatever the boundary`() async throws {
        let service = try TestService()
        let shop = try await Shop(service)
        let file = try Vectors.bytes(Self.container)
        let path = "/v1/merchant-identifiers/\(shop.registration)/certificates/upload"
        let headers = [("Idempotency-Key", "k")]
        let first = try await service.call("POST", path, as: shop.staff, .form([("file", file), ("password", Array("test".utf8))]), headers: headers)
        let second = try await service.call("POST", path, as: shop.staff, .json(#"{"content":"\#(Base64.encode(file))","password":"test"}"#), headers: headers)
        #expect(first.status == 201 && second.status == 200 && first["id"] == second["id"])
    }
}
