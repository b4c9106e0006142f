import Testing

@testable import API

@Suite struct HeaderParametersTests {
    @Test(arguments: [
        ("application/json", "application/json", [:]), ("Application/JSON; charset=UTF-8", "application/json", ["charset": "UTF-8"]),
        ("form-data; name=\"file\"; filename=\"a;b \\\"c\\\".cer\"", "form-data", ["name": "file", "filename": "a;b \"c\".cer"]),
        ("multipart/form-data; boundary=----WebKitFormBoundaryX", "multipart/form-data", ["boundary": "----WebKitFormBoundaryX"]),
        (" text/plain ;; q=0.5 ;", "text/plain", ["q": "0.5"]), ("a; n=\"\"", "a", ["n": ""]),
    ])
    func `reads a value and its parameters`(_ text: String, _ value: String, _ parameters: [String: String]) throws {
        let read = try #require(HeaderParameters(text))
        #expect(read.value == value)
        for (name, expected) in parameters { #expect(read[name] == expected) }
        #expect(read["absent"] == nil)
    }

    @Test(arguments: ["", ";", " ", "a; n", "a; =x", "a; n=", "a; n=\"x", "a; n=\"x\\", "a; n=x; N=y", "a b", "a; n=x y", "a; n=\"x\"y"])
    func `refuses what is not of that form`(_ text: String) {
        #expect(HeaderParameters(text) == nil)
    }
}
