import ApplePay
import Cryptography
import Encodings
import Problems
import Secrets
import Testing

@testable import Sandbox

struct SandboxAuthorityTests {
    private let authority = Fixture.authority
    private let now = Fixture.now

    private func issue(for key: PrivateKey) throws -> Certificate {
        let request = try CertificationRequest.make(for: key, merchantIdentifier: Fixture.merchant.text)
        return try authority.issue(forRequest: request, merchantIdentifier: Fixture.merchant, now: now)
    }

    @Test(arguments: KeyAlgorithm.allCases)
    func `an issued certificate is a payment processing certificate of its merchant and key`(_ algorithm: KeyAlgorithm) throws {
        let certificate = try issue(for: Fixture.key(algorithm))
        let read = try PaymentProcessingCertificate(certificate: certificate, for: Fixture.merchant)
        #expect(read.merchantIdentifier == Fixture.merchant)
        #expect(read.publicKeyHash == Fixture.key(algorithm).spkiHash)
        #expect(certificate.subject.attributes.map(\.oid) == [.userID, .commonName, .organizationalUnit, .organization, .country])
        #expect(certificate.subject.commonName == "Apple Pay Payment Processing:merchant.com.example.shop")
        #expect(certificate.notAfter.seconds(since: certificate.notBefore) == 760 * 86_400 - 1)
        #expect(certificate.extendedKeyUsage == nil)
        #expect(certificate.keyUsage == [.keyEncipherment, .keyAgreement])
        #expect(certificate.serialNumber.count == 8)
        let hash = try #require(certificate.extensionValues("1.2.840.113635.100.6.32").first)
        #expect(Array(hash) == [0x0c, 0x40] + Array(Fixture.merchant.hash.hex.uppercased().utf8))
    }

    @Test func `the sandbox knows the issuer, production refuses it`() throws {
        let certificate = try PaymentProcessingCertificate(certificate: issue(for: Fixture.ecKey))
        let sandbox = try IssuerRegister(issuers: [authority.issuerCertificate], anchors: [TrustAnchor(certificate: authority.rootCertificate)])
        #expect(sandbox.standing(of: certificate) == .trusted)
        let production = try IssuerRegister(issuers: [authority.issuerCertificate])
        #expect(production.standing(of: certificate) == .unknown)
    }

    @Test(arguments: KeyAlgorithm.allCases)
    func `openssl verifies an issued certificate up to the root`(_ algorithm: KeyAlgorithm) throws {
        let certificate = try issue(for: Fixture.key(algorithm))
        let at = String(now.milliseconds / 1000)
        let result = try openssl(
            ["verify", "-x509_strict", "-attime", at, "-CAfile", "root.pem", "-untrusted", "issuer.pem", "leaf.pem"],
            files: ["root.pem": pem(authority.rootCertificate), "issuer.pem": pem(authority.issuerCertificate), "leaf.pem": pem(certificate)])
        #expect(result.succeeded, "\(result.output)")
    }

    @Test(arguments: KeyAlgorithm.allCases)
    func `openssl verifies a token signer up to the root`(_ algorithm: KeyAlgorithm) throws {
        let signer = algorithm == .ecP256 ? authority.ecSigner : authority.rsaSigner
        let at = String(now.milliseconds / 1000)
        let result = try openssl(
            ["verify", "-x509_strict", "-attime", at, "-CAfile", "root.pem", "-untrusted", "issuer.pem", "leaf.pem"],
            files: ["root.pem": pem(authority.rootCertificate), "issuer.pem": pem(authority.integrationCertificate), "leaf.pem": pem(signer.certificate)])
        #expect(result.succeeded, "\(result.output)")
        #expect(signer.certificate.subject.commonName?.contains("SANDBOX") == true)
    }

    @Test func `no name of the authority could be taken for Apple's`() {
        for certificate in [authority.rootCertificate, authority.issuerCertificate, authority.integrationCertificate] {
            #expect(certificate.subject.commonName?.hasPrefix("Coster Sandbox") == true)
            #expect(certificate.subject.organizationalUnits == ["Coster sandbox, not Apple"])
        }
    }

    @Test func `an exported authority goes on as the same one`() throws {
        let again = try SandboxAuthority(authority.exported())
        #expect(again.rootCertificate == authority.rootCertificate)
        #expect(again.issuerCertificate == authority.issuerCertificate)
        #expect(try again.exported() == authority.exported())
        for algorithm in KeyAlgorithm.allCases {
            #expect(Fixture.code(try again.mint(Fixture.order(algorithm)), with: Fixture.key(algorithm)) == nil)
        }
    }

    @Test func `a damaged export is refused`() throws {
        let good = try authority.exported().copyExposed()
        var otherVersion = good
        // SEQUENCE with a length of two bytes, then INTEGER 1.
        otherVersion[6] = 2
        for damaged in [[], Array(good.dropLast()), good + [0], otherVersion] {
            #expect(throws: Problem(SandboxProblem.authorityUnreadable)) { try SandboxAuthority(SecretBytes(copying: damaged)) }
        }
    }

    @Test func `an export whose keys and certificates don't belong together is refused`() throws {
        // Two halves of two authorities: every part good, the first key another's.
        func parts(_ authority: SandboxAuthority) throws -> [[UInt8]] {
            let blob = try authority.exported().copyExposed()
            var outside = DERReader(blob)
            var list = try outside.enter(.sequence)
            var parts: [[UInt8]] = []
            while !list.isAtEnd {
                let element = try list.next()
                parts.append(Array(blob[element.whole]))
            }
            return parts
        }
        let (ours, others) = (try parts(authority), try parts(SandboxAuthority.generate(now: now)))
        func keyAndCertificate(_ part: [UInt8]) throws -> (key: [UInt8], certificate: [UInt8]) {
            var outside = DERReader(part)
            var pair = try outside.enter(.sequence)
            let (key, certificate) = (try pair.next(), try pair.next())
            return (Array(part[key.whole]), Array(part[certificate.whole]))
        }
        for index in 1...5 {
            let (mine, theirs) = (try keyAndCertificate(ours[index]), try keyAndCertificate(others[index]))
            var mixed = ours
            mixed[index] = DERWriter.sequence { $0.raw(theirs.key + mine.certificate) }
            let blob = DERWriter.sequence { $0.raw(mixed.joined()) }
            #expect(throws: Problem(SandboxProblem.authorityUnreadable)) { try SandboxAuthority(SecretBytes(copying: blob)) }
        }
        for count in [5, 7] {
            let blob = DERWriter.sequence { $0.raw((ours + ours.suffix(1)).prefix(count).joined()) }
            #expect(throws: Problem(SandboxProblem.authorityUnreadable)) { try SandboxAuthority(SecretBytes(copying: blob)) }
        }
    }

    @Test func `two authorities have different names and trust each other's tokens never`() throws {
        let other = try SandboxAuthority.generate(now: now)
        #expect(other.rootCertificate.subject != authority.rootCertificate.subject)
        #expect(Fixture.code(try other.mint(Fixture.order(.ecP256)), with: Fixture.ecKey) == "signature.untrusted_root")
    }

    @Test func `a request for a key Apple doesn't take is refused`() throws {
        let key = try PrivateKey.rsa(RSA.DecryptionKey.generate(bits: 3072))
        #expect(throws: Problem(SandboxProblem.requestKeyUnsupported)) { try issue(for: key) }
    }

    @Test func `a request that was changed is refused`() throws {
        var request = try CertificationRequest.make(for: Fixture.ecKey, merchantIdentifier: Fixture.merchant.text)
        request[request.count - 1] ^= 1
        #expect(throws: Problem(CertificationRequestProblem.signatureInvalid)) {
            try authority.issue(forRequest: request, merchantIdentifier: Fixture.merchant, now: now)
        }
    }
}
