import Testing

@testable import Cryptography

struct OIDTests {
    @Test(arguments: [
        ("2.5.4.3", "550403"), ("1.2.840.113549.1.7.2", "2a864886f70d010702"), ("1.2.840.113635.100.6.2.14", "2a864886f76364 06020e"),
        ("2.999", "8837"), ("0.9.2342.19200300.100.1.1", "0992268993f22c640101"), ("1.3.6.1.4.1.311.21.8.1.2.3.4.5.6", "2b0601040182371508010203040506"),
        ("1.3.6.1.4.1.311.21.8.1.2.3.4.5.6.7", "2b060104018237150801020304050607"),
        ("2.25.18446744073709551615", "6981ffffffffffffffff7f"),
    ]) func `text and DER content are one`(_ text: String, _ content: String) throws {
        let bytes = try hex(content)
        let oid = try #require(OID(text))
        #expect(oid.content == bytes)
        #expect(OID(content: bytes) == oid)
        #expect(OID(content: bytes)?.description == text)
    }

    @Test(arguments: ["", "1", "1.", ".1.2", "3.1", "1.40", "1.2.a", "1.02", "-1.2", "1.2.18446744073709551616"])
    func `other text is refused`(_ text: String) { #expect(OID(text) == nil) }

    @Test(arguments: ["", "80", "2a80", "2a8001", "2a86"]) func `other content is refused`(_ content: String) throws {
        #expect(OID(content: try hex(content)) == nil)
    }

    @Test func `a wrong literal equals nothing that can be read`() {
        let wrong: OID = "not.an.identifier"
        #expect(wrong.content.isEmpty)
        #expect(wrong != .sha256)
    }

    @Test func `an arc beyond 64 bits is kept as bytes`() throws {
        let bytes = try hex("2a ffffffffffffffffffff7f")
        #expect(OID(content: bytes)?.content == bytes)
        #expect(OID(content: bytes)?.description == "1.2.?")
    }
}
