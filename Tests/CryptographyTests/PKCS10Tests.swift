import Encodings
import Foundation
import Problems
import TestSupport
import Testing

@testable import Cryptography

struct PKCS10Tests {
    enum Kind: String, CaseIterable { case ec, rsa }

    private func key(_ kind: Kind) throws -> PrivateKey {
        switch kind {
        case .ec: .p256(try P256.AgreementKey.generate())
        case .rsa: .rsa(try RSA.DecryptionKey.generate(bits: 2048))
        }
    }

    @Test(arguments: Kind.allCases)
    func `openssl verifies our requests and reads the names we gave`(_ kind: Kind) throws {
        let openSSL = try OpenSSLCommand()
        defer { openSSL.remove() }
        let key = try key(kind)
        let der = try CertificationRequest.make(for: key, merchantIdentifier: "merchant.com.example.shop")
        let request = try CertificationRequest(der: der)
        try openSSL.write("request.der", der)
        try openSSL.write("request.pem", Array(request.pem.utf8))
        for (file, form) in [("request.der", "DER"), ("request.pem", "PEM")] {
            let result = try openSSL.run("req -verify -noout -subject -text -inform \(form) -in \(file)")
            #expect(result.succeeded && result.output.contains("self-signature verify OK"), "\(result.output)")
            #expect(result.output.contains("subject=UID = merchant.com.example.shop, CN = Apple Pay Payment Processing"), "\(result.output)")
            #expect(result.output.contains(kind == .ec ? "ecdsa-with-SHA256" : "sha256WithRSAEncryption"))
            #expect(result.output.contains(kind == .ec ? "prime256v1" : "(2048 bit)"))
        }
        #expect(request.spki == key.spki && request.spkiHash == key.spkiHash && key.matches(spki: request.spki))
        #expect(request.subject.userID == "merchant.com.example.shop" && request.subject.commonName == "Apple Pay Payment Processing")
        #expect(request.isSelfSigned())
        #expect(request.pem.hasSuffix("-----END CERTIFICATE REQUEST-----\n"))
        #expect(try CertificationRequest(parsing: Array(request.pem.utf8)).der == der)
        #expect(try CertificationRequest(parsing: der).der == der)
    }

    @Test(
        arguments: [
            ("-newkey ec -pkeyopt ec_paramgen_curve:prime256v1", ""), ("-newkey ec -pkeyopt ec_paramgen_curve:secp384r1", "-sha384"),
            ("-newkey rsa:2048", "-sha512"), ("-newkey rsa:2048", "-sha256"),
        ])
    func `requests of the openssl command are read, and their signature is checked`(key: String, digest: String) throws {
        let openSSL = try OpenSSLCommand()
        defer { openSSL.remove() }
        try openSSL.must("req -new \(key) \(digest) -nodes -keyout key.pem -subj /CN=Somebody/O=Else -out request.pem")
        try openSSL.must("req -in request.pem -outform DER -out request.der")
        let request = try CertificationRequest(parsing: try openSSL.read("request.pem"))
        #expect(request.der == (try openSSL.read("request.der")))
        #expect(request.isSelfSigned())
        #expect(request.subject.commonName == "Somebody")
    }

    @Test(arguments: Kind.allCases)
    func `a request changed anywhere is unreadable or not signed`(_ kind: Kind) throws {
        let der = try CertificationRequest.make(for: try key(kind), merchantIdentifier: "merchant.com.example.shop")
        for index in der.indices {
            var changed = der
            changed[index] ^= 1 << UInt8(index % 8)
            guard let request = try? CertificationRequest(der: changed) else { continue }
            #expect(!request.isSelfSigned(), "byte \(index)")
            #expect(throws: Problem(CertificationRequestProblem.signatureInvalid)) { try request.requireProofOfPossession() }
        }
        for length in der.indices {
            #expect(throws: Problem(CertificationRequestProblem.malformed)) { try CertificationRequest(der: Array(der.prefix(length))) }
        }
        #expect(throws: Problem(CertificationRequestProblem.malformed)) { try CertificationRequest(der: der + [0]) }
        #expect(throws: Problem(CertificationRequestProblem.malformed)) { try CertificationRequest(parsing: []) }
    }

    @Test func `a signature named for the other kind of key does not count`() throws {
        let der = try CertificationRequest.make(for: try key(.ec), merchantIdentifier: "merchant.com.example.shop")
        let right = DERWriter.sequence { $0.objectIdentifier(.ecdsaWithSHA256) }
        let wrong = DERWriter.sequence { $0.objectIdentifier(.sha256WithRSA) }
        let place = try #require(der.indices.last { der[$0...].starts(with: right) })
        var outer = DERReader(der)
        let content = try outer.next(.sequence).content
        var writer = DERWriter()
        writer.primitive(.sequence, der[content.lowerBound..<place] + wrong + der[(place + right.count)...])
        #expect(try CertificationRequest(der: der).isSelfSigned())
        #expect(try !CertificationRequest(der: writer.bytes).isSelfSigned())
    }

    @Test(arguments: CertificationRequestProblem.allCases)
    func `every problem says what happened and what to do`(_ entry: CertificationRequestProblem) {
        #expect(entry.page.cause.hasSuffix(".") && entry.page.fix.hasSuffix("."))
    }
}
