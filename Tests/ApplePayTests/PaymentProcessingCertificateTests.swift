import ApplePay
import Cryptography
import Encodings
import Problems
import TestSupport
import Testing

@Suite struct PaymentProcessingCertificateTests {
    private static let merchantHash: OID = "1.2.840.113635.100.6.32"
    private static let merchantIdentity: OID = "1.2.840.113635.100.6.46"
    private static let identifier = "merchant.com.example.shop"

    /// A certificate as Apple makes it, with the parts a test wants otherwise.
    private struct Maker {
        var userIDs = [PaymentProcessingCertificateTests.identifier]
        var usage: Certificate.KeyUsage? = [.keyEncipherment, .keyAgreement]
        var extended: [OID]?
        var isCA = false
        var hashes: [Certificate.Extension]
        var more: [Certificate.Extension] = []
        var key: [UInt8]

        init() throws {
            key = try P256.AgreementKey.generate().publicKey.spki
            hashes = [Maker.hash(PaymentProcessingCertificateTests.hex)]
        }

        static func hash(_ text: String, _ tag: DERTag = .utf8String, critical: Bool = false) -> Certificate.Extension {
            .init(PaymentProcessingCertificateTests.merchantHash, critical: critical) { $0.primitive(tag, text.utf8) }
        }

        static func raw(_ value: [UInt8]) -> Certificate.Extension { .init(PaymentProcessingCertificateTests.merchantHash) { $0.raw(value) } }

        func certificate() throws -> Certificate {
            var extensions: [Certificate.Extension] = [.basicConstraints(isCA: isCA)]
            if let usage { extensions.append(.keyUsage(usage)) }
            if let extended { extensions.append(.extendedKeyUsage(extended)) }
            return try CertificateBuilder(
                subject: DistinguishedName(userIDs.map { .init(.userID, $0) } + [.init(.commonName, "Apple Pay Payment Processing:x"), .init(.country, "US")]),
                issuer: TestAuthority.name("Issuer"), spki: key, notBefore: TestAuthority.now, notAfter: TestAuthority.now.adding(seconds: 86_400),
                extensions: extensions + hashes + more
            ).signed(by: .p256(P256.SigningKey.generate()))
        }
    }

    private static let hex = ((try? MerchantIdentifier(identifier))?.hash.hex ?? "").uppercased()

    private func verdict(_ change: (inout Maker) throws -> Void = { _ in }) throws -> String {
        var maker = try Maker()
        try change(&maker)
        let certificate = try maker.certificate()
        return code { _ = try PaymentProcessingCertificate(certificate: certificate, for: MerchantIdentifier(Self.identifier)) } ?? "success"
    }

    // MARK: - Vectors

    struct OddCertificate: Sendable, CustomTestStringConvertible {
        let file: String
        let merchant: String
        let expect: String
        let time: Timestamp
        let warning: String?
        var testDescription: String { file }
    }

    private static let odd: [OddCertificate] = {
        let list = (try? JSONDocument(Vectors.bytes("minted/pki/expected.json")).root.elements) ?? []
        return list.compactMap { entry in
            guard let file = entry.member("file")?.string, file.hasSuffix(".cer"), let merchant = entry.member("merchant_identifier")?.string,
                let expect = entry.member("expect")?.string, let time = entry.member("reference_time")?.string.flatMap({ Timestamp(rfc3339: $0) })
            else { return nil }
            return OddCertificate(file: file, merchant: merchant, expect: expect, time: time, warning: entry.member("warning")?.string)
        }
    }()

    @Test(arguments: odd)
    func `reads or refuses each odd certificate as expected`(_ odd: OddCertificate) throws {
        let certificate = try TestFiles.certificate("minted/pki/\(odd.file)")
        var read: PaymentProcessingCertificate?
        let code = code { read = try PaymentProcessingCertificate(certificate: certificate, for: MerchantIdentifier(odd.merchant)) }
        #expect(code ?? "success" == odd.expect)
        if let read { #expect(read.warnings(at: odd.time).map(\.code) == (odd.warning.map { [$0] } ?? [])) }
    }

    @Test func `the list of odd certificates is whole`() {
        #expect(Self.odd.count == 12)
    }

    private static let real: [(String, String)] = {
        let list = [
            ("spreedly-gala/seatgeek-2014.cert.pem", "merchant.com.seatgeek.SeatGeek"),
            ("spreedly-gala/spreedly-2021.cert.pem", "merchant.test.spreedly.123merchant"),
            ("sepuka/iqoption-sandbox-2019.cert.pem", "merchant.com.trading.iqoption.test"), ("basis-theory/ec-old.cert.pem", "merchant.basistheory.sales"),
            ("basis-theory/ec-new.cert.pem", "merchant.basistheory.sales"), ("rbkmoney/processing.cer", "merchant.money.rbk.checkout"),
            ("govuk-pay/secondary-cert.pem", "merchant.uk.gov.service.payments.test"),
        ]
        return Vectors.shared == nil ? Vectors.unavailable("real processing certificates", cases: list.count) : list
    }()

    @Test(arguments: real)
    func `takes Apple's own`(_ path: String, _ identifier: String) throws {
        let certificate = try TestFiles.certificate(path)
        let named = try PaymentProcessingCertificate(certificate: certificate, for: MerchantIdentifier(identifier))
        #expect(named.merchantIdentifier.text == identifier)
        #expect(named.keyAlgorithm == .ecP256)
        #expect(named.publicKeyHash == certificate.spkiHash)
        #expect(named.warnings(at: TestAuthority.now).map(\.code) == ["expired"])
        #expect(try PaymentProcessingCertificate(certificate: certificate) == named)
        #expect(try IssuerRegister().standing(of: named) == .apple)
        let pem = path.replacing(".cert.pem", with: ".key.pem").replacing("-cert.pem", with: "-key.pem")
        if pem != path { #expect(try TestFiles.privateKey(pem).matches(spki: certificate.spki)) }
        #expect(throws: Problem.certificate(.merchantIdentifierMismatch)) {
            try PaymentProcessingCertificate(certificate: certificate, for: MerchantIdentifier(Self.identifier))
        }
    }

    private static let others: [(String, String)] = {
        let list = [
            ("rbkmoney/identity.cer", "certificate.wrong_kind"), ("apple-signed-other/apple-development.cer", "certificate.not_apple_pay"),
            ("apple-signed-other/apple-distribution.cer", "certificate.not_apple_pay"), ("apple-ca/AppleWWDRCAG2.cer", "certificate.not_apple_pay"),
            ("apple-ca/AppleRootCA-G3.cer", "certificate.not_apple_pay"),
            ("minted/pki/merchants/merchant.com.example.shop/identity.cer", "certificate.wrong_kind"),
        ]
        return Vectors.shared == nil ? Vectors.unavailable("certificates of other kinds", cases: list.count) : list
    }()

    @Test(arguments: others)
    func `knows other kinds by what they may be used for`(_ path: String, _ expected: String) throws {
        let certificate = try TestFiles.certificate(path)
        #expect(code { _ = try PaymentProcessingCertificate(certificate: certificate) } == expected)
    }

    @Test(arguments: ["ec-1", "ec-2", "ec-legacy-cn", "rsa-1"])
    func `takes the minted ones, RSA too`(_ name: String) throws {
        let certificate = try TestFiles.certificate("minted/pki/merchants/\(Self.identifier)/\(name).cer")
        let read = try PaymentProcessingCertificate(certificate: certificate, for: MerchantIdentifier(Self.identifier))
        #expect(read.keyAlgorithm == (name == "rsa-1" ? .rsa2048 : .ecP256))
        #expect(try IssuerRegister().standing(of: read) != .apple)
    }

    // MARK: - One oddity each

    @Test func `takes a certificate as Apple makes it`() throws {
        #expect(try verdict() == "success")
        #expect(try verdict { $0.key = try RSA.DecryptionKey.generate().spki } == "success")
    }

    @Test func `not_apple_pay: without the merchant's hash`() throws {
        #expect(try verdict { $0.hashes = [] } == "certificate.not_apple_pay")
    }

    @Test func `wrong_kind: identity certificates and other uses`() throws {
        let wrong = "certificate.wrong_kind"
        #expect(try verdict { $0.more = [.marker(Self.merchantIdentity)] } == wrong)
        #expect(try verdict { $0.extended = [.clientAuthentication] } == wrong)
        #expect(try verdict { $0.extended = [.serverAuthentication] } == wrong)
        #expect(try verdict { $0.usage = .digitalSignature } == wrong)
        #expect(try verdict { $0.usage = [.keyCertSign] } == wrong)
        #expect(try verdict { $0.usage = nil } == wrong)
        #expect(try verdict { $0.isCA = true } == wrong)
        #expect(try verdict { $0.usage = .keyAgreement } == "success")
        #expect(try verdict { $0.usage = [.keyEncipherment, .digitalSignature] } == "success")
    }

    @Test func `wrong_key_type: neither P-256 nor RSA 2048`() throws {
        #expect(try verdict { $0.key = try P384.SigningKey.generate().spki } == "certificate.wrong_key_type")
        #expect(try verdict { $0.key = try RSA.DecryptionKey.generate(bits: 3072).spki } == "certificate.wrong_key_type")
    }

    /// C58, C59.
    @Test func `merchant_extension: any string of 64 digits, once`() throws {
        let malformed = "certificate.merchant_extension_malformed"
        for tag in [DERTag.utf8String, .printableString, .ia5String, .octetString] {
            #expect(try verdict { $0.hashes = [Maker.hash(Self.hex, tag)] } == "success")
            #expect(try verdict { $0.hashes = [Maker.hash(Self.hex.lowercased(), tag, critical: true)] } == "success")
        }
        #expect(try verdict { $0.hashes = [Maker.raw([0x0c, 0x81, 0x40] + Self.hex.utf8)] } == "success")
        #expect(try verdict { $0.hashes = [Maker.hash(Self.hex), Maker.hash(Self.hex)] } == malformed)
        #expect(try verdict { $0.hashes = [Maker.raw(Hex.decode(Self.hex) ?? [])] } == malformed)
        #expect(try verdict { $0.hashes = [Maker.raw([0x04, 0x20] + (Hex.decode(Self.hex) ?? []))] } == malformed)
        #expect(try verdict { $0.hashes = [Maker.hash(String(Self.hex.dropLast()))] } == malformed)
        #expect(try verdict { $0.hashes = [Maker.hash(Self.hex + "0")] } == malformed)
        #expect(try verdict { $0.hashes = [Maker.hash(Self.hex.dropLast() + "G")] } == malformed)
        #expect(try verdict { $0.hashes = [Maker.hash(Self.hex, .bmpString)] } == malformed)
        #expect(try verdict { $0.hashes = [Maker.hash(Self.hex, .sequence)] } == malformed)
        #expect(try verdict { $0.hashes = [Maker.raw([0x0c, 0x40] + Self.hex.utf8 + [0])] } == malformed)
        #expect(try verdict { $0.hashes = [Maker.raw([])] } == malformed)
        #expect(try verdict { $0.hashes = [Maker.raw([0x0c])] } == malformed)
    }

    @Test func `merchant_identifier: request, subject and extension agree`() throws {
        let mismatch = "certificate.merchant_identifier_mismatch"
        let other = "merchant.com.example.other"
        let otherHex = try MerchantIdentifier(other).hash.hex
        #expect(try verdict { $0.userIDs = [other] } == mismatch)
        #expect(try verdict { $0.hashes = [Maker.hash(otherHex)] } == mismatch)
        #expect(
            try verdict {
                $0.userIDs = [other]
                $0.hashes = [Maker.hash(otherHex)]
            } == mismatch)
        #expect(try verdict { $0.userIDs = [] } == mismatch)
        #expect(try verdict { $0.userIDs = [Self.identifier, Self.identifier] } == mismatch)
        #expect(try verdict { $0.userIDs = ["ABCDE12345"] } == mismatch)
        #expect(try verdict { $0.userIDs = [Self.identifier.uppercased()] } == mismatch)
    }

    /// C03.
    @Test func `a mismatch shows both hashes, and tells a difference in case`() throws {
        let certificate = try Maker().certificate()
        let upper = try MerchantIdentifier("merchant.com.example.Shop")
        do throws(Problem) {
            _ = try PaymentProcessingCertificate(certificate: certificate, for: upper)
            Issue.record("accepted")
        } catch {
            #expect(error.title.contains("case"))
            let values = error.context.map(\.value)
            #expect(values.contains(.text(upper.hash.hex)) && values.contains(.text(Self.hex.lowercased())))
        }
    }

    @Test func `dates are warnings`() throws {
        let read = try PaymentProcessingCertificate(certificate: Maker().certificate())
        #expect(read.warnings(at: TestAuthority.now) == [])
        #expect(read.warnings(at: TestAuthority.now.adding(seconds: -1)).map(\.code) == ["not_yet_valid"])
        #expect(read.warnings(at: TestAuthority.now.adding(seconds: 86_400)) == [])
        #expect(read.warnings(at: TestAuthority.now.adding(seconds: 86_401)).map(\.code) == ["expired"])
    }
}
