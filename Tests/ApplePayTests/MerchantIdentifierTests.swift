import ApplePay
import Encodings
import Problems
import Testing

@Suite struct MerchantIdentifierTests {
    @Test(arguments: [
        "merchant.com.example.shop", "merchant.basistheory.sales", "merchant.test.spreedly.123merchant", "merchant.com.seatgeek.SeatGeek",
        "merchant.com.uic.sam-uic-offers", "merchant.x", "merchant." + String(repeating: "a", count: 246),
    ])
    func `takes what Apple's certificates hold`(_ text: String) throws {
        let identifier = try MerchantIdentifier(text)
        #expect(identifier.text == text)
        #expect(identifier.description == text)
    }

    @Test(arguments: [
        "", "merchant", "merchant.", "Merchant.com.example", "com.example.shop", " merchant.com.example", "merchant.com.example\n", "merchant..example",
        "merchant.com.", "merchant.com.example shop", "merchant.com.exämple", "merchant.com.example_shop", "merchant.com.example\u{200b}",
        "merchant.com.example\u{0}", "\u{feff}merchant.com.example", "merchant.com/example", "merchаnt.com.example",
        "merchant." + String(repeating: "a", count: 247),
    ])
    func `refuses the rest`(_ text: String) {
        #expect(throws: Problem.merchantIdentifier(.malformed)) { try MerchantIdentifier(text) }
    }

    @Test(arguments: [("merchant.com.example\u{200b}", "U+200B at position 21"), ("merchant.a b", "U+0020 at position 11"), ("merchant.a_b", "U+005F (\"_\")")])
    func `names a foreign character by its code point and place`(_ text: String, _ name: String) {
        do throws(Problem) {
            _ = try MerchantIdentifier(text)
            Issue.record("accepted")
        } catch {
            #expect(error.title.contains(name), "\(error.title)")
        }
    }

    /// The worked example of Apple's real token of 2014.
    @Test func `hashes the exact bytes`() throws {
        let identifier = try MerchantIdentifier("merchant.com.seatgeek.SeatGeek")
        #expect(identifier.hash.hex == "f938f4658ca2c1c9c38b8dfcb5dbb2a2245607dde2f114620e8468ef52d208ca")
        let lower = try MerchantIdentifier("merchant.com.seatgeek.seatgeek")
        #expect(lower != identifier && lower.hash != identifier.hash)
        #expect(lower.differsOnlyInCase(from: identifier))
        #expect(!identifier.differsOnlyInCase(from: identifier))
        #expect(!identifier.differsOnlyInCase(from: try MerchantIdentifier("merchant.com.example")))
    }

    @Test(arguments: [
        ("merchant.com.example", false), (" merchant.com.example", true), ("merchant.com.example\r\n", true), ("\t merchant.com.example \n", true),
    ])
    func `reading takes ASCII blanks off and says so`(_ text: String, _ trimmed: Bool) throws {
        let read = try MerchantIdentifier.reading(text)
        #expect(read.identifier.text == "merchant.com.example")
        #expect(read.trimmed == trimmed)
    }

    @Test(arguments: ["\u{a0}merchant.com.example", "merchant.com.example\u{2028}", "   ", "mer chant.com"])
    func `reading takes nothing else off`(_ text: String) {
        #expect(throws: Problem.merchantIdentifier(.malformed)) { try MerchantIdentifier.reading(text) }
    }
}
