import Encodings
import Foundation
import Testing

@Suite struct JSONDocumentTests {
    private func parsed(_ text: String) throws -> JSONValue { try JSONDocument(Array(text.utf8)).root }

    @Test(arguments: [
        "{}", "[]", "null", "true", "false", "0", "-0", "1", "-12.5e+3", "1E9", "0.0", "\"\"", "\"a\"", " [ 1 , 2 ] ", "\t\r\n{\"a\":{\"b\":[null,{}]}}\n",
        "\"\\u00e9\\ud83d\\udd11\\n\\/\"", "\"é🔑\u{7f}\u{2028}\"", "[[],[[]],{}]",
    ])
    func `reads what Foundation reads`(_ text: String) throws {
        #expect(throws: Never.self) { try parsed(text) }
        #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed) }
    }

    @Test(arguments: [
        ("", 0), (" ", 1), ("{", 1), ("[", 1), ("[1", 2), ("[1,]", 3), ("[,1]", 1), ("{,}", 1), ("{\"a\"}", 4), ("{\"a\":}", 5), ("{\"a\":1,}", 7),
        ("{a:1}", 1),
        ("{1:2}", 1), ("[1 2]", 3), ("{\"a\":1 \"b\":2}", 7), ("[1]]", 3), ("{}x", 2), ("tru", 0), ("True", 0), ("nul", 0), ("01", 1), ("-", 0), ("+1", 0),
        (".5", 0), ("1.", 2), ("1e", 2), ("1e+", 3), ("0x1", 1), ("NaN", 0), ("Infinity", 0), ("\"", 1), ("\"\\", 1), ("\"\\x\"", 1), ("\"\\u12\"", 1),
        ("\"\\u12g4\"", 5), ("'a'", 0), ("[1}", 2), ("{\"a\":1]", 6), ("/* */1", 0), ("\u{feff}1", 0), ("\"a\nb\"", 2), ("\"\t\"", 1), ("\"\u{0}\"", 1),
    ])
    func `refuses the rest, at its place`(_ text: String, _ offset: Int) {
        #expect(throws: JSONError.malformed(offset: offset)) { try parsed(text) }
    }

    /// RFC 3629: overlong forms, surrogates, beyond U+10FFFF, cut and lone continuation bytes.
    @Test(
        arguments: [
            [0x80], [0xbf], [0xc0, 0x80], [0xc1, 0xbf], [0xc2], [0xc2, 0x41], [0xe0, 0x80, 0x80], [0xe0, 0x9f, 0xbf], [0xe1, 0x80], [0xe1, 0x80, 0x41],
            [0xed, 0xa0, 0x80], [0xed, 0xbf, 0xbf], [0xf0, 0x80, 0x80, 0x80], [0xf0, 0x8f, 0xbf, 0xbf], [0xf4, 0x90, 0x80, 0x80], [0xf5, 0x80, 0x80, 0x80],
            [0xff], [0xfe], [0xf1, 0x80, 0x80],
        ] as [[UInt8]])
    func `refuses what is not UTF-8`(_ sequence: [UInt8]) {
        #expect(throws: JSONError.malformed(offset: 1)) { try JSONDocument(Array("\"".utf8) + sequence + Array("\"".utf8)) }
        #expect(throws: JSONError.malformed(offset: 1)) { try JSONDocument(Array("\"".utf8) + sequence) }
    }

    @Test func `every scalar's UTF-8 is read`() throws {
        for value in stride(from: UInt32(0x20), through: 0x10ffff, by: 61) {
            guard let scalar = Unicode.Scalar(value), scalar != "\"", scalar != "\\" else { continue }
            #expect(try parsed("\"\(scalar)\"").string == String(scalar))
        }
    }

    @Test func `is bounded in depth without recursion`() throws {
        let deep = { (count: Int) in String(repeating: "[", count: count) + String(repeating: "]", count: count) }
        #expect(throws: Never.self) { try parsed(deep(32)) }
        #expect(throws: JSONError.tooDeep(limit: 32, offset: 32)) { try parsed(deep(33)) }
        #expect(throws: JSONError.tooDeep(limit: 32, offset: 32)) { try parsed(String(repeating: "[", count: 1_000_000)) }
        #expect(throws: JSONError.tooDeep(limit: 2, offset: 10)) { try JSONDocument(Array("{\"a\":{\"b\":[]}}".utf8), maximumDepth: 2) }
        #expect(throws: Never.self) { try parsed("[" + Array(repeating: "[]", count: 1000).joined(separator: ",") + "]") }
    }

    @Test func `gives members, elements and source in order`() throws {
        let root = try parsed(#" {"a": [1, "x", {"n":null}], "b":true , "a\u0062":-1.50e2} "#)
        #expect(root.kind == .object)
        #expect(root.members.map(\.name) == ["a", "b", "ab"])
        let list = try #require(root.member("a"))
        #expect(list.elements.map(\.kind) == [.number, .string, .object])
        #expect(String(decoding: list.source, as: UTF8.self) == #"[1, "x", {"n":null}]"#)
        #expect(list.elements[1].range.count == 3)
        #expect(root.member("b")?.bool == true)
        #expect(root.member("ab")?.numberText == "-1.50e2")
        #expect(root.member("c") == nil)
        #expect(list.member("a") == nil)
        #expect(root.elements.isEmpty && list.members.isEmpty)
        #expect(list.elements[2].member("n")?.isNull == true)
    }

    @Test func `keeps numbers as they were written`() throws {
        for (text, integer) in [("1", 1), ("-7", -7), ("1.0", nil), ("1e3", nil), ("9223372036854775807", Int.max), ("9223372036854775808", nil), ("-0", 0)]
            as [(String, Int?)]
        {
            let value = try parsed(text)
            #expect(value.numberText == text)
            #expect(value.integer == integer)
        }
        #expect(try parsed("\"1\"").integer == nil)
        #expect(try parsed("\"1\"").numberText == nil)
    }

    @Test(arguments: [
        (#""a\"\\\/\b\f\n\r\t""#, "a\"\\/\u{8}\u{c}\n\r\t"), (#""\u0041\u00e9\u20AC""#, "Aé€"), (#""\ud83d\udd11""#, "🔑"), (#""\ud83d""#, "\u{fffd}"),
        (#""\udd11x""#, "\u{fffd}x"), (#""\ud83d\u0041""#, "\u{fffd}A"), (#""\ud83dx""#, "\u{fffd}x"), (#""\ud83d\ud83d\udd11""#, "\u{fffd}🔑"),
        (#""\u0000""#, "\u{0}"),
    ])
    func `resolves escapes`(_ json: String, _ text: String) throws {
        let value = try parsed(json)
        #expect(value.string == text)
        #expect(value.stringBytes == Array(text.utf8))
        #expect(value.stringSlice.map(Array.init) == Array(text.utf8))
    }

    @Test(arguments: [
        (#"{"a":1,"b":2}"#, nil), (#"{"a":1,"a":2}"#, "a"), (#"{"a":1,"\u0061":2}"#, "a"), (#"{"x":{"b":1,"c":2,"b":3}}"#, "b"), (#"[{"a":1},{"a":1}]"#, nil),
        (#"[[{"é":1,"\u00e9":1}]]"#, "é"), (#"{"a":{"a":{"a":1}}}"#, nil), (#"{"":1,"":1}"#, ""), (#"{"a":1,"A":2}"#, nil),
    ])
    func `tells a doubled member at any depth`(_ json: String, _ name: String?) throws {
        #expect(try parsed(json).doubledMember == name)
    }

    @Test func `tells a doubled member below a value only`() throws {
        let root = try parsed(#"{"good":{"a":1},"bad":{"b":1,"b":2},"c":3}"#)
        #expect(root.doubledMember == "b")
        #expect(root.member("good")?.doubledMember == nil)
        #expect(root.member("bad")?.doubledMember == "b")
        #expect(root.member("c")?.doubledMember == nil)
        #expect(try parsed(#"{"a":1,"a":2}"#).member("a")?.integer == 1)
    }

    @Test func `finds the double among many members`() throws {
        let names = (0..<500).map { "\"n\($0)\":0" }
        #expect(try parsed("{\(names.joined(separator: ","))}").doubledMember == nil)
        #expect(try parsed("{\(names.joined(separator: ",")),\"n250\":1}").doubledMember == "n250")
        for count in [15, 16, 17, 18] {
            let some = names.prefix(count)
            #expect(try parsed("{\(some.joined(separator: ","))}").doubledMember == nil)
            #expect(try parsed("{\(some.joined(separator: ",")),\"n0\":1}").doubledMember == "n0")
        }
    }

    @Test func `any cut of a good text is refused`() {
        let text = Array(#"{"a":["é",{"b":-1.5e3,"c":"\u00e9"}],"d":null}"#.utf8)
        for count in 0..<text.count {
            #expect(throws: JSONError.self) { try JSONDocument(Array(text.prefix(count))) }
        }
    }
}
