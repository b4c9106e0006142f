import Encodings
import Problems
import TestSupport
import Testing

@testable import Cryptography

struct CertificateTests {
    /// All certificate files of the shared vectors but the one that says it is none.
    static let all =
        files("minted/pki", ".cer") + files("minted/pki", ".pem").filter { !$0.contains("key") && !$0.contains("csr") }
        + (Vectors.shared == nil
            ? Vectors.unavailable("certificates made by others", cases: 18)
            : (files("", ".cer") + files("", "cert.pem")).filter { !$0.hasPrefix("samcorcos") && !$0.hasPrefix("minted") })

    @Test(arguments: all) func `reads it as OpenSSL does`(_ path: String) throws {
        for der in try certificates(path) {
            let certificate = try Certificate(der: der)
            #expect(certificate.der == der)
            #expect(ChainVerifierTests.openSSLReads(der))
            let key = try #require(PKey(spki: certificate.spki))
            #expect(try key.spki() == certificate.spki)
            switch certificate.keyKind {
            case .p256: _ = try P256.PublicKey(spki: certificate.spki)
            case .rsa(let bits): #expect(bits == key.bits)
            case .otherEC(let curve): #expect(curve == .p384 && key.bits == 384)
            case .other: Issue.record("unknown key")
            }
        }
    }

    @Test(.enabled(if: Vectors.shared != nil, "NOT TESTED: 1 case, no shared vectors")) func `Apple's root`() throws {
        let root = try certificate("apple-ca/AppleRootCA-G3.cer")
        #expect(root.fingerprint.hex == "63343abfb89a6a03ebb57e9b3f5fa7be7c4f5c756f3017b3a8c488c3653e9179")
        #expect(root.serialHex == "2DC5FC88D2C54B95")
        #expect(root.subject.description == "CN=Apple Root CA - G3, OU=Apple Certification Authority, O=Apple Inc., C=US")
        #expect(root.subject == root.issuer && root.isCA && root.keyUsage == [.keyCertSign, .cRLSign] && root.extendedKeyUsage == nil)
        #expect(root.notBefore.rfc3339 == "2014-04-30T18:19:06Z" && root.notAfter.rfc3339 == "2039-04-30T18:19:06Z")
        #expect(root.keyKind == .otherEC(.p384) && root.signatureAlgorithm == .ecdsaWithSHA384)
    }

    @Test(.enabled(if: Vectors.shared != nil, "NOT TESTED: 1 case, no shared vectors")) func `a common name of more than 64 characters`() throws {
        let certificate = try certificate("govuk-pay/secondary-cert.pem")
        #expect(certificate.subject.userID == "merchant.uk.gov.service.payments.test")
        #expect((certificate.subject.commonName?.count ?? 0) == 66)
        #expect(certificate.keyUsage == [.keyAgreement] || certificate.keyUsage?.contains(.keyAgreement) == true)
        #expect(certificate.extensionValues("1.2.840.113635.100.6.32").map(\.count) == [66])
        #expect(certificate.keyKind == .p256 && !certificate.isCA)
    }

    @Test(.enabled(if: Vectors.shared != nil, "NOT TESTED: 1 case, no shared vectors")) func `an identity certificate`() throws {
        let certificate = try certificate("rbkmoney/identity.cer")
        #expect(certificate.keyKind == .rsa(bits: 2048))
        #expect(certificate.extendedKeyUsage?.contains(.clientAuthentication) == true)
        #expect(certificate.hasExtension("1.2.840.113635.100.6.46"))
    }

    @Test(.enabled(if: Vectors.shared != nil, "NOT TESTED: 1300 cases, no shared vectors")) func `cut, lengthened or in other bytes it is none`() throws {
        let der = try Vectors.bytes("rbkmoney/processing.cer")
        for count in stride(from: 0, to: der.count, by: 7) {
            #expect(throws: Problem.cryptography(.notACertificate)) { try Certificate(der: Array(der.prefix(count))) }
        }
        #expect(throws: Problem.cryptography(.notACertificate)) { try Certificate(der: der + [0]) }
        for other in ["samcorcos/garbled-cert.pem", "rbkmoney/identity.p12", "MANIFEST.md"] {
            #expect(throws: Problem.cryptography(.notACertificate)) { try Certificate(der: try Vectors.bytes(other)) }
        }
        if let garbled = PEM.blocks(in: try Vectors.bytes("samcorcos/garbled-cert.pem")).first?.bytes {
            #expect(throws: Problem.cryptography(.notACertificate)) { try Certificate(der: garbled) }
        }
        // Whatever one byte is changed to, reading ends; where ours takes it, OpenSSL does too.
        for index in der.indices {
            var changed = der
            changed[index] ^= 0x41
            if let certificate = try? Certificate(der: changed) { #expect(certificate.der == changed) }
        }
    }

    @Test func `algorithms inside and outside must be the same`() throws {
        let key = SigningKey.p256(try .generate())
        let name = DistinguishedName([.init(.commonName, "x")])
        let good = try CertificateBuilder(
            subject: name, issuer: name, spki: key.spki, notBefore: Timestamp(seconds: 0), notAfter: Timestamp(seconds: 1), extensions: []
        ).signed(by: key)
        var changed = good.der
        let position = good.toBeSigned.upperBound + 2 + 2 + 8 - 1  // last byte of the outer algorithm's identifier
        #expect(changed[position] == 2 || changed[position + 1] == 2)
        changed[changed[position] == 2 ? position : position + 1] = 3
        #expect(throws: Problem.cryptography(.notACertificate)) { try Certificate(der: changed) }
    }

    @Test func `an extension that decides, twice, makes it none; another shows both`() throws {
        let key = SigningKey.p256(try .generate())
        let name = DistinguishedName([.init(.commonName, "x")])
        func build(_ extensions: [Certificate.Extension]) throws -> Certificate {
            try CertificateBuilder(
                subject: name, issuer: name, spki: key.spki, notBefore: Timestamp(seconds: 0), notAfter: Timestamp(seconds: 1), extensions: extensions
            ).signed(by: key)
        }
        #expect(throws: Problem.cryptography(.notACertificate)) { try build([.basicConstraints(isCA: true), .basicConstraints(isCA: false)]) }
        let doubled = try build([.marker("1.2.3.4"), .marker("1.2.3.4")])
        #expect(doubled.extensionValues("1.2.3.4") == [[5, 0], [5, 0]])
        #expect(try build([]).extensions.isEmpty)
    }
}
