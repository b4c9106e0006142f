import Encodings
import Problems
import Testing

@testable import API

@Suite struct SchemaCheckTests {
    private static let schema = Schema.object(
        "Order", nil,
        [
            .required("name", .text(maximum: 5)), .optional("kind", .oneOf(["a", "b"])), .optional("count", .integer(nil, 1...9)), .optional("on", .flag()),
            .optional("tags", .list(of: .text())), .optional("token", .anything()), .optional("age", .integer(nil, 1...9).orNull),
            .optional("inner", .object("Inner", nil, [.required("x", .integer())])),
            .optional("many", .list(of: .object("Each", nil, [.optional("y", .flag())]))),
            .optional("shape", .either(.oneOf(["circle"]), .integer())),
        ])

    private func problem(_ json: String) -> (code: String, member: String?, pointer: String?)? {
        do throws(Problem) {
            _ = try RequestObject(Array(json.utf8), Self.schema)
            return nil
        } catch {
            func fact(_ name: String) -> String? {
                guard case .text(let text)? = error.context.first(where: { $0.name == name })?.value else { return nil }
                return text
            }
            return (error.code, fact("member"), fact("pointer"))
        }
    }

    @Test(arguments: [
        #"{"name":"abc"}"#, #"{"name":"abcde","kind":"a","count":9,"on":false,"tags":["x"],"inner":{"x":-1},"many":[{},{"y":true}],"age":null}"#,
        #"{"name":"é","kind":null,"count":null,"inner":null,"shape":"circle"}"#, #"{"name":"a","shape":7}"#,
        // What others judge may be anything, twice too.
        #"{"name":"a","token":{"a":1,"a":2,"b":{"c":1,"c":1}}}"#, #"{"token":[{"a":1,"a":1}],"name":""}"#, #"{"na\u006de":"a"}"#,
    ])
    func `takes what fits`(_ json: String) {
        #expect(problem(json) == nil)
    }

    @Test(arguments: [
        ("{}", "request.member_missing", "name", "/name"), (#"{"name":1}"#, "request.member_invalid", "name", "/name"),
        (#"{"name":null}"#, "request.member_invalid", "name", "/name"), (#"{"name":"abcdef"}"#, "request.member_invalid", "name", "/name"),
        (#"{"name":"a","kind":"c"}"#, "request.member_invalid", "kind", "/kind"), (#"{"name":"a","count":10}"#, "request.member_invalid", "count", "/count"),
        (#"{"name":"a","count":1.0}"#, "request.member_invalid", "count", "/count"),
        (#"{"name":"a","count":"1"}"#, "request.member_invalid", "count", "/count"),
        (#"{"name":"a","on":0}"#, "request.member_invalid", "on", "/on"), (#"{"name":"a","tags":"x"}"#, "request.member_invalid", "tags", "/tags"),
        (#"{"name":"a","tags":["x",1]}"#, "request.member_invalid", "tags", "/tags/1"),
        (#"{"name":"a","inner":[]}"#, "request.member_invalid", "inner", "/inner"),
        (#"{"name":"a","inner":{}}"#, "request.member_missing", "x", "/inner/x"),
        (#"{"name":"a","inner":{"x":true}}"#, "request.member_invalid", "x", "/inner/x"),
        (#"{"name":"a","inner":{"x":1,"z":1}}"#, "request.member_unknown", "z", "/inner/z"),
        (#"{"name":"a","many":[{},{"y":1}]}"#, "request.member_invalid", "y", "/many/1/y"),
        (#"{"name":"a","shape":"square"}"#, "request.member_invalid", "shape", "/shape"),
        (#"{"name":"a","nmae":"b"}"#, "request.member_unknown", "nmae", "/nmae"), (#"{"name":"a","a/b~c":1}"#, "request.member_unknown", "a/b~c", "/a~1b~0c"),
        (#"{"name":"a","name":"b"}"#, "request.member_doubled", "name", "/name"), (#"{"name":"a","na\u006de":"b"}"#, "request.member_doubled", "name", "/name"),
        (#"{"name":"a","inner":{"x":1,"x":2}}"#, "request.member_doubled", "x", "/inner/x"),
        (#"{"name":"a","token":{"a":1,"a":2},"many":[{"y":true,"y":true}]}"#, "request.member_doubled", "y", "/many/0/y"),
        (#"{"name":"a","other":{"q":1,"q":2}}"#, "request.member_doubled", "q", "/other/q"),
    ])
    func `names what does not fit, and where`(_ json: String, _ code: String, _ member: String, _ pointer: String) throws {
        let found = try #require(problem(json))
        #expect(found == (code, member, pointer))
    }

    @Test(arguments: [("[]", ""), ("1", ""), (#""x""#, ""), ("null", "")])
    func `the body is an object`(_ json: String, _ pointer: String) throws {
        let found = try #require(problem(json))
        #expect(found.code == "request.member_invalid" && found.pointer == pointer)
    }

    @Test func `broken JSON has an offset, deep JSON a limit`() {
        #expect(throws: RequestObject.problem(.malformed(offset: 9))) { try RequestObject(Array(#"{"name":x}"#.utf8), Self.schema) }
        #expect(problem(#"{"name":x}"#)?.code == "request.json_malformed")
        #expect(problem("")?.code == "request.json_malformed")
        let deep = #"{"name":"a","token":\#(String(repeating: "[", count: 32))\#(String(repeating: "]", count: 32))}"#
        #expect(problem(deep)?.code == "request.too_deep")
        #expect(problem(deep.replacing("[[", with: "[").replacing("]]", with: "]")) == nil)
    }

    @Test func `a long name does not fill the answer`() throws {
        let found = try #require(problem(#"{"name":"a","\#(String(repeating: "n", count: 5000))":1}"#))
        #expect(found.member?.count == 65)
    }
}
