import Encodings
import Foundation
import Testing

@Suite struct Base64Tests {
    /// RFC 4648, section 10.
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"),
    ])
    func `gives the vectors of RFC 4648`(_ text: String, _ encoded: String) {
        #expect(Base64.encode(Array(text.utf8)) == encoded)
        #expect(Base64.encodeURL(Array(text.utf8)) == encoded.filter { $0 != "=" })
        #expect(Base64.decode(encoded) == Array(text.utf8))
        #expect(Base64.decode(encoded.filter { $0 != "=" }) == Array(text.utf8))
    }

    @Test func `agrees with Foundation at every length`() {
        var generator = SystemRandomNumberGenerator()
        for count in 0..<200 {
            let bytes = (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
            let text = Data(bytes).base64EncodedString()
            #expect(Base64.encode(bytes) == text)
            #expect(Base64.decode(text) == bytes)
            #expect(Base64.decode(Base64.encodeURL(bytes)) == bytes)
        }
    }

    @Test(arguments: [
        "-_-_", "+/+/", "-/+_", " -_-_", "-_\n-_", "-\r\n_\t- _\n",
    ])
    func `reads both alphabets, mixed too, with blanks anywhere`(_ text: String) {
        #expect(Base64.decode(text) == [0xfb, 0xff, 0xbf])
    }

    @Test(arguments: ["QQ==", "QQ=", "QQ", "QQ= =", "Q Q", "QQ==\n"])
    func `takes padding that is right, short or absent`(_ text: String) {
        #expect(Base64.decode(text) == [0x41])
    }

    @Test(arguments: [
        "Q", "QQQQQ", "QQ===", "QUI==", "QUJD=", "=", "====", "QQ==QQ==", "Q=Q=", "QQ=Q", "Q*==", "QUJD*", "QQ==.", "é===", "QQ\u{0}=", "{\"a\":1}", "QQ\u{b}=",
    ])
    func `refuses other characters, a lone last one, and anything behind the padding`(_ text: String) {
        #expect(Base64.decode(text) == nil)
    }

    @Test func `reads a slice by its own bounds`() {
        #expect(Base64.decode(Array("**Zm9v**".utf8)[2..<6]) == Array("foo".utf8))
    }

    @Test func `every byte outside the alphabets is refused wherever it stands`() {
        let legal = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_= \t\r\n".utf8)
        for byte in UInt8.min...UInt8.max where !legal.contains(byte) {
            for place in 0..<12 {
                var text = Array("QUJDQUJDQUJD".utf8)
                text[place] = byte
                #expect(Base64.decode(text[...]) == nil)
            }
        }
    }
}
