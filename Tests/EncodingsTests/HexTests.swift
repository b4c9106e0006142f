import Encodings
import Testing

@Suite struct HexTests {
    @Test(arguments: [([], ""), ([0], "00"), ([0x0f, 0xf0, 0xab], "0ff0ab"), ([0xff, 0x00, 0x10], "ff0010")] as [([UInt8], String)])
    func `writes two lower-case digits a byte and reads them back`(_ bytes: [UInt8], _ text: String) {
        #expect(Hex.encode(bytes) == text)
        #expect(Hex.encodeToBytes(bytes) == Array(text.utf8))
        #expect(Hex.decode(text) == bytes)
        #expect(Hex.decode(text.uppercased()) == bytes)
    }

    @Test(arguments: ["0", "000", "0g", "g0", " 00", "00 ", "0x00", "00\n", "é0", "００"])
    func `refuses everything but pairs of digits`(_ text: String) {
        #expect(Hex.decode(text) == nil)
    }

    @Test func `reads a slice by its own bounds`() {
        let text = Array("zz0aff".utf8)
        #expect(Hex.decode(text[2...]) == [0x0a, 0xff])
        #expect(Hex.decode(text[2..<5]) == nil)
    }

    @Test func `knows the value of every digit and of nothing else`() {
        let known = (UInt8.min...UInt8.max).compactMap { byte in Hex.value(byte).map { (byte, $0) } }
        #expect(known.map(\.0) == Array("0123456789ABCDEFabcdef".utf8))
        #expect(known.map(\.1) == Array(0...15) + Array(10...15))
    }
}
