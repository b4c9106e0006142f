import Encodings
import Problems
import TestSupport
import Testing

@testable import Cryptography

struct ChainVerifierTests {
    static func openSSLReads(_ der: [UInt8]) -> Bool {
        if let pointer = X509Pointer(der) { return unsafe X509Pointer.der(pointer.raw) == der }
        return false
    }

    /// Apple Root CA - G3 as `apple-pay-format.md` §12 gives it: name, key, key identifier, dates.
    static func appleRoot() throws -> TrustAnchor {
        try TrustAnchor(
            subject: DistinguishedName([
                .init(.commonName, "Apple Root CA - G3"), .init(.organizationalUnit, "Apple Certification Authority"),
                .init(.organization, "Apple Inc."), .init(.country, "US"),
            ]),
            spki: hex(
                """
                3076301006072a8648ce3d020106052b810400220362000498e92f3d4072a4ed93227281131cdd1095f1c5a34e71dc1416d90ee5a6052a77\
                647b5f4e38d3bb1c44b57ff51fb632625dc9e9845b4f304f115a00fd58580ca5f50f2c4d07471375da9797976f315ced2b9d7b203bd8b954d95e99a43a510a31
                """),
            subjectKeyIdentifier: hex("bbb0dea15833889aa48a99debebdebafdacb24ab"),
            notBefore: #require(Timestamp(rfc3339: "2014-04-30T18:19:06Z")), notAfter: #require(Timestamp(rfc3339: "2039-04-30T18:19:06Z")))
    }

    private func time(_ text: String) throws -> Timestamp { try #require(Timestamp(rfc3339: text)) }

    @Test(.enabled(if: Vectors.shared != nil, "NOT TESTED: 1 case, no shared vectors")) func `an anchor from constants is the real one, but for the signature`()
        throws
    {
        let real = try certificate("apple-ca/AppleRootCA-G3.cer")
        let built = try ChainVerifierTests.appleRoot().certificate
        #expect(built.subject.encoded == real.subject.encoded && built.spki == real.spki)
        #expect(built.notBefore == real.notBefore && built.notAfter == real.notAfter)
        #expect(built.extensionValues(.subjectKeyIdentifier) == real.extensionValues(.subjectKeyIdentifier))
        #expect(built.extensionValues(.keyUsage) == real.extensionValues(.keyUsage))
        #expect(built.isCA && ChainVerifierTests.openSSLReads(built.der))
    }

    @Test(.enabled(if: Vectors.shared != nil, "NOT TESTED: 16 cases, no shared vectors")) func `real chains, under the built anchor and the real one`() throws {
        let real = TrustAnchor(certificate: try certificate("apple-ca/AppleRootCA-G3.cer"))
        for anchor in [try ChainVerifierTests.appleRoot(), real] {
            let verifier = try ChainVerifier(anchors: [anchor])
            for name in realTokens {
                let cms = try CMSSignedData(parsing: #require(SignedToken(name + ".token.json")).cms)
                let chain = try cms.certificates.map { try Certificate(der: Array(cms.bytes[$0])) }
                guard case .one(let signed) = cms.signingTime else { throw Problem.cryptography(.notACertificate) }
                #expect(verifier.verify(leaf: chain[0], intermediates: [chain[1]], at: signed) == .trusted(anchor: 0))
                #expect(verifier.verify(leaf: chain[0], intermediates: [chain[1]], at: try time("2026-11-01T12:00:00Z")) == .expired)
                #expect(verifier.verify(leaf: chain[0], intermediates: [chain[1]], at: try time("2014-05-01T00:00:00Z")) == .notYetValid)
                #expect(verifier.verify(leaf: chain[0], intermediates: [], at: signed) == .untrustedRoot)
                #expect(verifier.isSigned(chain[0], by: chain[1].spki) && verifier.isSigned(chain[1], by: anchor.certificate.spki))
                #expect(!verifier.isSigned(chain[0], by: anchor.certificate.spki) && !verifier.isSigned(chain[1], by: chain[1].spki))
            }
            let wwdr = try certificate("apple-ca/AppleWWDRCAG2.cer")
            let processing = try certificate("rbkmoney/processing.cer")
            #expect(verifier.verify(leaf: processing, intermediates: [wwdr], at: processing.notBefore) == .trusted(anchor: 0))
        }
    }

    @Test(.enabled(if: Vectors.shared != nil, "NOT TESTED: 1 case, no shared vectors")) func `other roots are not believed`() throws {
        let cms = try CMSSignedData(parsing: #require(SignedToken("basis-theory/ec-new.token.json")).cms)
        let chain = try cms.certificates.map { try Certificate(der: Array(cms.bytes[$0])) }
        let at = try time("2023-09-13T13:49:38Z")
        let old = try certificate("apple-ca/AppleIncRootCertificate.cer")
        #expect(try ChainVerifier(anchors: []).verify(leaf: chain[0], intermediates: [chain[1]], at: at) == .untrustedRoot)
        #expect(try ChainVerifier(anchors: [.init(certificate: old)]).verify(leaf: chain[0], intermediates: [chain[1]], at: at) == .untrustedRoot)
        let root = try certificate("apple-ca/AppleRootCA-G3.cer")
        #expect(
            try ChainVerifier(anchors: [.init(certificate: old)]).verify(leaf: chain[0], intermediates: [chain[1], root], at: at) == .untrustedRoot)
        let both = try ChainVerifier(anchors: [.init(certificate: old), .init(certificate: root)])
        #expect(both.verify(leaf: chain[0], intermediates: [chain[1]], at: at) == .trusted(anchor: 1))
    }

    @Test(.enabled(if: Vectors.shared != nil, "NOT TESTED: 1 case, no shared vectors")) func `an intermediate may be the anchor`() throws {
        let wwdr = try certificate("apple-ca/AppleWWDRCAG2.cer")
        let processing = try certificate("govuk-pay/secondary-cert.pem")
        let verifier = try ChainVerifier(anchors: [.init(certificate: wwdr)])
        #expect(verifier.verify(leaf: processing, intermediates: [], at: processing.notBefore) == .trusted(anchor: 0))
        #expect(verifier.verify(leaf: processing, intermediates: [wwdr], at: processing.notBefore) == .trusted(anchor: 0))
    }

    static let minted: [(String, [String], ChainVerifier.Verdict)] = [
        ("leaf-ec", ["intermediate"], .trusted(anchor: 0)), ("leaf-rsa", ["intermediate"], .trusted(anchor: 0)), ("leaf-ec", [], .untrustedRoot),
        ("leaf-ec-from-root", [], .trusted(anchor: 0)), ("leaf-ec-foreign", ["foreign-intermediate"], .untrustedRoot),
        ("leaf-ec-foreign", ["foreign-intermediate", "foreign-root"], .untrustedRoot), ("leaf-ec-expired", ["intermediate"], .expired),
        ("leaf-ec-notyet", ["intermediate"], .notYetValid), ("leaf-ec-under-expired", ["intermediate-expired"], .expired),
        ("leaf-ec-no-oid", ["intermediate"], .trusted(anchor: 0)),
    ]

    @Test(arguments: minted)
    func `minted chains`(_ leaf: String, _ intermediates: [String], _ verdict: ChainVerifier.Verdict) throws {
        let verifier = try ChainVerifier(anchors: [.init(certificate: certificate("minted/pki/root.pem"))])
        let found = verifier.verify(
            leaf: try certificate("minted/pki/\(leaf).pem"), intermediates: try intermediates.map { try certificate("minted/pki/\($0).pem") },
            at: try time("2026-11-01T12:00:00Z"))
        #expect(found == verdict)
    }

    @Test func `an issuer that is no authority is refused, and so is a changed leaf`() throws {
        let (root, middle, leaf) = (SigningKey.p256(try .generate()), SigningKey.p256(try .generate()), SigningKey.p256(try .generate()))
        let (from, to) = (Timestamp(seconds: 1_700_000_000), Timestamp(seconds: 1_800_000_000))
        func name(_ text: String) -> DistinguishedName { DistinguishedName([.init(.commonName, text)]) }
        func build(_ subject: String, _ issuer: String, _ key: SigningKey, by signer: SigningKey, isCA: Bool) throws -> Certificate {
            try CertificateBuilder(
                subject: name(subject), issuer: name(issuer), spki: key.spki, notBefore: from, notAfter: to,
                extensions: [
                    .basicConstraints(isCA: isCA), .keyUsage(isCA ? [.keyCertSign, .cRLSign] : [.digitalSignature]), .subjectKeyIdentifier(key.spki),
                    .authorityKeyIdentifier(signer.spki),
                ]
            ).signed(by: signer)
        }
        let rootCertificate = try build("root", "root", root, by: root, isCA: true)
        let verifier = try ChainVerifier(anchors: [.init(certificate: rootCertificate)])
        let good = try build("middle", "root", middle, by: root, isCA: true)
        let end = try build("leaf", "middle", leaf, by: middle, isCA: false)
        let at = from.adding(seconds: 1)
        #expect(verifier.verify(leaf: end, intermediates: [good], at: at) == .trusted(anchor: 0))
        let noAuthority = try build("middle", "root", middle, by: root, isCA: false)
        guard case .refused = verifier.verify(leaf: end, intermediates: [noAuthority], at: at) else {
            Issue.record("an end certificate issued another")
            return
        }
        var der = end.der
        der[der.count - 1] ^= 1
        #expect(verifier.verify(leaf: try Certificate(der: der), intermediates: [good], at: at) == .badSignature)
    }
}
