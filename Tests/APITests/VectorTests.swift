import Accounts
import ApplePay
import Cryptography
import Encodings
import Foundation
import Operations
import Problems
import TestSupport
import Testing

@testable import API

/// Tokens, certificates and `.p12` files of the vectors, through the whole service.
@Suite struct VectorTests {
    // MARK: Tokens

    /// The minted tokens, judged at their reference time with their own root as an anchor of the sandbox.
    @Test func `every minted token ends as its list says`() async throws {
        let root = try Vectors.bytes("minted/pki/root.pem")
        let service = try TestService { settings in
            if let der = PEM.blocks(in: root).first?.bytes, let certificate = try? Certificate(der: der) {
                settings.sandboxAnchors = [TrustAnchor(certificate: certificate)]
            }
        }
        let shop = try await Shop(service, policies: #", "replay_policy": "observe""#)
        for name in ["ec-1", "ec-2", "ec-legacy-cn", "rsa-1"] {
            let place = "minted/pki/merchants/merchant.com.example.shop/\(name)"
            try await shop.importKey("\(place).key.pem", "\(place).cert.pem")
        }
        let caller = try service.credential(.paymentService)
        let cases = try JSONDocument(Vectors.bytes("minted/tokens/expected.json")).root.elements
        #expect(cases.count == 161)
        for entry in cases {
            let file = try #require(entry.member("file")?.string)
            let expected = entry.member("expect").map { $0.string.map { [$0] } ?? $0.elements.compactMap(\.string) } ?? []
            let token = String(decoding: try Vectors.bytes("minted/tokens/\(file)"), as: UTF8.self)
            let answer = try await service.call(
                "POST", "/v1/decryptions", as: caller, .json(#"{"token":\#(token),"merchant_identifier":"\#(shop.identifier)"}"#))
            #expect(expected.contains(answer.outcome), "\(file): \(answer.outcome), not \(expected)")
            if let hash = entry.member("plaintext_sha256")?.string, answer.status == 200 {
                let content = try #require(answer.value("payment_data")?.source)
                #expect(SHA256.digest(content).hex == hash, "\(file): payment_data byte for byte")
            }
        }
    }

    struct RealToken: Sendable, CustomTestStringConvertible {
        let name: String
        let identifier: String
        let version = "EC_v1"
        var testDescription: String { name }
    }

    static let realTokens: [RealToken] =
        Vectors.shared == nil
        ? Vectors.unavailable("real tokens", cases: 5)
        : [
            RealToken(name: "spreedly-gala/seatgeek-2014", identifier: "merchant.com.seatgeek.SeatGeek"),
            RealToken(name: "spreedly-gala/spreedly-2021", identifier: "merchant.test.spreedly.123merchant"),
            RealToken(name: "sepuka/iqoption-sandbox-2019", identifier: "merchant.com.trading.iqoption.test"),
            RealToken(name: "basis-theory/ec-old", identifier: "merchant.basistheory.sales"),
            RealToken(name: "basis-theory/ec-new", identifier: "merchant.basistheory.sales"),
        ]

    @Test(arguments: realTokens)
    func `a real token opens in the sandbox once age is off, byte for byte`(_ real: RealToken) async throws {
        let service = try TestService()
        let shop = try await Shop(service, identifier: real.identifier)
        try await shop.importKey("\(real.name).key.pem", "\(real.name).cert.pem")
        let caller = try service.credential(.paymentService)
        let token = String(decoding: try Vectors.bytes("\(real.name).token.json"), as: UTF8.self)
        let order = #"{"token":\#(token)}"#
        #expect(try await service.call("POST", "/v1/decryptions", as: caller, .json(order)).code == "signature.too_old")
        let path = "/v1/merchant-identifiers/\(real.identifier)"
        let changed = try await service.call("PATCH", path, as: shop.staff, .json(#"{"max_token_age_seconds":null}"#))
        #expect(changed.value("max_token_age_seconds")?.isNull == true)
        let opened = try await service.call("POST", "/v1/decryptions", as: caller, .json(order))
        #expect(opened.status == 200, "\(opened.text)")
        #expect(try opened.value("payment_data").map { Array($0.source) } == Vectors.bytes("\(real.name).plaintext.json"))
        #expect(opened["merchant_identifier"] == real.identifier && opened["version"] == real.version)
        let record = try await service.call("GET", "/v1/certificates/\(try #require(opened["certificate"]))", as: shop.staff)
        #expect(record["status"] == "active" && record.value("use_count")?.integer == 1)
        #expect(Set(record.texts("flags")) == ["expired", "unproven", "key_made_elsewhere"])
    }

    @Test func `production refuses to switch age off, and a real token of 2023 is too old there`() async throws {
        guard Vectors.shared != nil else { return }
        let service = try TestService()
        let shop = try await Shop(service, identifier: "merchant.basistheory.sales", environment: .production)
        try await shop.importKey("basis-theory/ec-new.key.pem", "basis-theory/ec-new.cert.pem")
        let path = "/v1/merchant-identifiers/\(shop.registration)"
        #expect(try await service.call("PATCH", path, as: shop.staff, .json(#"{"max_token_age_seconds":null}"#)).code == "request.value_out_of_range")
        let caller = try service.credential(.paymentService, environment: .production)
        let token = String(decoding: try Vectors.bytes("basis-theory/ec-new.token.json"), as: UTF8.self)
        let late = try await service.call("POST", "/v1/decryptions", as: caller, .json(#"{"token":\#(token)}"#))
        #expect(late.code == "signature.too_old")
        // At its own time it opens: signed 2023-09-13T13:49:38Z.
        service.now = try #require(Timestamp(rfc3339: "2023-09-13T13:50:00Z"))
        let then = try service.credential(.paymentService, environment: .production)
        #expect(try await service.call("POST", "/v1/decryptions", as: then, .json(#"{"token":\#(token)}"#)).status == 200)
    }

    /// One merchant across a rotation: both keys held, each token finds its own; with one key only the other's token is unknown.
    @Test func `the hash picks the key, whatever is newer`() async throws {
        guard Vectors.shared != nil else { return }
        let service = try TestService()
        let shop = try await Shop(service, identifier: "merchant.basistheory.sales", policies: #", "max_token_age_seconds": null"#)
        let caller = try service.credential(.paymentService)
        let orders = try ["ec-old", "ec-new"].map {
            #"{"token":\#(String(decoding: try Vectors.bytes("basis-theory/\($0).token.json"), as: UTF8.self)),"merchant_identifier":"\#(shop.registration)"}"#
        }
        let new = try await shop.importKey("basis-theory/ec-new.key.pem", "basis-theory/ec-new.cert.pem")
        let unknown = try await service.call("POST", "/v1/decryptions", as: caller, .json(orders[0]))
        #expect(unknown.code == "payment_token.key_unknown")
        #expect(unknown.value("context.held")?.elements.count == 1)
        let registration = try await service.call("GET", "/v1/merchant-identifiers/\(shop.registration)", as: shop.staff)
        #expect(registration.value("unknown_public_key_hashes")?.elements.count == 1)
        let old = try await shop.importKey("basis-theory/ec-old.key.pem", "basis-theory/ec-old.cert.pem")
        for (order, certificate) in [(orders[1], new), (orders[0], old), (orders[1], new)] {
            let opened = try await service.call("POST", "/v1/decryptions", as: caller, .json(order))
            #expect(opened.status == 200 && opened["certificate"] == certificate, "\(opened.text)")
        }
        // The later first use made `old` the active one; nothing moves back.
        #expect(try await service.call("GET", "/v1/certificates/\(new)", as: shop.staff)["status"] == "retiring")
        #expect(try await service.call("GET", "/v1/certificates/\(old)", as: shop.staff)["status"] == "active")
    }

    // MARK: Files

    @Test func `every odd certificate and .p12 ends as its list says`() async throws {
        let cases = try JSONDocument(Vectors.bytes("minted/pki/expected.json")).root.elements
        #expect(cases.count == 23)
        let place = "minted/pki/merchants/merchant.com.example.shop/ec-1"
        for entry in cases {
            let file = try #require(entry.member("file")?.string)
            let service = try TestService()
            let shop = try await Shop(service, identifier: try #require(entry.member("merchant_identifier")?.string))
            let isCertificate = file.hasSuffix(".cer")
            if isCertificate { try await shop.importKey("\(place).key.pem", "\(place).cert.pem") }
            let answer = try await shop.upload(try Vectors.bytes("minted/pki/\(file)"), password: entry.member("password")?.string)
            #expect(answer.outcome == entry.member("expect")?.string, "\(file): \(answer.text)")
            if let warning = entry.member("warning")?.string {
                let codes = answer.value("warnings")?.elements.compactMap { $0.member("code")?.string } ?? []
                #expect(codes.contains(warning), "\(file): \(answer.text)")
            }
            if answer.status < 300 { #expect(answer.status == (isCertificate ? 200 : 201), "\(file)") }
        }
    }

    /// A file of those that others published, and what uploading it to a sandbox registration of `identifier` must end in.
    struct PublishedFile: Sendable, CustomTestStringConvertible {
        let path: String
        var password: String?
        var identifier = "merchant.com.example.shop"
        let outcome: String

        init(_ path: String, password: String? = nil, identifier: String = "merchant.com.example.shop", _ outcome: String) {
            self.path = path
            self.password = password
            self.identifier = identifier
            self.outcome = outcome
        }

        var testDescription: String { path }
    }

    static let publishedFiles: [PublishedFile] = Vectors.shared == nil ? Vectors.unavailable("published files", cases: files.count) : files

    private static let redHat = "Red Hat Enterprise Linux 7.4"
    private static let files: [PublishedFile] = [
        // Certificates.
        PublishedFile("apple-ca/AppleRootCA-G3.cer", "certificate.not_apple_pay"), PublishedFile("apple-ca/AppleAAICAG3.cer", "certificate.not_apple_pay"),
        PublishedFile("apple-ca/AppleWWDRCAG2.cer", "certificate.not_apple_pay"),
        PublishedFile("apple-ca/AppleIncRootCertificate.cer", "certificate.not_apple_pay"),
        PublishedFile("apple-ca/AppleWWDRCA.cer", "certificate.not_apple_pay"), PublishedFile("apple-ca/AppleWWDRCAG3.cer", "certificate.not_apple_pay"),
        PublishedFile("apple-ca/AppleWWDRCAG6.cer", "certificate.not_apple_pay"),
        PublishedFile("rbkmoney/processing.cer", identifier: "merchant.money.rbk.checkout", "certificate.no_pending_request"),
        PublishedFile("rbkmoney/processing.cer", "certificate.merchant_identifier_mismatch"),
        PublishedFile("rbkmoney/identity.cer", identifier: "merchant.money.rbk.checkout", "certificate.wrong_kind"),
        PublishedFile("govuk-pay/secondary-cert.pem", identifier: "merchant.uk.gov.service.payments.test", "certificate.no_pending_request"),
        PublishedFile("govuk-pay/secondary-key.pem", "certificate.private_key_exposed"),
        PublishedFile("samcorcos/garbled-cert.pem", "certificate.not_a_certificate"),
        PublishedFile("samcorcos/garbled-key.pem", "certificate.private_key_exposed"),
        PublishedFile("apple-signed-other/apple-development.cer", "certificate.not_apple_pay"),
        PublishedFile("apple-signed-other/apple-distribution.cer", "certificate.not_apple_pay"),
        PublishedFile("spreedly-gala/seatgeek-2014.token.json", "certificate.not_a_certificate"),
        // PKCS#12.
        PublishedFile("rbkmoney/processing-keyonly.p12", password: "test", "pkcs12.no_certificate"),
        PublishedFile("rbkmoney/identity.p12", password: "test", "certificate.wrong_kind"),
        PublishedFile("pkcs12-keychain/keychain-export.p12", password: "password123", "certificate.not_apple_pay"),
        PublishedFile("pkcs12-keychain/keychain-export.p12", password: "wrong", "pkcs12.password_wrong"),
        PublishedFile("pkcs12-go/windows-azure-tools.p12", password: "", "certificate.not_apple_pay"),
        PublishedFile("pkcs12-go/testing-example-com.p12", password: "", "certificate.not_apple_pay"),
        PublishedFile("pkcs12-sslmate/pbes2-aes256-windows.p12", password: "password", "certificate.not_apple_pay"),
        PublishedFile("pkcs12-sslmate/pbes2-aes128cbc.p12", password: "rHyQTJsubhfxcpH5JttyilHE6BBsNoZp", "certificate.not_apple_pay"),
        PublishedFile("pkcs12-rfc9579/a1.p12", password: "1234", "certificate.not_apple_pay"),
        PublishedFile("pkcs12-rfc9579/a3.p12", password: "1234", "certificate.not_apple_pay"),
        PublishedFile("pkcs12-rfc9579/a4.p12", password: "1234", "pkcs12.damaged"),
        PublishedFile("pkcs12-rfc9579/a6.p12", password: "1234", "pkcs12.structure_unsupported"),
        PublishedFile("pkcs12-pyca/cert-key-aes256cbc.p12", password: "cryptography", "certificate.not_apple_pay"),
        PublishedFile("pkcs12-pyca/cert-rc2-key-3des.p12", password: "cryptography", "certificate.not_apple_pay"),
        PublishedFile("pkcs12-pyca/cert-none-key-none.p12", password: "cryptography", "certificate.not_apple_pay"),
        PublishedFile("pkcs12-pyca/name-unicode-pwd.p12", password: "password", "certificate.not_apple_pay"),
        PublishedFile("pkcs12-pyca/no-cert-key-aes256cbc.p12", password: "cryptography", "pkcs12.no_certificate"),
        PublishedFile("pkcs12-pyca/no-cert-no-name-pwd.p12", password: "password", "pkcs12.no_private_key"),
        PublishedFile("pkcs12-pyca/cert-aes256cbc-no-key.p12", password: "cryptography", "pkcs12.no_private_key"),
        PublishedFile("pkcs12-pyca/name-unicode-no-pwd.p12", password: "", "certificate.not_apple_pay"),
        PublishedFile("pkcs12-keyfile-corpus/ec-rc2-3des-sha1.p12", password: redHat, "certificate.not_apple_pay"),
        PublishedFile("pkcs12-keyfile-corpus/ec-aes128-sha1mac.p12", password: redHat, "certificate.not_apple_pay"),
        PublishedFile("pkcs12-keyfile-corpus/ec-plain-mac.p12", password: redHat, "certificate.not_apple_pay"),
        PublishedFile("pkcs12-keyfile-corpus/rsa-rc2-3des-emptypw.p12", password: "", "certificate.not_apple_pay"),
        PublishedFile("pkcs12-keyfile-corpus/rsa-rc2-3des-unicode-111.p12", password: "Łódź is in Poland", "certificate.not_apple_pay"),
        PublishedFile("pkcs12-keyfile-corpus/rsa-mac1.p12", password: redHat, "certificate.not_apple_pay"),
        PublishedFile("pkcs12-keyfile-corpus/rsa-key-million.p12", password: redHat, "certificate.not_apple_pay"),
        PublishedFile("pkcs12-keyfile-corpus/rsa-two-passwords.p12", password: redHat, "pkcs12.key_password_differs"),
        PublishedFile("pkcs12-keyfile-corpus/rsa-nomac.p12", password: redHat, "certificate.not_apple_pay"),
        PublishedFile("pkcs12-keyfile-corpus/rsa-scrypt.p12", password: redHat, "certificate.not_apple_pay"),
        PublishedFile("pkcs12-keyfile-corpus/rsa-nss-ber.p12", password: redHat, "certificate.not_apple_pay"),
        PublishedFile("pkcs12-keyfile-corpus/rsa-rc4-128.p12", password: redHat, "certificate.not_apple_pay"),
        PublishedFile("pkcs12-forge/p12keyonly.p12", "pkcs12.no_certificate"),
        PublishedFile("pkcs12-forge/p12enckeyonly.p12", password: "nopass", "pkcs12.no_certificate"),
        PublishedFile("pkcs12-forge/p12ecdsa.p12", password: "123321", "certificate.not_apple_pay"),
    ]

    @Test(arguments: publishedFiles)
    func `a published file ends in the code of the import order`(_ file: PublishedFile) async throws {
        let service = try TestService()
        let shop = try await Shop(service, identifier: file.identifier)
        let answer = try await shop.upload(try Vectors.bytes(file.path), password: file.password)
        #expect(answer.outcome == file.outcome, "\(file.path): \(answer.text)")
        #expect(try await service.call("GET", "/v1/certificates", as: shop.staff).ids.isEmpty)
    }
}
