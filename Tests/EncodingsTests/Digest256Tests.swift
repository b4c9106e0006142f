import Encodings
import Testing

@Suite struct Digest256Tests {
    private let bytes = (0..<32).map { UInt8($0 * 7 & 0xff) }

    @Test func `keeps its 32 bytes in order`() throws {
        let digest = try #require(Digest256(bytes))
        #expect(digest.bytes == bytes)
        #expect(digest.hex == Hex.encode(bytes))
        #expect(digest.base64 == Base64.encode(bytes))
        #expect(digest.base64.utf8.count == 44)
    }

    @Test(arguments: [0, 1, 31, 33, 64])
    func `is made of exactly 32 bytes`(_ count: Int) {
        #expect(Digest256([UInt8](repeating: 1, count: count)) == nil)
    }

    @Test func `reads hex, base64 and base64url`() throws {
        let digest = try #require(Digest256(bytes))
        for text in [digest.hex, digest.hex.uppercased(), digest.base64, Base64.encodeURL(bytes)] {
            #expect(Digest256(text: text) == digest)
        }
    }

    @Test(arguments: ["", "00", String(repeating: "0", count: 63), String(repeating: "0", count: 65), String(repeating: "g", count: 64), "QUJD"])
    func `refuses other texts`(_ text: String) {
        #expect(Digest256(text: text) == nil)
    }

    @Test func `differs when any one bit does`() throws {
        let digest = try #require(Digest256(bytes))
        #expect(digest == Digest256(bytes))
        for bit in 0..<256 {
            var other = bytes
            other[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(Digest256(other) != digest)
        }
    }
}
