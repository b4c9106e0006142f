import Cryptography
import Encodings
import Problems
import Testing

struct CertificateBuilderTests {
    private static let from = Timestamp(milliseconds: 1_793_534_400_900)
    private static let until = Timestamp(seconds: 2_556_144_000)
    private static let name = DistinguishedName([.init(.userID, "u"), .init(.commonName, "Zoë"), .init(.country, "ZZ")])

    private func builder(_ spki: [UInt8], _ extensions: [Certificate.Extension] = []) -> CertificateBuilder {
        CertificateBuilder(subject: Self.name, issuer: Self.name, spki: spki, notBefore: Self.from, notAfter: Self.until, extensions: extensions)
    }

    @Test func `a certificate reads back as it was described`() throws {
        let key = try P256.SigningKey.generate()
        let spki = key.publicKey.spki
        let certificate = try builder(
            spki,
            [
                .basicConstraints(isCA: false), .keyUsage([.keyEncipherment, .keyAgreement]), .extendedKeyUsage([.clientAuthentication]),
                .subjectKeyIdentifier(spki), .authorityKeyIdentifier(spki), .marker("1.2.840.113635.100.6.29"),
            ]
        ).signed(by: .p256(key))
        #expect(certificate.spki == spki)
        #expect(certificate.keyKind == .p256)
        #expect(certificate.subject == Self.name)
        #expect(certificate.subject.attributes.map(\.value) == ["u", "Zoë", "ZZ"])
        #expect(certificate.subject == certificate.issuer)
        #expect(certificate.notBefore == Self.from.wholeSeconds)
        #expect(certificate.notAfter == Self.until)
        #expect(!certificate.isCA)
        #expect(certificate.keyUsage == [.keyEncipherment, .keyAgreement])
        #expect(certificate.extendedKeyUsage == [.clientAuthentication])
        #expect(
            certificate.extensions.map(\.oid) == [
                .basicConstraints, .keyUsage, .extendedKeyUsage, .subjectKeyIdentifier, .authorityKeyIdentifier, "1.2.840.113635.100.6.29",
            ])
        #expect(certificate.extensions.map(\.isCritical) == [true, true, false, false, false, false])
        #expect(certificate.extensionValues("1.2.840.113635.100.6.29").map { Array($0) } == [[5, 0]])
        #expect(certificate.extensionValues(.keyUsage).map { Array($0) } == [[3, 2, 3, 0x28]])
    }

    @Test func `serial numbers are positive, eight bytes and fresh`() throws {
        let key = try P256.SigningKey.generate()
        let serials = (0..<64).map { _ in builder(key.publicKey.spki).serialNumber }
        #expect(serials.allSatisfy { $0.count == 8 && (1...0x7f).contains($0[0]) })
        #expect(Set(serials).count == serials.count)
    }

    @Test func `each kind of key signs, and its own public key verifies`() throws {
        let p256 = SigningKey.p256(try .generate())
        let keys: [SigningKey] = [p256, .p384(try .generate()), .rsa(try .generate(bits: 2048))]
        let verifier = try ChainVerifier(anchors: [])
        for key in keys {
            let certificate = try builder(key.spki, [.basicConstraints(isCA: true), .keyUsage(.keyCertSign)]).signed(by: key)
            #expect(certificate.isCA)
            #expect(verifier.isSigned(certificate, by: key.spki))
            let other = try builder(key.spki).signed(by: p256)
            #expect(verifier.isSigned(other, by: key.spki) == (key.spki == p256.spki))
        }
    }
}

extension Timestamp {
    fileprivate var wholeSeconds: Timestamp { Timestamp(milliseconds: milliseconds / 1000 * 1000) }
}
