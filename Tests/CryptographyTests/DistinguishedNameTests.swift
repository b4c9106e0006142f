import Testing

@testable import Cryptography

struct DistinguishedNameTests {
    @Test func `written and read back`() throws {
        let name = DistinguishedName([
            .init(.userID, "merchant.com.example.shop"), .init(.commonName, "Größe, +\"x\"\\"), .init(.organizationalUnit, "A"),
            .init(.organizationalUnit, "B"), .init(.country, "DE"), .init(.emailAddress, "a@example.com"), .init("1.2.3.4", "\u{7}"),
        ])
        var reader = DERReader(name.encoded)
        let again = try DistinguishedName(reading: &reader)
        try reader.finish()
        #expect(again == name)
        #expect(again.userID == "merchant.com.example.shop" && again.organizationalUnits == ["A", "B"] && again.organization == nil)
        #expect(
            again.description
                == "UID=merchant.com.example.shop, CN=Größe\\, \\+\\\"x\\\"\\\\, OU=A, OU=B, C=DE, emailAddress=a@example.com, 1.2.3.4=\\07")
    }

    @Test func `several attributes at one level, and values that are no text`() throws {
        var reader = DERReader(try hex("3019 3117 300806035504031301 41 300b 0603550405 0404 deadbeef"))
        let name = try DistinguishedName(reading: &reader)
        #expect(name.description == "CN=A, serialNumber=#0404deadbeef")
    }

    @Test(arguments: ["3002 3100", "3004 3102 3000", "300b 3109 3007 0603550403 0500 00", "3100"]) func `other forms are refused`(_ text: String) throws {
        var reader = DERReader(try hex(text))
        #expect(throws: DERError.self) {
            _ = try DistinguishedName(reading: &reader)
            try reader.finish()
        }
    }
}
