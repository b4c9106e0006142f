import Encodings
import Problems
import Secrets
import TestSupport
import Testing

@testable import Cryptography

struct ContentKeyTests {
    @Test(arguments: [16, 32]) func `opens what it sealed, and nothing else`(_ count: Int) throws {
        let key = try SecureRandom.secret(count)
        let plaintext = SecretBytes(copying: Array("{\"a\":1}".utf8))
        let sealed = try ContentKey(key).seal(plaintext)
        #expect(sealed.count == plaintext.count + 16)
        #expect(try ContentKey(key).open(sealed) == plaintext)
        for index in sealed.indices {
            var changed = sealed
            changed[index] ^= 1
            #expect(try ContentKey(key).open(changed) == nil)
        }
        for length in 0..<sealed.count { #expect(try ContentKey(key).open(Array(sealed.prefix(length))) == nil) }
        #expect(try ContentKey(key).open(sealed + [0]) == nil)
        #expect(try ContentKey(SecureRandom.secret(count)).open(sealed) == nil)
        #expect(try ContentKey(key).open(try ContentKey(key).seal(SecretBytes(copying: [])))?.count == 0)
    }

    @Test(arguments: [0, 15, 24, 33]) func `needs 16 or 32 bytes`(_ count: Int) {
        #expect(throws: Problem.cryptography(.keyLength)) { _ = try ContentKey(SecureRandom.secret(count)) }
    }

    @Test(.enabled(if: Vectors.shared != nil, "NOT TESTED: 316 cases, no shared vectors")) func `Wycheproof AES-GCM`() throws {
        let file = try #require(try json("wycheproof/aes_gcm_test.json") as? [String: Any])
        var counts: [String: Int] = [:]
        for group in try #require(file["testGroups"] as? [[String: Any]]) {
            let ivBits = try #require(group["ivSize"] as? Int)
            let keyBits = try #require(group["keySize"] as? Int)
            for test in try #require(group["tests"] as? [[String: Any]]) {
                func bytes(_ name: String) throws -> [UInt8] { try hex(test[name] as? String ?? "*") }
                guard keyBits != 192 else {
                    counts["192-bit keys, which we have none of", default: 0] += 1
                    continue
                }
                guard ivBits > 0, ivBits <= 1024 else {
                    counts["nonces of 0 or more than 128 bytes, which OpenSSL has not", default: 0] += 1
                    continue
                }
                let (key, nonce, aad) = (try bytes("key"), try bytes("iv"), try bytes("aad"))
                let sealed = try bytes("ct") + bytes("tag")
                let opened = unsafe key.withUnsafeBytes { unsafe AESGCM.open(sealed[...], key: $0, nonce: nonce[...], associatedData: aad) }
                let isValid = test["result"] as? String == "valid"
                #expect((opened != nil) == isValid, "\(test["tcId"] ?? "")")
                if isValid {
                    let message = try bytes("msg")
                    #expect(opened?.copyExposed() == message)
                    let again = try unsafe key.withUnsafeBytes {
                        try unsafe AESGCM.seal(SecretBytes(copying: message), key: $0, nonce: nonce[...], associatedData: aad, into: [])
                    }
                    #expect(again == sealed)
                }
                // `ContentKey` itself, where the case is its form.
                if nonce == [UInt8](repeating: 0, count: 16), aad.isEmpty {
                    #expect((try ContentKey(SecretBytes(copying: key)).open(sealed) != nil) == isValid)
                }
                counts[ivBits == 128 ? "16-byte nonces" : "other nonces", default: 0] += 1
            }
        }
        #expect(
            counts == [
                "16-byte nonces": 39, "other nonces": 168, "192-bit keys, which we have none of": 103,
                "nonces of 0 or more than 128 bytes, which OpenSSL has not": 6,
            ], "\(counts)")
    }
}
