import Encodings
import Problems
import Secrets
import TestSupport
import Testing

@testable import Cryptography

struct RSATests {
    static let key = try? RSA.DecryptionKey.generate(bits: 2048)

    @Test func `unwraps what was wrapped for it`() throws {
        let key = try #require(RSATests.key)
        #expect(key.bits == 2048)
        let content = try SecureRandom.secret(16)
        let wrapped = try RSA.wrapOAEP256(content, to: key.spki)
        #expect(wrapped.count == 256)
        #expect(key.unwrapOAEP256(wrapped) == content)
        for index in stride(from: 0, to: 256, by: 16) {
            var changed = wrapped
            changed[index] ^= 1
            #expect(key.unwrapOAEP256(changed) == nil)
        }
        #expect(key.unwrapOAEP256([]) == nil)
        #expect(key.unwrapOAEP256(Array(wrapped.dropLast())) == nil)
        #expect(key.unwrapOAEP256(wrapped + [0]) == nil)
        #expect(OpenSSLErrors.drain() == "no error queued")
    }

    @Test func `keys come back from PKCS#8`() throws {
        let key = try #require(RSATests.key)
        let again = try RSA.DecryptionKey(pkcs8: key.pkcs8())
        #expect(again.spki == key.spki && again.spkiHash == key.spkiHash)
        #expect(try again.pkcs8() == key.pkcs8())
        let content = try SecureRandom.secret(16)
        #expect(again.unwrapOAEP256(try RSA.wrapOAEP256(content, to: key.spki)) == content)
    }

    /// Each part changed in its lowest byte (which keeps lengths and signs): the parts no longer fit each other.
    @Test(arguments: 0..<8) func `parts that do not fit are refused`(_ part: Int) throws {
        var bytes = try #require(RSATests.key).pkcs8().copyExposed()
        guard case .rsa(let parts) = try PKCS8.read(bytes) else { throw Problem.cryptography(.privateKeyInvalid) }
        bytes[parts[part].upperBound - 1] ^= 2
        #expect(throws: Problem.cryptography(.privateKeyInvalid)) { try RSA.DecryptionKey(pkcs8: SecretBytes(copying: bytes)) }
    }

    @Test func `short keys are refused`() throws {
        let short = try RSA.DecryptionKey.generate(bits: 1024)
        #expect(throws: Problem.cryptography(.privateKeyUnsupported)) { try RSA.DecryptionKey(pkcs8: short.pkcs8()) }
        #expect(throws: Problem.cryptography(.publicKeyInvalid)) { try RSA.wrapOAEP256(SecureRandom.secret(16), to: short.spki) }
    }

    @Test func `numbers as long as the file likes are refused before they are computed with`() throws {
        let long = [UInt8](repeating: 0xff, count: 100_000)
        let info = DERWriter.sequence { info in
            info.integer(0)
            info.sequence {
                $0.objectIdentifier(.rsaEncryption)
                $0.null()
            }
            info.constructed(.octetString) { wrapper in
                wrapper.sequence { key in
                    key.integer(0)
                    for _ in 0..<8 { key.integer(magnitude: long) }
                }
            }
        }
        #expect(throws: Problem.cryptography(.privateKeyUnsupported)) { try RSA.DecryptionKey(pkcs8: SecretBytes(copying: info)) }
    }

    @Test func `signatures verify`() throws {
        let key = try RSA.SigningKey(pkcs8: #require(RSATests.key).pkcs8())
        let verifier = try RSA.VerificationKey(spki: key.spki)
        for round in 0..<4 {
            let signature = try key.signature(over: [UInt8(round)])
            #expect(verifier.isValid(signature: signature, over: SHA256.digest([UInt8(round)])))
            #expect(!verifier.isValid(signature: signature, over: SHA256.digest([UInt8(round), 0])))
            #expect(!verifier.isValid(signature: signature.dropLast(), over: SHA256.digest([UInt8(round)])))
        }
        #expect(throws: Problem.cryptography(.publicKeyInvalid)) { try RSA.VerificationKey(spki: P256.AgreementKey.generate().publicKey.spki) }
    }

    @Test(.enabled(if: Vectors.shared != nil, "NOT TESTED: 37 cases, no shared vectors")) func `Wycheproof RSA-OAEP`() throws {
        let file = try #require(try json("wycheproof/rsa_oaep_2048_sha256_mgf1sha256_test.json") as? [String: Any])
        var counts: [String: Int] = [:]
        for group in try #require(file["testGroups"] as? [[String: Any]]) {
            let key = try RSA.DecryptionKey(pkcs8: secret(#require(group["privateKeyPkcs8"] as? String)))
            for test in try #require(group["tests"] as? [[String: Any]]) {
                func bytes(_ name: String) throws -> [UInt8] { try hex(test[name] as? String ?? "*") }
                let opened = key.unwrapOAEP256(try bytes("ct"))?.copyExposed()
                let hasLabel = try !bytes("label").isEmpty
                if test["result"] as? String == "valid", !hasLabel {
                    #expect(opened == (try bytes("msg")))
                    counts["valid", default: 0] += 1
                } else {
                    #expect(opened == nil, "\(test["tcId"] ?? "")")
                    counts[hasLabel ? "with a label: refused" : "invalid", default: 0] += 1
                }
            }
        }
        #expect(counts.values.reduce(0, +) == 37, "\(counts)")
        #expect(counts == ["valid": 10, "with a label: refused": 8, "invalid": 19], "\(counts)")
    }
}
