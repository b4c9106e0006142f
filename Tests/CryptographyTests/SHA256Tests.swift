import Encodings
import Testing

@testable import Cryptography

/// FIPS 180-4 examples.
struct SHA256Tests {
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        ("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"),
    ]) func `whole, in parts and in slices`(_ text: String, _ digest: String) throws {
        let bytes = Array(text.utf8)
        #expect(SHA256.digest(bytes).hex == digest)
        for split in 0...bytes.count {
            #expect(SHA256.digest(Array(bytes[..<split]), Array(bytes[split...])).hex == digest)
            var hasher = SHA256.Hasher()
            hasher.update(bytes[..<split])
            hasher.update(bytes[split...])
            #expect(hasher.finish().hex == digest)
        }
    }

    @Test func `a digest is taken in as its bytes`() {
        let inner = SHA256.digest([1, 2, 3])
        var hasher = SHA256.Hasher()
        hasher.update(0x41)
        hasher.update(inner)
        #expect(hasher.finish() == SHA256.digest([0x41] + inner.bytes))
    }
}
