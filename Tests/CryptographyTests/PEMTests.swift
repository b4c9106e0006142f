import Encodings
import Testing

@testable import Cryptography

struct PEMTests {
    static let bytes: [UInt8] = Array(0...255) + Array(0...99)
    static let armour = PEM.encode(bytes, label: "CERTIFICATE")
    static let body = armour.split(separator: "\n").dropFirst().dropLast().map(String.init)

    @Test func `written as RFC 7468 says`() {
        let lines = Self.armour.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        #expect(lines.first == "-----BEGIN CERTIFICATE-----" && lines.suffix(2) == ["-----END CERTIFICATE-----", ""])
        #expect(Self.body.dropLast().allSatisfy { $0.utf8.count == 64 } && Self.body.allSatisfy { $0.utf8.count <= 64 })
    }

    @Test(
        arguments: [
            armour, armour.replacing("\n", with: "\r\n"), armour.replacing("\n", with: "\r"), armour.replacing("\n", with: " "),
            armour.replacing("\n", with: ""), armour.replacing("\n", with: "\\n"), armour.replacing("\n", with: "\\r\\n"),
            armour.replacing("\n", with: "\n\n"), armour.replacing("\n", with: " \t\n"), armour.replacing("\n", with: "\n  "),
            "Bag Attributes\n    friendlyName: a: b\nKey Attributes: <No Attributes>\n" + armour + "trailing text\n",
            "subject=CN = x\n" + armour.replacing("\n", with: " \r\n\r\n"), armour.replacing("/", with: "\\/"),
            "-----BEGIN broken\n" + armour, "----------BEGIN CERTIFICATE-----\n" + body.joined(separator: "\n") + "-----END CERTIFICATE-----",
        ])
    func `read as people mangle it`(_ text: String) {
        let blocks = PEM.blocks(in: Array(text.utf8))
        #expect(blocks.count == 1 && blocks.first?.label == "CERTIFICATE" && blocks.first?.bytes == Self.bytes)
    }

    @Test func `several blocks, in order, with headers`() {
        let key = "-----BEGIN EC PRIVATE KEY-----\r\nProc-Type: 4,ENCRYPTED\r\nDEK-Info: AES-128-CBC,00\r\n\r\nAQID\r\n-----END EC PRIVATE KEY-----\r\n"
        let blocks = PEM.blocks(in: Array((key + Self.armour + "text" + key).utf8))
        #expect(blocks.map(\.label) == ["EC PRIVATE KEY", "CERTIFICATE", "EC PRIVATE KEY"])
        #expect(blocks.map(\.bytes) == [[1, 2, 3], Self.bytes, [1, 2, 3]])
        #expect(blocks.first?.headers.map(\.name) == ["Proc-Type", "DEK-Info"])
        #expect(blocks.first?.headers.first?.value == "4,ENCRYPTED")
    }

    @Test(
        arguments: [
            "-----BEGIN CERTIFICATE-----\nAQID", "-----BEGIN CERTIFICATE-----\nAQ!D\n-----END CERTIFICATE-----",
            "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----", "-----BEGIN CERTIFICATE-----",
        ])
    func `a block without an end or without base64 has no bytes`(_ text: String) {
        #expect(PEM.blocks(in: Array(text.utf8)).map(\.bytes) == [nil])
    }

    @Test func `a block without an end does not swallow the next`() {
        let blocks = PEM.blocks(in: Array(("-----BEGIN A-----\nAQID\n" + Self.armour).utf8))
        #expect(blocks.map(\.bytes) == [nil, Self.bytes])
    }

    @Test(arguments: ["", "-----BEGIN ", "-----BEGIN -----", "no armour", "-----BEGIN \u{1}-----\nAQID\n-----END \u{1}-----"])
    func `no block`(_ text: String) {
        #expect(PEM.blocks(in: Array(text.utf8)).isEmpty)
    }

    @Test func `cost grows with the text, not with its square`() {
        let text = String(repeating: "-----BEGIN A-----\nAQID\n", count: 40_000)
        #expect(PEM.blocks(in: Array(text.utf8)).count == 40_000)
    }
}
