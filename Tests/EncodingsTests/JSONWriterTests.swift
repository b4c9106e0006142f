import Encodings
import Foundation
import Testing

@Suite struct JSONWriterTests {
    private func text(_ body: (inout JSONWriter) -> Void) -> String { String(decoding: JSONWriter.object(body), as: UTF8.self) }

    @Test func `writes members in order, compact, commas in their places`() {
        let json = text {
            $0.member("text", "a")
            $0.member("none", nil as String?)
            $0.member("number", -7)
            $0.member("no_number", nil as Int?)
            $0.member("yes", true)
            $0.member("time", Timestamp(seconds: 0))
            $0.member("list", ["x", "y"])
            $0.member("empty", [])
            $0.member("inner") { $0.object { $0.member("raw", raw: "1.50".utf8) } }
            $0.member("rows") {
                $0.array {
                    $0.object { $0.member("a", 1) }
                    $0.object { _ in }
                    $0.null()
                }
            }
        }
        #expect(
            json == #"{"text":"a","none":null,"number":-7,"no_number":null,"yes":true,"time":"1970-01-01T00:00:00Z","list":["x","y"],"empty":[],"#
                + #""inner":{"raw":1.50},"rows":[{"a":1},{},null]}"#)
    }

    @Test(arguments: ["", "plain", "\"quotes\"", "back\\slash", "line\nbreak\r\ttab", "\u{0}\u{1}\u{1f}\u{7f}", "é ü 🔑 \u{2028}", "</script>"])
    func `every text comes back through two readers`(_ value: String) throws {
        let bytes = JSONWriter.object { $0.member(value, value) }
        let ours = try JSONDocument(bytes).root
        #expect(ours.members.map(\.name) == [value])
        #expect(ours.member(value)?.string == value)
        #expect(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: String] == [value: value])
    }
}
