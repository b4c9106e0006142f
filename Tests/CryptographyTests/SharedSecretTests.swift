import Encodings
import Foundation
import Secrets
import TestSupport
import Testing

@testable import Cryptography

struct SharedSecretTests {
    static let opened = Vectors.shared == nil ? Vectors.unavailable("real tokens' intermediate values", cases: 5) : realTokens.filter { !$0.contains("2017") }

    /// Z, content key and plaintext of the real tokens whose keys are public.
    @Test(arguments: opened) func `real tokens open by way of their intermediate values`(_ name: String) throws {
        let values = try #require(try json(name + ".intermediate.json") as? [String: Any])
        func value(_ key: String) throws -> [UInt8] { try hex(values[key] as? String ?? "*") }
        let token = try #require(SignedToken(name + ".token.json"))
        let key = try P256.AgreementKey(pkcs8: privateKey(name + ".key.pem"))
        #expect(key.publicKey.spkiHash.base64 == values["publicKeyHash"] as? String)
        let peer = try P256.PublicKey(spki: #require(token.ephemeralPublicKey))
        let z = try value("Z")
        #expect(try key.sharedSecret(with: peer).equals(z))
        let merchant = SHA256.digest(Array((values["merchantIdentifier"] as? String ?? "").utf8))
        #expect(merchant.bytes == (try value("partyV")))
        #expect(SHA256.digest(try value("kdfInput")).bytes == (try value("contentKey")))
        func contentKey() throws -> ContentKey {
            try key.sharedSecret(with: peer).deriveKey(
                algorithmID: Array("id-aes256-GCM".utf8), partyUInfo: Array("Apple".utf8), partyVInfo: merchant)
        }
        let expected = try value("contentKey")
        #expect(try contentKey().equals(expected))
        let plaintext = try #require(try contentKey().open(token.data))
        #expect(plaintext.copyExposed() == (try Vectors.bytes(name + ".plaintext.json")))
        #expect(SHA256.digest(token.content).hex == values["signedContentSha256"] as? String)
    }
}

extension SharedSecret {
    /// The tests of this room search for secrets of a certain look.
    func copyForTest() -> [UInt8] {
        var bytes: [UInt8] = []
        unsafe withBytesForTest { unsafe bytes = Array($0) }
        return bytes
    }
}
