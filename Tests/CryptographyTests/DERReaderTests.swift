import Encodings
import Testing

@testable import Cryptography

struct DERReaderTests {
    private func error(_ text: String, _ rules: DERReader.Rules = .der, _ body: (inout DERReader) throws(DERError) -> Void) throws -> DERError.Reason? {
        var reader = DERReader(try hex(text), rules: rules)
        do throws(DERError) {
            try body(&reader)
            try reader.finish()
            return nil
        } catch { return error.reason }
    }

    @Test(arguments: [
        ("", DERError.Reason.truncated), ("30", .truncated), ("3001", .truncated), ("0402ff", .truncated), ("3080", .encoding), ("30800000", .encoding),
        ("048101ff", .encoding), ("04820001ff", .encoding), ("0485000000000100", .encoding), ("1f2000", .encoding), ("0000", .encoding),
        ("0484ffffffff00", .truncated), ("040100ff", .trailing),
    ]) func `DER has one form`(_ text: String, _ reason: DERError.Reason) throws {
        #expect(try error(text) { (reader) throws(DERError) in _ = try reader.next() } == reason)
    }

    @Test(arguments: ["30800000", "3080040100 0000", "30803080 0000 0000", "308101 00".replacing("00", with: "05"), "24800401ff0401ee0000"])
    func `BER takes indefinite lengths`(_ text: String) throws {
        let bytes = try hex(text)
        guard bytes[1] == 0x80 else { return }
        var reader = DERReader(bytes, rules: .ber)
        let element = try reader.next()
        #expect(element.isIndefinite && element.whole == 0..<bytes.count && element.content == 2..<bytes.count - 2)
        #expect(reader.isAtEnd)
    }

    @Test(arguments: ["3080", "308000", "30800401", "3080308000", "04800000", "30800000ff"]) func `an indefinite element must end`(_ text: String) throws {
        #expect(try error(text, .ber) { (reader) throws(DERError) in _ = try reader.next() } != nil)
    }

    @Test func `depth is bounded`() throws {
        let deep = [UInt8](repeating: 0, count: 4000).enumerated().map { $0.offset % 2 == 0 ? UInt8(0x30) : 0x80 } + [UInt8](repeating: 0, count: 4000)
        var reader = DERReader(deep, rules: .ber)
        #expect(throws: DERError.self) { _ = try reader.next() }
        var nested: [UInt8] = []
        for _ in 0..<40 { nested = DERWriter.sequence { $0.raw(nested) } }
        var inner = DERReader(nested)
        #expect(throws: DERError(.tooDeep, at: 0)) {
            do {
                while true { inner = try inner.enter(.sequence) }
            } catch let error as DERError { throw DERError(error.reason, at: 0) }
        }
    }

    @Test(arguments: [("0201 00", 0), ("02017f", 127), ("02020080", 128), ("02047fffffff", 0x7fff_ffff)])
    func `small integers`(_ text: String, _ value: Int) throws {
        var reader = DERReader(try hex(text))
        #expect(try reader.smallInteger() == value)
    }

    @Test(arguments: ["0200", "0202007f", "0202ff80", "0201ff", "02050080000000"]) func `other integers are refused`(_ text: String) throws {
        #expect(try error(text) { (reader) throws(DERError) in _ = try reader.smallInteger() } != nil)
    }

    @Test(arguments: [
        ("170d3231303930313139303330365a", "2021-09-01T19:03:06Z"), ("170d3439313233313233353935395a", "2049-12-31T23:59:59Z"),
        ("170d3530303130313030303030305a", "1950-01-01T00:00:00Z"), ("180f32303530303130313030303030305a", "2050-01-01T00:00:00Z"),
    ]) func `times`(_ text: String, _ time: String) throws {
        var reader = DERReader(try hex(text))
        #expect(try reader.time() == Timestamp(rfc3339: time))
    }

    @Test(arguments: [
        "170b323130393031313930335a", "170d323130393331313930333036 5a", "170d3231303233303030303030305a", "17113231303930313139303330362b30303030",
        "180f3230323130393031313930333036 30", "18113230323130393031313930333036 2e315a", "170d3231303930313234303330365a", "170d3231303930313139303330202e",
        "1700", "0401ff",
    ]) func `other times are refused`(_ text: String) throws {
        #expect(try error(text) { (reader) throws(DERError) in _ = try reader.time() } != nil)
    }

    @Test(arguments: [
        ("0c03c3a962", "éb"), ("13024142", "AB"), ("1402e962", "éb"), ("1e0400e90062", "éb"), ("1c08000000e900000062", "éb"), ("1e04d83dde00", "😀"),
    ]) func `text`(_ encoded: String, _ text: String) throws {
        var reader = DERReader(try hex(encoded))
        #expect(try reader.text() == text)
    }

    @Test(arguments: ["0c01ff", "1601e9", "1e0100", "1e02d83d", "1c0400110000", "0401ff"]) func `other text is refused`(_ encoded: String) throws {
        #expect(try error(encoded) { (reader) throws(DERError) in _ = try reader.text() } != nil)
    }

    @Test(arguments: [
        ("0402beef", "beef"), ("24060401be0401ef", "beef"), ("24800401be24800401ef00000000", "beef"), ("2400", ""), ("2480 2403 0401aa 0401bb 0000", "aabb"),
    ]) func `octet strings in segments`(_ encoded: String, _ octets: String) throws {
        var reader = DERReader(try hex(encoded), rules: .ber)
        #expect(Array(try reader.octets()) == (try hex(octets)))
        try reader.finish()
        guard encoded.hasPrefix("24") else { return }
        #expect(try error(encoded) { (reader) throws(DERError) in _ = try reader.octets() } != nil)
    }

    @Test func `named bits`() throws {
        var reader = DERReader(try hex("030203 08"))
        #expect(try reader.bitStringOfFlags() == 1 << 4)
        for bad in ["0300", "030108", "030101", "03060000000000 00"] {
            #expect(try error(bad) { (reader) throws(DERError) in _ = try reader.bitStringOfFlags() } != nil)
        }
    }

    /// Whatever stands there, reading ends, inside the bounds.
    @Test func `no bytes bring it down`() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 0...24)).map { _ in
                [0x00, 0x01, 0x02, 0x04, 0x24, 0x30, 0x31, 0x80, 0x81, 0xa0, UInt8.random(in: 0...255, using: &generator)].randomElement() ?? 0
            }
            var reader = DERReader(bytes, rules: .ber)
            while !reader.isAtEnd {
                var copy = reader
                _ = try? copy.octets()
                guard let element = try? reader.next() else { break }
                #expect(element.whole.upperBound <= bytes.count && element.content.upperBound <= element.whole.upperBound)
                var inner = try? reader.inside(element)
                _ = try? inner?.text()
            }
        }
    }
}
