import Encodings
import Problems
import Secrets
import Testing

@testable import Cryptography

struct MACKeyTests {
    /// Computed with Python's `hmac`; the key is 00…1f. Lengths around the block size.
    @Test(arguments: [
        (0, "d38b42096d80f45f826b44a9d5607de72496a415d3f4a1a8c88e3bb9da8dc1cb"),
        (3, "bf76611b6b1bcb37147401a745a954811257202eff22ba8a0acf3cc08a7b0504"),
        (55, "b478e4cbd63871759702a8a4c9828359869bc9e20d3df429ecd08f5a5d3d9340"),
        (56, "e5d1f65e9e9359d05c577b6890044f08c9a1f7969b683f1237ef07db70e5f862"),
        (63, "d37a8dadb82b15310342ceabf0de8cb8991ee9bd55dd3e4813e952081cb24bf1"),
        (64, "173206781c3b828a0dc2a716fe0ddb5e6e56ec171170952ff6b3f4de44fa18d7"),
        (65, "22084084cc171f63dfdd6ca4bcb0c29be8d4ff1cc6b1d0d21e10e2a2a0bfce9c"),
        (300, "c8bb63e833c7d9a00377ed1e39b7e14a190d68b668ad8ca198e0b290766a5210"),
    ]) func `HMAC-SHA-256`(_ count: Int, _ mac: String) throws {
        let key = try MACKey(SecretBytes(copying: (0..<32).map { UInt8($0) }))
        let message = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        #expect(key.authenticate(message).hex == mac)
        #expect(key.verify(try hex(mac), message))
    }

    @Test func `another MAC, message or key does not verify`() throws {
        let key = try MACKey.generate()
        let mac = key.authenticate([1, 2, 3]).bytes
        for index in 0..<32 {
            var changed = mac
            changed[index] ^= 1
            #expect(!key.verify(changed, [1, 2, 3]))
        }
        #expect(!key.verify(mac, [1, 2]) && !key.verify(Array(mac.prefix(31)), [1, 2, 3]) && !key.verify([], [1, 2, 3]))
        #expect(!(try MACKey.generate().verify(mac, [1, 2, 3])))
        #expect(try MACKey(key.exportedForWrapping()).verify(mac, [1, 2, 3]))
        #expect(throws: Problem.cryptography(.keyLength)) { try MACKey(SecretBytes(copying: [1])) }
    }
}
