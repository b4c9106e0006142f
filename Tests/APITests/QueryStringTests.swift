import Encodings
import Problems
import Testing

@testable import API

@Suite struct QueryStringTests {
    private let known = [QueryParameter.limit, .after("an id"), QueryParameter("public_key_hash", .text()), QueryParameter("from", .time())]

    @Test func `reads each parameter once, decoded`() throws {
        let query = try QueryString("limit=7&after=mer%5F00&public_key_hash=a%2Bb+c%2F%3D", known)
        #expect(try query.limit() == 7)
        #expect(query.text("after") == "mer_00")
        // A plus sign is itself: base64 needs it.
        #expect(query.text("public_key_hash") == "a+b+c/=")
        #expect(try QueryString(nil, known).limit() == 50)
        #expect(try QueryString("", []).text("limit") == nil)
        #expect(try QueryString("&&limit=1&", known).limit() == 1)
    }

    @Test(arguments: [
        ("limt=1", APIProblem.parameterUnknown), ("limit=1&limit=2", .parameterDoubled), ("limit=%zz", .parameterMalformed), ("limit=%", .parameterMalformed),
        ("after=%ff", .parameterMalformed), ("%6cimit=1&limit=1", .parameterDoubled),
    ])
    func `refuses what a call does not know`(_ text: String, _ problem: APIProblem) {
        #expect(throws: Problem.api(problem)) { try QueryString(text, known) }
    }

    @Test(arguments: ["0", "101", "-1", "+1", "1.0", "", "abc", "99999999999999999999"])
    func `a page has 1 to 100 values`(_ text: String) throws {
        let query = try QueryString("limit=\(text)", known)
        #expect(throws: Problem.api(.parameterInvalid)) { try query.limit() }
    }

    @Test func `typed values are checked`() throws {
        let query = try QueryString("after=x&public_key_hash=x&from=x", known)
        #expect(throws: Problem.api(.parameterInvalid)) { try query.id("after", MerchantID.self) }
        #expect(throws: Problem.api(.parameterInvalid)) { try query.digest("public_key_hash") }
        #expect(throws: Problem.api(.parameterInvalid)) { try query.time("from") }
    }
}
