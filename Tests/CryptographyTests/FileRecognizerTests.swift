import Encodings
import Foundation
import Secrets
import TestSupport
import Testing

@testable import Cryptography

struct FileRecognizerTests {
    // MARK: Every file there is

    struct Shared: CustomTestStringConvertible, Sendable {
        let path: String
        let kind: String
        var testDescription: String { path }
    }

    /// What each file of the vectors is, said by its name and place.
    static let shared: [Shared] = {
        let others = Vectors.shared == nil ? Vectors.unavailable("files to recognise", cases: 100) : files("", "").filter { !$0.hasPrefix("minted") }
        return (files("minted", "") + others).compactMap { path in kind(path).map { Shared(path: path, kind: $0) } }
    }()

    private static func kind(_ path: String) -> String? {
        switch path {
        case "samcorcos/garbled-cert.pem": "unknown"
        case "minted/pki/pki.json": "json"
        case "wycheproof/rsa_oaep_2048_sha256_mgf1sha256_test.json": "private_key"  // it carries its keys
        case _ where path.hasSuffix(".p12"): "pkcs12"
        case _ where path.hasSuffix(".csr.pem"): "certificate_signing_request"
        case _ where path.hasSuffix("key.pem"): "private_key"
        case _ where path.hasSuffix(".pem") || path.hasSuffix(".cer"): "certificate"
        case "minted/tokens/ec-outer-deep.json", "minted/tokens/rsa-outer-deep.json": "json"  // deeper than anybody reads
        case _ where path.hasPrefix("minted/tokens/") && path.hasSuffix(".json") && !path.hasSuffix("expected.json"): "payment_token"
        case _ where path.hasSuffix(".token.json"): "payment_token"
        case _
        where path.hasSuffix(".plaintext.json") || path.hasSuffix("_test.json") || path.hasSuffix("expected.json") || path.hasSuffix(".intermediate.json"):
            "json"
        case _ where path.hasSuffix(".md") || path.hasSuffix(".txt"): "unknown"
        default: nil  // a folder
        }
    }

    @Test(arguments: shared)
    func `every shared file is what its name says`(_ file: Shared) throws {
        let bytes = try Vectors.bytes(file.path)
        let recognised = FileRecognizer.recognise(bytes)
        #expect(recognised.kind.name == file.kind)
        if case .certificate(let certificate) = recognised.kind { #expect(recognised.certificates.contains(certificate)) }
    }

    // MARK: One content, many dresses

    static let maker: OpenSSLCommand? = try? {
        let openSSL = try OpenSSLCommand()
        try openSSL.must("ecparam -genkey -name prime256v1 -out ec-with-parameters.pem")
        try openSSL.must("ec -in ec-with-parameters.pem -out ec.pem")
        try openSSL.must("ec -in ec.pem -outform DER -out ec.sec1")
        try openSSL.must("ec -in ec.pem -aes128 -passout pass:x -out ec-encrypted.pem")
        try openSSL.must("pkcs8 -topk8 -in ec.pem -nocrypt -out ec-pkcs8.pem")
        try openSSL.must("pkcs8 -topk8 -in ec.pem -nocrypt -outform DER -out ec.p8")
        try openSSL.must("pkcs8 -topk8 -in ec.pem -passout pass:x -out ec-pkcs8-encrypted.pem")
        try openSSL.must("pkcs8 -topk8 -in ec.pem -passout pass:x -outform DER -out ec-encrypted.p8")
        try openSSL.must("genrsa -traditional -out rsa.pem 2048")
        try openSSL.must("rsa -in rsa.pem -outform DER -traditional -out rsa.pkcs1")
        try openSSL.must("pkey -in ec.pem -pubout -out public.pem")
        try openSSL.must("pkey -in ec.pem -pubout -outform DER -out public.der")
        try openSSL.must("rsa -in rsa.pem -RSAPublicKey_out -out public-pkcs1.pem")
        try openSSL.must("req -x509 -new -key rsa.pem -subj /CN=ca -days 30 -out ca.crt")
        try openSSL.must("req -new -key ec.pem -subj /CN=leaf -out leaf.csr")
        try openSSL.must("req -in leaf.csr -outform DER -out leaf.csr.der")
        try openSSL.write("leaf.ext", Array("basicConstraints=critical,CA:FALSE\n".utf8))
        try openSSL.must("x509 -req -in leaf.csr -CA ca.crt -CAkey rsa.pem -CAcreateserial -extfile leaf.ext -days 30 -out leaf.crt")
        try openSSL.must("x509 -in leaf.crt -outform DER -out leaf.cer")
        try openSSL.must("x509 -in ca.crt -outform DER -out ca.cer")
        try openSSL.must("crl2pkcs7 -nocrl -certfile leaf.crt -certfile ca.crt -out chain.p7b")
        try openSSL.must("crl2pkcs7 -nocrl -certfile leaf.crt -certfile ca.crt -outform DER -out chain.p7c")
        try openSSL.must("pkcs12 -export -inkey ec.pem -in leaf.crt -passout pass:x -out leaf.p12")
        return openSSL
    }()

    private func read(_ name: String) throws -> [UInt8] {
        try #require(Self.maker, "the openssl command is needed").read(name)
    }

    @Test(
        arguments: [
            ("leaf.crt", "certificate"), ("leaf.cer", "certificate"), ("ca.cer", "certificate"), ("leaf.csr", "certificate_signing_request"),
            ("leaf.csr.der", "certificate_signing_request"), ("chain.p7b", "pkcs7"), ("chain.p7c", "pkcs7"), ("leaf.p12", "pkcs12"),
            ("ec.pem", "private_key"), ("public.pem", "public_key"), ("public.der", "public_key"), ("public-pkcs1.pem", "public_key"),
        ])
    func `one content in every dress is recognised`(name: String, kind: String) throws {
        let bytes = try read(name)
        let isText = bytes.starts(with: [0x2d])
        let text = isText ? String(decoding: bytes, as: UTF8.self) : Base64.encode(bytes)
        var dresses: [(String, [UInt8], [FileWrapper])] = [
            ("as it is", bytes, isText ? [.pem] : []),
            ("text", Array(text.utf8), isText ? [.pem] : [.base64]),
            ("base64", Array(Base64.encode(bytes).utf8), [.base64]),
            ("base64url", Array(Base64.encodeURL(bytes).utf8), [.base64]),
            ("base64 wrapped at 76", Array(wrapped(Base64.encode(bytes), 76, "\r\n").utf8), [.base64]),
            ("base64 wrapped at 64", Array(wrapped(Base64.encode(bytes), 64, "\n").utf8), [.base64]),
            ("base64 with blanks for line ends", Array(wrapped(Base64.encode(bytes), 64, " ").utf8), [.base64]),
            ("JSON string", Array("\"\(text.replacing("\n", with: "\\n"))\"".utf8), isText ? [.pem] : [.quotes]),
        ]
        dresses.append(("byte order mark", [0xef, 0xbb, 0xbf] + Array(text.utf8), [.byteOrderMark]))
        dresses.append(("UTF-16 little", [0xff, 0xfe] + utf16(text), [.utf16]))
        dresses.append(("UTF-16 big", [0xfe, 0xff] + utf16(text, big: true), [.utf16]))
        dresses.append(("UTF-16 without mark", utf16(text), [.utf16]))
        if isText {
            dresses.append(("CRLF", Array(text.replacing("\n", with: "\r\n").utf8), [.pem, .carriageReturns]))
            dresses.append(("blank lines and blanks", Array(text.replacing("\n", with: "  \n\n").utf8), [.pem]))
            dresses.append(("one line", Array(text.replacing("\n", with: " ").utf8), [.pem]))
            dresses.append(("preamble", Array(("Bag Attributes\n    localKeyID: 01\n" + text).utf8), [.pem, .surroundingText]))
            let all = "Bag Attributes\n    localKeyID: 01\n" + text + "trailing"
            let mangled = all.replacing("\n", with: " \r\n\r\n")
            dresses.append(("all at once", [0xff, 0xfe] + utf16(mangled), [.utf16, .pem, .carriageReturns, .surroundingText]))
        } else {
            dresses.append(("bytes behind", bytes + [0x0d, 0x0a], []))
        }
        for (dress, bytes, wrappers) in dresses {
            let recognised = FileRecognizer.recognise(bytes)
            #expect(recognised.kind.name == kind, "\(dress)")
            for wrapper in wrappers { #expect(recognised.wrappers.contains(wrapper), "\(dress): \(recognised.wrappers)") }
        }
    }

    private func utf16(_ text: String, big: Bool = false) -> [UInt8] {
        var bytes: [UInt8] = []
        for unit in text.utf16 {
            let (high, low) = (UInt8(unit >> 8), UInt8(truncatingIfNeeded: unit))
            bytes += big ? [high, low] : [low, high]
        }
        return bytes
    }

    private func wrapped(_ text: String, _ width: Int, _ end: String) -> String {
        stride(from: 0, to: text.utf8.count, by: width).map { String(text.dropFirst($0).prefix(width)) }.joined(separator: end)
    }

    // MARK: Private keys

    @Test(
        arguments: [
            ("ec.pem", .sec1, false), ("ec-with-parameters.pem", .sec1, false), ("ec.sec1", .sec1, false), ("ec-encrypted.pem", .sec1, true),
            ("ec-pkcs8.pem", .pkcs8, false), ("ec.p8", .pkcs8, false), ("ec-pkcs8-encrypted.pem", .pkcs8, true), ("ec-encrypted.p8", .pkcs8, true),
            ("rsa.pem", .pkcs1, false), ("rsa.pkcs1", .pkcs1, false),
        ] as [(String, PrivateKeyForm, Bool)])
    func `a bare private key is always seen`(name: String, form: PrivateKeyForm, isEncrypted: Bool) throws {
        let bytes = try read(name)
        guard case .privateKey(form, isEncrypted) = FileRecognizer.recognise(bytes).kind else {
            Issue.record("\(FileRecognizer.recognise(bytes).kind.name)")
            return
        }
        guard bytes.starts(with: [0x2d]) else { return }
        // Before a certificate, behind one, and inside JSON.
        let certificate = try read("leaf.crt")
        let json = "{\"key\": \"" + String(decoding: bytes, as: UTF8.self).replacing("\n", with: "\\n") + "\"}"
        for both in [bytes + certificate, certificate + bytes, Array(json.utf8)] {
            #expect(FileRecognizer.recognise(both).kind.name == "private_key")
        }
        #expect(FileRecognizer.recognise(certificate + bytes).certificates.count == 1)
    }

    @Test(
        arguments: [
            "-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----", "-----BEGIN PGP PRIVATE KEY BLOCK-----\nAAAA",
            "-----BEGIN PRIVATE KEY-----\nnot base64!\n-----END PRIVATE KEY-----", "PuTTY-User-Key-File-2: ecdsa-sha2-nistp256\nEncryption: none\n",
            #"{"kty":"EC","crv":"P-256","x":"AA","y":"AA","d":"AA"}"#, #"{"keys":[{"kty":"RSA","n":"AA","e":"AQAB","d":"AA"}]}"#,
        ])
    func `so are private keys in other clothes`(_ text: String) {
        #expect(FileRecognizer.recognise(Array(text.utf8)).kind.name == "private_key")
    }

    // MARK: Several certificates

    @Test func `of several certificates the leaf is taken, and all are listed`() throws {
        for name in ["chain.p7b", "chain.p7c"] {
            let recognised = FileRecognizer.recognise(try read(name))
            guard case .pkcs7(let certificates) = recognised.kind else {
                Issue.record("\(recognised.kind.name)")
                continue
            }
            #expect(certificates.count == 2 && recognised.certificates == certificates)
        }
        for both in [try read("ca.crt") + read("leaf.crt"), try read("leaf.crt") + read("ca.crt"), try read("ca.cer") + read("leaf.cer")] {
            let recognised = FileRecognizer.recognise(both)
            guard case .certificate(let leaf) = recognised.kind else {
                Issue.record("\(recognised.kind.name)")
                continue
            }
            #expect(leaf.subject.commonName == "leaf" && recognised.certificates.count == 2)
        }
        // Java and old OpenSSL write other labels around PKCS#7.
        let armour = PEM.encode(try read("chain.p7c"), label: "PKCS #7 SIGNED DATA")
        #expect(FileRecognizer.recognise(Array(armour.utf8)).kind.name == "pkcs7")
        #expect(FileRecognizer.recognise(Array(PEM.encode(try read("chain.p7c"), label: "CERTIFICATE").utf8)).kind.name == "pkcs7")
        #expect(FileRecognizer.recognise(Array(PEM.encode(try read("leaf.p12"), label: "PKCS12").utf8)).kind.name == "pkcs12")
        #expect(FileRecognizer.recognise(try PKCS12Builder.indefinite(try read("leaf.p12"))).kind.name == "pkcs12")
    }

    // MARK: What is none of these

    @Test(
        arguments: [
            ("", "empty"), (" \r\n\t", "empty"), ("\u{feff}", "empty"), ("<!DOCTYPE html><html></html>", "html"), ("  <?xml version=\"1.0\"?>", "html"),
            ("{}", "json"), ("[1, 2]", "json"), ("\"text\"", "unknown"), ("{\"a\": }", "unknown"), ("hello, world", "unknown"),
            (#"{"paymentData":{}}"#, "json"), (#"{"token":{"paymentData":{"data":"","signature":""}}}"#, "payment_token"),
            (#"{"version":"EC_v1","data":"","signature":"","header":{}}"#, "payment_token"),
            (#"{"wallet":{"payment_token":"{\"data\":\"x\",\"signature\":\"y\",\"header\":{\"publicKeyHash\":\"z\"}}"}}"#, "payment_token"),
            ("ssh-rsa AAAA me@host", "public_key"), ("-----BEGIN CERTIFICATE-----\nMIIB", "truncated"),
            ("-----BEGIN CERTIFICATE-----\nAQID\n-----END CERTIFICATE-----", "unknown"), ("merchant.com.example.shop", "unknown"),
        ])
    func `texts of other kinds`(text: String, kind: String) {
        #expect(FileRecognizer.recognise(Array(text.utf8)).kind.name == kind)
    }

    @Test func `binaries of other kinds`() throws {
        let p12 = try read("leaf.p12")
        let certificate = try read("leaf.cer")
        #expect(FileRecognizer.recognise([0xfe, 0xed, 0xfe, 0xed, 0, 0, 0, 2]).kind.name == "java_keystore")
        #expect(FileRecognizer.recognise([0xce, 0xce, 0xce, 0xce, 0, 0, 0, 2]).kind.name == "java_keystore")
        #expect(FileRecognizer.recognise([0x50, 0x4b, 3, 4, 0, 0]).kind.name == "archive")
        #expect(FileRecognizer.recognise([0x1f, 0x8b, 8]).kind.name == "archive")
        // Read as UTF-8, as Latin-1, as Windows-1252, and written as UTF-8.
        for file in [p12, certificate] {
            #expect(FileRecognizer.recognise(Array(String(decoding: file, as: UTF8.self).utf8)).kind.name == "damaged_as_text")
            let latin1 = String(String.UnicodeScalarView(file.map { Unicode.Scalar($0) }))
            #expect(FileRecognizer.recognise(Array(latin1.utf8)).kind.name == "damaged_as_text")
            let windows = String(String.UnicodeScalarView(file.map { $0 == 0x82 ? "\u{201a}" : Unicode.Scalar($0) }))
            #expect(FileRecognizer.recognise(Array(windows.utf8)).kind.name == "damaged_as_text")
        }
        // Cut off: a .p12 stays one, so that opening it can say what is wrong.
        #expect(FileRecognizer.recognise(Array(p12.prefix(100))).kind.name == "pkcs12")
        #expect(FileRecognizer.recognise(Array(certificate.prefix(100))).kind.name == "truncated")
        #expect(FileRecognizer.recognise(Array(Base64.encode(certificate.prefix(99)).utf8)).kind.name == "truncated")
    }

    // MARK: Any input

    @Test(arguments: ["leaf.crt", "leaf.cer", "chain.p7b", "chain.p7c", "leaf.p12", "ec.sec1", "ec.p8", "leaf.csr.der"])
    func `no cut and no changed byte traps`(name: String) throws {
        let bytes = try read(name)
        for length in bytes.indices { _ = FileRecognizer.recognise(Array(bytes.prefix(length))) }
        for index in bytes.indices {
            for value in [0, 0x30, 0x80, 0xff, bytes[index] ^ 1] {
                var changed = bytes
                changed[index] = value
                _ = FileRecognizer.recognise(changed)
            }
        }
    }

    @Test func `no random bytes and no deep nesting trap`() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<3000 {
            var bytes = (0..<Int.random(in: 0...80, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
            if Bool.random(using: &random) { bytes.insert(0x30, at: 0) }
            _ = FileRecognizer.recognise(bytes)
            _ = try? PKCS12.open(bytes, password: nil)
            _ = try? CertificationRequest(parsing: bytes)
        }
        for byte: UInt8 in [0x30, 0x24, 0xa0, 0x5b, 0x7b, 0x22, 0x3c, 0x2d, 0x00, 0xff] {
            _ = FileRecognizer.recognise([UInt8](repeating: byte, count: 100_000))
        }
        let nested = (0..<50_000).flatMap { _ in [0x30, 0x80] as [UInt8] }
        _ = FileRecognizer.recognise(nested)
        _ = try? PKCS12.open(nested, password: nil)
        // base64 of base64 of …: at most four layers.
        var text = Array("hello, world, hello".utf8)
        for _ in 0..<10 { text = Array(Base64.encode(text).utf8) }
        #expect(FileRecognizer.recognise(text).kind.name == "unknown")
    }
}
