import Encodings
import Secrets
import Testing

@testable import Cryptography

struct PKCS12PasswordTests {
    @Test(
        arguments: [
            ([], ["0000", ""], [""]),
            (Array("a1".utf8), ["006100310000"], ["6131"]),
            // U+00E9: right, per byte of UTF-8; UTF-8, Latin-1.
            (Array("é".utf8), ["00e90000", "00c300a90000"], ["c3a9", "e9"]),
            // U+20AC: Windows-1252 has it, and as a character 0080 it is a text of its own.
            (Array("€".utf8), ["20ac0000", "00e2008200ac0000", "00800000"], ["e282ac", "80"]),
            // Outside both: no single-byte spelling. Outside the BMP: a surrogate pair.
            (Array("密".utf8), ["5bc60000", "00e500af00860000"], ["e5af86"]),
            (Array("🔑".utf8), ["d83ddd110000", "00f0009f009400910000"], ["f09f9491"]),
            // Not UTF-8: taken as Windows-1252.
            ([0x63, 0xe9], ["006300e90000"], ["63e9", "63c3a9"]),
            ([0x80], ["20ac0000", "00800000"], ["80", "e282ac"]),
        ] as [([UInt8], [String], [String])])
    func `spellings, the right one first`(typed: [UInt8], texts: [String], octets: [String]) {
        let password = PKCS12Password(SecretBytes(copying: typed))
        #expect(password.texts.map { Hex.encode($0.copyExposed()) } == texts)
        #expect(password.octets.map { Hex.encode($0.copyExposed()) } == octets)
        #expect(password.isEmpty == typed.isEmpty && password.isBeyondASCII == typed.contains { $0 >= 0x80 })
    }

    @Test func `none is empty`() {
        #expect(PKCS12Password(nil).texts == PKCS12Password(SecretBytes(copying: [])).texts)
    }
}
