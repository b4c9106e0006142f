import ApplePay
import Cryptography
import Encodings
import Problems
import TestSupport
import Testing

@Suite struct IssuerRegisterTests {
    private static func apple(_ commonName: String) -> DistinguishedName {
        DistinguishedName([
            .init(.commonName, commonName), .init(.organizationalUnit, "Apple Certification Authority"), .init(.organization, "Apple Inc."),
            .init(.country, "US"),
        ])
    }

    /// A processing certificate of this issuer.
    private func certificate(_ issuer: DistinguishedName, by key: SigningKey) throws -> PaymentProcessingCertificate {
        let identifier = try MerchantIdentifier("merchant.com.example.shop")
        return try PaymentProcessingCertificate(
            certificate: CertificateBuilder(
                subject: DistinguishedName([.init(.userID, identifier.text)]), issuer: issuer, spki: P256.AgreementKey.generate().publicKey.spki,
                notBefore: TestAuthority.now, notAfter: TestAuthority.now.adding(seconds: 86_400),
                extensions: [
                    .basicConstraints(isCA: false), .keyUsage([.keyEncipherment, .keyAgreement]), .authorityKeyIdentifier(key.spki),
                    .init("1.2.840.113635.100.6.32") { $0.utf8String(identifier.hash.hex.uppercased()) },
                ]
            ).signed(by: key))
    }

    /// C73.
    @Test(
        arguments: [
            ("Apple Worldwide Developer Relations CA - G2", .unknown), ("Apple Worldwide Developer Relations CA - G9", .namesApple),
            ("Apple Worldwide Developer Relations Certification Authority", .namesApple), ("Example CA", .unknown),
        ] as [(String, IssuerStanding)])
    func `a name is a claim, and a pinned name with another key a false one`(_ name: String, _ standing: IssuerStanding) throws {
        let read = try certificate(Self.apple(name), by: .p256(P256.SigningKey.generate()))
        #expect(try IssuerRegister().standing(of: read) == standing)
    }

    @Test func `only Apple's organisation names Apple`() throws {
        let stranger = DistinguishedName([.init(.commonName, "Apple Worldwide Developer Relations CA - G9"), .init(.organization, "Example")])
        #expect(try IssuerRegister().standing(of: certificate(stranger, by: .p256(P256.SigningKey.generate()))) == .unknown)
    }

    @Test func `a given anchor is trusted, through given issuers too`() throws {
        let authority = try TestAuthority()
        let read = try certificate(authority.issuer.subject, by: authority.issuerKey)
        #expect(try IssuerRegister().standing(of: read) == .unknown)
        #expect(try IssuerRegister(anchors: [TrustAnchor(certificate: authority.issuer)]).standing(of: read) == .trusted)
        #expect(try IssuerRegister(anchors: [TrustAnchor(certificate: authority.root)]).standing(of: read) == .unknown)
        let register = try IssuerRegister(issuers: [authority.issuer], anchors: [TrustAnchor(certificate: authority.root)])
        #expect(register.standing(of: read) == .trusted)
    }

    @Test func `a given issuer counts only as far as it chains to Apple's root`() throws {
        let authority = try TestAuthority()
        let read = try certificate(authority.issuer.subject, by: authority.issuerKey)
        #expect(try IssuerRegister(issuers: [authority.issuer]).standing(of: read) == .unknown)
    }
}
