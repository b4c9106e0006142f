import Encodings
import Problems
import Secrets
import TestSupport
import Testing

@testable import Cryptography

struct PrivateKeyTests {
    @Test func `each kind is recognised and comes back`() throws {
        let p256 = try P256.AgreementKey.generate()
        let rsa = try #require(RSATests.key)
        for key in [PrivateKey.p256(p256), .rsa(rsa)] {
            let again = try PrivateKey(pkcs8: key.pkcs8())
            #expect(again.spki == key.spki && again.spkiHash == key.spkiHash && again.matches(spki: key.spki))
            switch (again, key) {
            case (.p256, .p256), (.rsa, .rsa): break
            default: Issue.record("another kind")
            }
        }
        #expect(!PrivateKey.p256(p256).matches(spki: rsa.spki))
        #expect(throws: Problem.cryptography(.privateKeyUnsupported)) { try P256.AgreementKey(pkcs8: rsa.pkcs8()) }
        #expect(throws: Problem.cryptography(.privateKeyUnsupported)) { try RSA.DecryptionKey(pkcs8: p256.pkcs8()) }
    }

    @Test func `damage is refused, wherever it is`() throws {
        let good = try P256.AgreementKey.generate().pkcs8().copyExposed()
        for index in good.indices where index != 5 {  // the version, 0 or 1
            var changed = good
            changed[index] ^= 0x01
            #expect(throws: Problem.self, "byte \(index)") { try PrivateKey(pkcs8: SecretBytes(copying: changed)) }
        }
        for count in 0..<good.count {
            #expect(throws: Problem.cryptography(.privateKeyInvalid)) { try PrivateKey(pkcs8: SecretBytes(copying: Array(good.prefix(count)))) }
        }
        #expect(throws: Problem.cryptography(.privateKeyInvalid)) { try PrivateKey(pkcs8: SecretBytes(copying: good + [0])) }
    }

    @Test func `the proof of possession is by the key`() throws {
        let p256 = try P256.AgreementKey.generate()
        let proof = try PrivateKey.p256(p256).proofOfPossession(over: [1, 2, 3])
        #expect(proof.algorithm == .ecdsaWithSHA256)
        #expect(try P256.VerificationKey(spki: p256.publicKey.spki).isValid(signature: proof.signature, over: SHA256.digest([1, 2, 3])))
        let rsa = try #require(RSATests.key)
        let rsaProof = try PrivateKey.rsa(rsa).proofOfPossession(over: [1, 2, 3])
        #expect(rsaProof.algorithm == .sha256WithRSA)
        #expect(try RSA.VerificationKey(spki: rsa.spki).isValid(signature: rsaProof.signature, over: SHA256.digest([1, 2, 3])))
    }

    static let pairs: [(String, String)] =
        files("minted", ".key.pem").map { ($0, $0.replacing(".key.pem", with: ".pem")) }
        + (Vectors.shared == nil
            ? Vectors.unavailable("keys beside their certificates", cases: 6)
            : files("", ".key.pem").filter { !$0.hasPrefix("minted/") }.map { ($0, $0.replacing(".key.pem", with: ".cert.pem")) }
                + [("govuk-pay/secondary-key.pem", "govuk-pay/secondary-cert.pem")])

    @Test(arguments: pairs) func `shared keys fit their certificates`(_ key: String, _ certificatePath: String) throws {
        guard (try? Vectors.bytes(certificatePath)) != nil else { return }
        let certificate = try certificate(certificatePath)
        guard certificate.keyKind != .otherEC(.p384) else {
            #expect(throws: Problem.cryptography(.privateKeyUnsupported)) { try PrivateKey(pkcs8: privateKey(key)) }
            return
        }
        #expect(try PrivateKey(pkcs8: privateKey(key)).matches(spki: certificate.spki))
    }
}
