import Cryptography
import Encodings
import Problems
import Secrets
import Testing

struct P384Tests {
    @Test func `a key goes out as PKCS#8 and comes back`() throws {
        let key = try P384.SigningKey.generate()
        #expect(key.spki.count == 120)
        let again = try P384.SigningKey(pkcs8: key.pkcs8())
        #expect(again.spki == key.spki)
        #expect(try again.pkcs8() == key.pkcs8())
    }

    @Test func `damaged keys and keys of other kinds are refused`() throws {
        let good = try P384.SigningKey.generate().pkcs8().copyExposed()
        for damaged in [[], Array(good.dropLast()), good + [0], [0x30] + good.dropFirst(2)] {
            #expect(throws: Problem.cryptography(.privateKeyInvalid)) { try P384.SigningKey(pkcs8: SecretBytes(copying: damaged)) }
        }
        #expect(throws: Problem.cryptography(.privateKeyUnsupported)) { try P384.SigningKey(pkcs8: P256.SigningKey.generate().pkcs8()) }
        #expect(throws: Problem.cryptography(.privateKeyUnsupported)) { try P384.SigningKey(pkcs8: RSA.SigningKey.generate(bits: 2048).pkcs8()) }
    }

    @Test func `its signature on a certificate verifies, and only there`() throws {
        let (key, other) = (try P384.SigningKey.generate(), try P384.SigningKey.generate())
        let name = DistinguishedName([.init(.commonName, "root")])
        let certificate = try CertificateBuilder(
            subject: name, issuer: name, spki: key.spki, notBefore: Timestamp(seconds: 0), notAfter: Timestamp(seconds: 1), extensions: []
        ).signed(by: .p384(key))
        let verifier = try ChainVerifier(anchors: [])
        #expect(verifier.isSigned(certificate, by: key.spki))
        #expect(!verifier.isSigned(certificate, by: other.spki))
    }
}
