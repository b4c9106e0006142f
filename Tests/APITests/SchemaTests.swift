import Encodings
import Testing

@testable import API

@Suite struct SchemaTests {
    private func text(_ schema: Schema) -> String {
        var writer = JSONWriter()
        schema.writeBody(into: &writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    @Test func `is written as JSON Schema`() {
        #expect(text(.text("A name.", maximum: 9)) == #"{"type":"string","maxLength":9,"description":"A name."}"#)
        #expect(text(.time()) == #"{"type":"string","format":"date-time"}"#)
        #expect(text(.oneOf(["a", "b"]).orNull) == #"{"type":["string","null"],"enum":["a","b",null]}"#)
        #expect(text(.integer(nil, 1...9)) == #"{"type":"integer","minimum":1,"maximum":9}"#)
        #expect(text(.list(of: .flag())) == #"{"type":"array","items":{"type":"boolean"}}"#)
        #expect(text(.anything("Any.")) == #"{"description":"Any."}"#)
        #expect(
            text(.object("X", nil, [.required("a", .flag()), .optional("b", .object("Y", nil, []))]))
                == ##"{"type":"object","properties":{"a":{"type":"boolean"},"b":{"$ref":"#/components/schemas/Y"}},"required":["a"],"additionalProperties":false}"##
        )
    }

    @Test func `finds every name below it`() {
        let inner = Schema.object("Inner", nil, [])
        let outer = Schema.object("Outer", nil, [.required("a", .list(of: inner)), .required("b", .either(inner, .flag()))])
        #expect(Set(outer.named.compactMap(\.name)) == ["Outer", "Inner"])
        #expect(Schema.page(of: outer).name == "OuterPage")
        #expect(Schema.object("", nil, []).demandsNothing && !outer.demandsNothing)
    }
}
