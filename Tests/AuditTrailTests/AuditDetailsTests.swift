import Testing

@testable import AuditTrail

@Suite struct AuditDetailsTests {
    @Test func `keeps order, replaces and removes`() {
        var details: AuditDetails = ["b": 1, "a": "x", "b": 2]
        details["c"] = true
        details["a"] = nil
        #expect(details.facts.map(\.name) == ["b", "c"])
        #expect(details["b"] == .integer(2))
        #expect(details["z"] == nil)
        #expect(String(decoding: details.json, as: UTF8.self) == #"{"b":2,"c":true}"#)
    }

    @Test(arguments: [[:], ["a": "x"], ["a": "\"\\\n\u{0}é𝄞", "b": .integer(.min), "c": false]] as [AuditDetails])
    func `comes back from its text`(details: AuditDetails) {
        #expect(AuditDetails(json: String(decoding: details.json, as: UTF8.self)) == details)
    }

    @Test(arguments: ["", "[]", "1", "{", #"{"a":{}}"#, #"{"a":1.5}"#, #"{"a":null}"#]) func `refuses other text`(text: String) {
        #expect(AuditDetails(json: text) == nil)
    }
}
