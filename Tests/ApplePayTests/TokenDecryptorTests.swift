import ApplePay
import Cryptography
import Encodings
import Problems
import Secrets
import Testing
import TestSupport

@Suite struct TokenDecryptorTests {
    /// What the service does with a token, with every key of the merchant at hand.
    private func open(_ bytes: [UInt8], _ minted: MintedToken, _ keys: [PrivateKey]) throws -> PaymentData {
        let token = try PaymentToken(parsing: bytes)
        guard let key = keys.first(where: { $0.spkiHash == token.publicKeyHash }) else { throw Problem.paymentToken(.keyUnknown) }
        switch (token.version, key) {
        case (.ecV1, .p256), (.rsaV1, .rsa): break
        default: throw Problem.paymentToken(.algorithmMismatch)
        }
        let verified = try MintedToken.verifier().verify(token, at: minted.referenceTime, maximumAgeSeconds: 300, rule: .production(strictSigner: true))
        return try verified.decrypt(with: key, merchantIdentifier: MerchantIdentifier(minted.merchantIdentifier))
    }

    @Test(arguments: MintedToken.all)
    func `opens or refuses each minted token as expected`(_ minted: MintedToken) throws {
        let keys = try ["ec-1", "ec-2", "ec-legacy-cn", "rsa-1"].map { try MintedToken.key($0, of: minted.merchantIdentifier) }
        var content: PaymentData?
        let code = code { content = try open(try minted.bytes(), minted, keys) }
        #expect(minted.expect.contains(code ?? "success"), "\(code ?? "success")")
        #expect(content.map { SHA256.digest($0.plaintext.copyExposed()).hex } == (code == nil ? minted.plaintextHash : nil))
    }

    @Test func `the list of minted tokens is whole`() {
        #expect(Vectors.shared == nil || MintedToken.all.count == 161)
    }

    @Test(arguments: RealToken.withKey)
    func `opens Apple's own tokens byte for byte`(_ real: RealToken) throws {
        let verified = try RealToken.verifier().verify(real.token(), at: real.time(), maximumAgeSeconds: 300, rule: .sandbox)
        let content = try verified.decrypt(with: real.key(), merchantIdentifier: MerchantIdentifier(real.merchantIdentifier))
        #expect(content.plaintext.copyExposed() == (try Vectors.bytes(real.name + ".plaintext.json")))
        #expect(content.warnings == [])
        #expect(content.networkToken.kind == .dpan)
    }

    @Test(arguments: RealToken.withKey)
    func `a wrong identifier, even in case only, opens nothing`(_ real: RealToken) throws {
        let verified = try RealToken.verifier().verify(real.token(), at: real.time(), maximumAgeSeconds: 300, rule: .sandbox)
        for text in [real.merchantIdentifier + "x", real.merchantIdentifier.prefix(9) + real.merchantIdentifier.dropFirst(9).uppercased()] {
            #expect(throws: Problem.paymentToken(.undecryptable)) {
                try verified.decrypt(with: real.key(), merchantIdentifier: MerchantIdentifier(text))
            }
        }
    }

    @Test(arguments: RealToken.withKey)
    func `another key opens nothing`(_ real: RealToken) throws {
        let verified = try RealToken.verifier().verify(real.token(), at: real.time(), maximumAgeSeconds: 300, rule: .sandbox)
        #expect(throws: Problem.paymentToken(.undecryptable)) {
            try verified.decrypt(with: .p256(.generate()), merchantIdentifier: MerchantIdentifier(real.merchantIdentifier))
        }
        #expect(throws: Problem.paymentToken(.algorithmMismatch)) {
            try verified.decrypt(with: .rsa(.generate()), merchantIdentifier: MerchantIdentifier(real.merchantIdentifier))
        }
    }
}
