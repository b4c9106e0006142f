import ApplePay
import Cryptography
import Encodings
import Foundation
import Problems
import Secrets
import Testing
import TestSupport

/// The certificates and keys of vector files.
enum TestFiles {
    static func certificate(_ path: String) throws -> Certificate {
        let bytes = try Vectors.bytes(path)
        return try Certificate(der: PEM.blocks(in: bytes).first { $0.label == "CERTIFICATE" }?.bytes ?? bytes)
    }

    static func privateKey(_ path: String) throws -> PrivateKey {
        let blocks = PEM.blocks(in: try Vectors.bytes(path))
        if let pkcs8 = blocks.first(where: { $0.label == "PRIVATE KEY" })?.bytes { return try PrivateKey(pkcs8: SecretBytes(copying: pkcs8)) }
        let sec1 = try #require(blocks.first { $0.label == "EC PRIVATE KEY" }?.bytes)
        let pkcs8 = DERWriter.sequence {
            $0.integer(0)
            $0.sequence {
                $0.objectIdentifier(.ecPublicKey)
                $0.objectIdentifier(.p256)
            }
            $0.octetString(sec1)
        }
        return try PrivateKey(pkcs8: SecretBytes(copying: pkcs8))
    }
}

/// One line of `minted/tokens/expected.json`.
struct MintedToken: Sendable, CustomTestStringConvertible {
    let file: String
    let merchantIdentifier: String
    let expect: [String]
    let referenceTime: Timestamp
    let plaintextHash: String?

    var testDescription: String { file }

    /// 161 tokens.
    static let all: [MintedToken] = {
        let list = (try? JSONDocument(Vectors.bytes("minted/tokens/expected.json")).root.elements) ?? []
        return list.compactMap { entry in
            guard let file = entry.member("file")?.string, let merchant = entry.member("merchant_identifier")?.string,
                let time = entry.member("reference_time")?.string.flatMap({ Timestamp(rfc3339: $0) }), let expect = entry.member("expect")
            else { return nil }
            return MintedToken(
                file: file, merchantIdentifier: merchant, expect: expect.string.map { [$0] } ?? expect.elements.compactMap(\.string),
                referenceTime: time, plaintextHash: entry.member("plaintext_sha256")?.string)
        }
    }()

    func bytes() throws -> [UInt8] { try Vectors.bytes("minted/tokens/\(file)") }

    static func key(_ name: String, of merchant: String) throws -> PrivateKey {
        try TestFiles.privateKey("minted/pki/merchants/\(merchant)/\(name).key.pem")
    }

    static func verifier() throws -> SignatureVerifier {
        try SignatureVerifier(anchors: [TrustAnchor(certificate: TestFiles.certificate("minted/pki/root.pem"))])
    }
}

/// A token that Apple made, published by others.
struct RealToken: Sendable, CustomTestStringConvertible {
    let name: String
    let merchantIdentifier: String
    let signedAt: String
    var hasKey = true
    var isSandbox = false

    var testDescription: String { name }

    static let all: [RealToken] = {
        let list = [
            RealToken(name: "spreedly-gala/seatgeek-2014", merchantIdentifier: "merchant.com.seatgeek.SeatGeek", signedAt: "2014-10-27T19:51:43Z"),
            RealToken(name: "spreedly-gala/spreedly-2021", merchantIdentifier: "merchant.test.spreedly.123merchant", signedAt: "2021-09-01T19:03:06Z"),
            RealToken(
                name: "sepuka/iqoption-sandbox-2019", merchantIdentifier: "merchant.com.trading.iqoption.test", signedAt: "2019-06-07T08:39:15Z",
                isSandbox: true),
            RealToken(name: "basis-theory/ec-old", merchantIdentifier: "merchant.basistheory.sales", signedAt: "2023-03-20T20:46:55Z"),
            RealToken(name: "basis-theory/ec-new", merchantIdentifier: "merchant.basistheory.sales", signedAt: "2023-09-13T13:49:38Z"),
            RealToken(
                name: "processout/ec-2017", merchantIdentifier: "merchant.com.processout.test", signedAt: "2017-02-01T18:45:06Z", hasKey: false),
            RealToken(
                name: "processout/rsa-2017", merchantIdentifier: "merchant.com.processout.test-rsa", signedAt: "2017-02-01T21:56:53Z", hasKey: false),
        ]
        return Vectors.shared == nil ? Vectors.unavailable("real tokens", cases: list.count) : list
    }()

    static let withKey = all.filter(\.hasKey)

    func token() throws -> PaymentToken { try PaymentToken(parsing: Vectors.bytes(name + ".token.json")) }
    func time() throws -> Timestamp { try #require(Timestamp(rfc3339: signedAt)) }
    func key() throws -> PrivateKey { try TestFiles.privateKey(name + ".key.pem") }

    static func verifier() throws -> SignatureVerifier { try SignatureVerifier(anchors: [AppleTrustAnchors.rootCAG3.anchor()]) }
}

/// The code of the problem that `body` throws; nil when it throws none.
func code(_ body: () throws -> Void) -> String? {
    do {
        try body()
        return nil
    } catch {
        return (error as? Problem)?.code ?? "\(error)"
    }
}
