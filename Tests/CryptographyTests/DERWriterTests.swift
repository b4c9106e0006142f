import Encodings
import Testing

@testable import Cryptography

struct DERWriterTests {
    private func written(_ body: (inout DERWriter) -> Void) -> String {
        var writer = DERWriter()
        body(&writer)
        return Hex.encode(writer.bytes)
    }

    @Test(arguments: [
        (0, "020100"), (127, "02017f"), (128, "02020080"), (256, "02020100"), (-1, "0201ff"), (-128, "020180"), (-129, "0202ff7f"),
        (Int.max, "02087fffffffffffffff"),
    ]) func `integers`(_ value: Int, _ encoded: String) { #expect(written { $0.integer(value) } == encoded) }

    @Test(arguments: [("", "020100"), ("00", "020100"), ("0080", "02020080"), ("7f", "02017f"), ("000001", "020101")])
    func `magnitudes`(_ magnitude: String, _ encoded: String) throws {
        let bytes = try hex(magnitude)
        #expect(written { $0.integer(magnitude: bytes) } == encoded)
    }

    @Test(arguments: [0, 1, 127, 128, 255, 256, 65_535, 65_536]) func `lengths read back`(_ count: Int) throws {
        var writer = DERWriter()
        writer.octetString([UInt8](repeating: 7, count: count))
        var reader = DERReader(writer.bytes)
        #expect(try reader.octetString().count == count)
        try reader.finish()
    }

    @Test(arguments: ["1949-12-31T23:59:59Z", "1950-01-01T00:00:00Z", "2026-11-01T12:00:00Z", "2049-12-31T23:59:59Z", "2050-01-01T00:00:00Z"])
    func `times read back`(_ text: String) throws {
        let time = try #require(Timestamp(rfc3339: text))
        var writer = DERWriter()
        writer.time(time)
        var reader = DERReader(writer.bytes)
        #expect(reader.nextTag == ((1950..<2050).contains(time.year) ? .utcTime : .generalizedTime))
        #expect(try reader.time() == time)
    }

    @Test(arguments: [(UInt32(0), "030100"), (1, "03020780"), (1 << 4, "03020308"), (0b110_0000, "03020106"), (1 << 8, "0303070080")])
    func `named bits`(_ flags: UInt32, _ encoded: String) throws {
        #expect(written { $0.bitString(flags: flags) } == encoded)
        var reader = DERReader(try hex(encoded))
        #expect(try reader.bitStringOfFlags() == flags)
    }

    @Test func `a SET OF is in order`() {
        #expect(written { $0.setOf([[0x04, 0x01, 0x02], [0x04, 0x00], [0x02, 0x01, 0x05]]) } == "3108" + "020105" + "0400" + "040102")
    }

    @Test func `indefinite lengths`() {
        #expect(written { $0.indefinite(.sequence) { $0.indefinite(.context(0)) { $0.null() } } } == "3080a080050000000000")
    }
}
