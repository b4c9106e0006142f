import Cryptography
import Encodings
import Problems
import Testing

struct SigningKeyTests {
    private static let p256 = try! SigningKey.p256(.generate())
    /// Held by themselves too: in an enum the references are tagged, and the leak sanitizer does not know them again.
    private static let (p384Key, rsaKey) = try! (P384.SigningKey.generate(), RSA.SigningKey.generate(bits: 2048))
    private static let p384 = SigningKey.p384(p384Key)
    private static let rsa = SigningKey.rsa(rsaKey)

    @Test func `algorithm identifiers are those of the standards`() {
        #expect(Hex.encode(Self.p256.signatureAlgorithm(.sha256)) == "300a06082a8648ce3d040302")
        #expect(Hex.encode(Self.p384.signatureAlgorithm(.sha256)) == "300a06082a8648ce3d040302")
        #expect(Hex.encode(Self.rsa.signatureAlgorithm(.sha256)) == "300d06092a864886f70d01010b0500")
        #expect(Hex.encode(Self.p256.signatureAlgorithm(.sha1)) == "300906072a8648ce3d0401")
        #expect(Hex.encode(Self.rsa.signatureAlgorithm(.sha1)) == "300d06092a864886f70d0101050500")
    }

    @Test func `signatures verify under the public key`() throws {
        let message = Array("message".utf8)
        let ec = try Self.p256.signature(over: message, digest: .sha256)
        #expect(try P256.VerificationKey(spki: Self.p256.spki).isValid(signature: ec, over: SHA256.digest(message)))
        let rsa = try Self.rsa.signature(over: message, digest: .sha256)
        #expect(try RSA.VerificationKey(spki: Self.rsa.spki).isValid(signature: rsa, over: SHA256.digest(message)))
        let old = try Self.p256.signature(over: message, digest: .sha1)
        #expect(try !P256.VerificationKey(spki: Self.p256.spki).isValid(signature: old, over: SHA256.digest(message)))
    }

    @Test func `each kind comes back from its PKCS#8`() throws {
        #expect(try P256.SigningKey(pkcs8: Self.p256.pkcs8()).publicKey.spki == Self.p256.spki)
        #expect(try P384.SigningKey(pkcs8: Self.p384.pkcs8()).spki == Self.p384.spki)
        #expect(try RSA.SigningKey(pkcs8: Self.rsa.pkcs8()).spki == Self.rsa.spki)
    }
}
