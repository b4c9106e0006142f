@testable import ApplePay
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
        #expect(MintedToken.all.count == 161)
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

    /// Made with Python's cryptography 48, so that a slip here is not undone by the same slip in sealing:
    /// Z is 000000 03a73717cde41f30694bb327d129cd21bd2aebb59c2cfe73250fb0945a.
    @Test func `keeps the leading zeros of the shared secret`() throws {
        let merchant = try #require(
            Base64.decode(
                "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg3yMMDBDrq95I/gxilgzGCN23jCAFZAcyf7l+GmsRGvqhRANCAATHp7konRxEU5hobxCdhCmeVgIW2YYf"
                    + "yoIEfL6ha2+5juxbO0Ddo0WFSLb8x1KVUzuCQEiGU6u9e4jUgIUsXRwk"))
        let key = try PrivateKey(pkcs8: SecretBytes(copying: merchant))
        let json = """
            {"version":"EC_v1","data":"GxR8XhafIcDB7Wgfhd8Dy8slfyAIx7Y9KaPinB2Bhet/8qI=","signature":"","header":{"publicKeyHash":"\(key.spkiHash.base64)",
            "transactionId":"00","ephemeralPublicKey":"MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEUB6I1jDcms2369v2fcytNr8pESRAwxx4NlfOaLlABsh+dIMX9ptVTRPZISHRx9ayo\
            diJBT+LW0UzdWAepHIsRg=="}}
            """
        let token = try PaymentToken(parsing: Array(json.utf8))
        let plaintext = try TokenDecryptor.plaintext(of: token, with: key, MerchantIdentifier("merchant.com.example.shop"))
        #expect(plaintext.copyExposed() == Array(#"{"leading":"zeros"}"#.utf8))
    }

    /// The oracle that must not be: a wrong identifier, a wrong key, a changed ciphertext, a changed tag and a wrapped key that does not unwrap.
    @Test func `whatever fails before the tag has verified, the problem is one and the same`() throws {
        let authority = try TestAuthority()
        let rsaAuthority = try TestAuthority(.init(leafKey: .rsa(RSA.SigningKey.generate())))
        let shop = try MerchantIdentifier(TestToken.merchant)
        func open(_ authority: TestAuthority, _ token: TestToken, _ key: PrivateKey, _ identifier: MerchantIdentifier) throws -> Problem? {
            var token = token
            try token.sign(TestSignature(authority))
            let verified = try authority.verifier().verify(token.parsed(), at: TestAuthority.now, maximumAgeSeconds: 300, rule: .sandbox)
            do throws(Problem) {
                _ = try verified.decrypt(with: key, merchantIdentifier: identifier)
                return nil
            } catch {
                return error
            }
        }
        let ec = try TestToken(for: .p256(P256.AgreementKey.generate()))
        let rsa = try TestToken(for: .rsa(RSA.DecryptionKey.generate()))
        #expect(try open(authority, ec, ec.key, shop) == nil)
        #expect(try open(rsaAuthority, rsa, rsa.key, shop) == nil)
        #expect(try open(rsaAuthority, rsa, rsa.key, MerchantIdentifier("merchant.any")) == nil, "nothing binds RSA_v1 to the identifier")

        var problems = [
            try open(authority, ec, ec.key, MerchantIdentifier("merchant.com.example.Shop")),
            try open(authority, ec, .p256(P256.AgreementKey.generate()), shop), try open(rsaAuthority, rsa, .rsa(RSA.DecryptionKey.generate()), shop),
        ]
        for (good, signer) in [(ec, authority), (rsa, rsaAuthority)] {
            for change in [0, good.data.count / 2, good.data.count - 16, good.data.count - 1] {
                var token = good
                token.data[change] ^= 0x40
                problems.append(try open(signer, token, token.key, shop))
            }
            var short = good
            short.data.removeLast()
            problems.append(try open(signer, short, short.key, shop))
        }
        for place in [0, 128, 255] {
            var token = rsa
            token.keyField[place] ^= 1
            problems.append(try open(rsaAuthority, token, token.key, shop))
        }
        for bytes in [15, 32] {
            var token = rsa
            guard case .rsa(let key) = rsa.key else { return }
            token.keyField = try RSA.wrapOAEP256(SecureRandom.secret(bytes), to: key.spki)
            problems.append(try open(rsaAuthority, token, token.key, shop))
        }
        #expect(Set(problems.map { $0.map { "\($0.code) \($0.status) \($0.title) \($0.detail) \($0.context) \($0.underlying ?? "")" } }).count == 1)
        #expect(problems[0]?.code == "payment_token.undecryptable")
    }
}
