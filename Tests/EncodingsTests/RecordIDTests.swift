import Encodings
import Testing

private enum Apple: RecordKind { static let prefix = "apple" }

@Suite struct RecordIDTests {
    @Test func `is a prefix and 32 digits, and reads back`() throws {
        let id = RecordID<Apple>(bits: 0x0123_4567_89ab_cdef_0123_4567_89ab_cdef)
        #expect(id.text == "apple_0123456789abcdef0123456789abcdef")
        #expect(id.description == id.text)
        #expect(RecordID<Apple>(id.text) == id)
        #expect(RecordID<Apple>(bits: 1).text == "apple_" + String(repeating: "0", count: 31) + "1")
    }

    @Test(arguments: [
        "", "apple", "apple_", "apple_0123456789abcdef0123456789abcde", "apple_0123456789abcdef0123456789abcdef0", "pear_0123456789abcdef0123456789abcdef",
        "apple-0123456789abcdef0123456789abcdef", "apple_0123456789ABCDEF0123456789abcdef", "apple_0123456789abcdeg0123456789abcdef",
        "Apple_0123456789abcdef0123456789abcdef", " apple_0123456789abcdef0123456789abcde",
    ])
    func `has one spelling`(_ text: String) {
        #expect(RecordID<Apple>(text) == nil)
    }

    @Test func `random ids differ`() {
        #expect(Set((0..<1000).map { _ in RecordID<Apple>.random() }).count == 1000)
    }

    @Test func `is ordered by its bits`() {
        #expect(RecordID<Apple>(bits: 1) < RecordID<Apple>(bits: 2))
        #expect(RecordID<Apple>(bits: .max) > RecordID<Apple>(bits: 0))
    }
}
