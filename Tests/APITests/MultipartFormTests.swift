import Problems
import Testing

@testable import API

@Suite struct MultipartFormTests {
    private static let type = "multipart/form-data; boundary=b7"

    private func form(_ body: String, _ type: String = MultipartFormTests.type) throws(Problem) -> [(String, String)] {
        let bytes = Array(body.utf8)
        return try MultipartForm(bytes, contentType: type).parts.map { ($0.name, String(decoding: bytes[$0.content], as: UTF8.self)) }
    }

    private static func part(_ head: String, _ content: String) -> String { "--b7\r\n\(head)\r\n\r\n\(content)\r\n" }
    private static let file = part("Content-Disposition: form-data; name=\"file\"; filename=\"a.cer\"\r\nContent-Type: application/x-x509-ca-cert", "DATA")

    @Test func `reads parts in order, whatever their content`() throws {
        let odd = "--b\r\n--b8\r\n\r\n--\u{0}\r"
        let read = try form(Self.file + Self.part("content-disposition:form-data;name=password", odd) + "--b7--\r\n")
        #expect(read.map(\.0) == ["file", "password"])
        #expect(read.map(\.1) == ["DATA", odd])
    }

    @Test(arguments: [
        "\r\n--b7--", "--b7--", "--b7--\r\n", "--b7  \r\nContent-Disposition: form-data; name=\"x\"\r\n\r\n\r\n--b7--",
        "--b7\r\nContent-Disposition: form-data; name=\"x\"\r\nContent-Transfer-Encoding: binary\r\n\r\nabc\r\n--b7--\r\n",
    ])
    func `takes what clients send`(_ body: String) {
        #expect(throws: Never.self) { try form(body) }
    }

    @Test(arguments: [
        "", "--b8--", "preamble\r\n--b7--", "--b7", "--b7\r\n", "--b7x\r\n", "--b7\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\nabc",
        "--b7\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\nabc\r\n--b7", "--b7\r\n\r\nabc\r\n--b7--",
        "--b7\r\nContent-Disposition: attachment; name=\"x\"\r\n\r\n\r\n--b7--", "--b7\r\nContent-Disposition: form-data\r\n\r\n\r\n--b7--",
        "--b7\r\nContent-Disposition: form-data; name=\"x\"\r\nContent-Disposition: form-data; name=\"y\"\r\n\r\n\r\n--b7--",
        "--b7\r\nContent-Disposition: form-data; name=\"x\"; name=\"y\"\r\n\r\n\r\n--b7--",
        "--b7\r\nContent-Disposition: form-data; name=\"x\"\r\nContent-Transfer-Encoding: base64\r\n\r\n\r\n--b7--",
        "--b7\r\nno colon\r\n\r\n\r\n--b7--", "--b7--\r\nepilogue", "--b7\nContent-Disposition: form-data; name=\"x\"\n\nabc\n--b7--",
        "--b7\r\nX: \(String(repeating: "a", count: 5000))\r\n\r\n\r\n--b7--",
    ])
    func `refuses the rest with an offset`(_ body: String) {
        #expect(throws: Problem.api(.multipartMalformed)) { try form(body) }
    }

    @Test func `bounds the number of parts`() {
        let part = Self.part("Content-Disposition: form-data; name=\"x\"", "")
        #expect(throws: Never.self) { try form(String(repeating: part, count: 16) + "--b7--") }
        #expect(throws: Problem.api(.multipartMalformed)) { try form(String(repeating: part, count: 17) + "--b7--") }
    }

    @Test(arguments: [
        "multipart/form-data", "multipart/form-data; boundary=", "multipart/form-data; boundary=\"\"", "multipart/mixed; boundary=b7",
        "multipart/form-data; boundary=\"\(String(repeating: "b", count: 71))\"", "multipart/form-data; boundary=\"b7 \"",
        "multipart/form-data; boundary=\"b\u{e9}\"", "multipart/form-data; boundary=b7; boundary=b8",
    ])
    func `refuses a boundary that RFC 2046 does not know`(_ type: String) {
        #expect(throws: Problem.api(.multipartMalformed)) { try form("--b7--", type) }
        #expect(MultipartForm.boundary(of: type) == nil)
    }

    @Test func `any cut of a good form is refused`() {
        let whole = Self.file + "--b7--"
        for count in 0..<whole.utf8.count { #expect(throws: Problem.self) { try form(String(decoding: Array(whole.utf8).prefix(count), as: UTF8.self)) } }
    }
}
