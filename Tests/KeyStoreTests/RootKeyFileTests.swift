import Encodings
import Foundation
import Problems
import Secrets
import TestSupport
import Testing

@testable import KeyStore

@Suite struct RootKeyFileTests {
    let folder: TemporaryFolder
    let url: URL
    static let digits = String(repeating: "0123456789abcdef", count: 4)

    init() throws {
        folder = try TemporaryFolder()
        url = URL(filePath: folder.file("root.key"))
    }

    private func read(_ content: String) throws(Problem) -> RootKeyFile {
        _ = FileManager.default.createFile(atPath: url.path, contents: Data(content.utf8))
        return try RootKeyFile(reading: url)
    }

    @Test func `a new root key is one line for its owner alone, and reads back as itself`() throws {
        let made = try RootKeyFile.create(at: url)
        let text = try String(contentsOf: url, encoding: .utf8)
        #expect(text.count == 65 && text.hasSuffix("\n") && text.dropLast().allSatisfy(\.isHexDigit))
        #expect(try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int == 0o600)
        let read = try RootKeyFile(reading: url)
        #expect(read.fingerprint == made.fingerprint && read.kind == "file")
        let secret = SecretBytes(copying: Array(0..<32))
        let wrapped = try made.wrap(secret, associatedData: [1])
        #expect(try read.unwrap(wrapped, associatedData: [1]) == secret)
        #expect(throws: Problem.self) { try read.unwrap(wrapped, associatedData: [2]) }
        #expect(throws: Problem(FileProblem.notWritten)) { try RootKeyFile.create(at: url) }
        #expect(try RootKeyFile(reading: url).fingerprint == made.fingerprint)
    }

    @Test(arguments: ["", "\n", "\r\n", "  \t", "\n\n"])
    func `blanks and line ends around the digits are no matter`(_ around: String) throws {
        let plain = try read(Self.digits).fingerprint
        #expect(try read(around + Self.digits + around).fingerprint == plain)
        #expect(try read(Self.digits.uppercased()).fingerprint == plain)
    }

    @Test(arguments: [
        "", "\n", String(digits.dropLast()), String(digits.dropLast(2)), digits + "0", digits + "00", digits + "\n" + digits, "0x" + digits,
        "g" + digits.dropFirst(), "0123 " + digits.dropFirst(5),
    ])
    func `anything else is malformed, and its content is not told`(_ content: String) {
        let problem = #expect(throws: Problem(KeyStoreProblem.rootKeyMalformed)) { try read(content) }
        #expect(problem?.context.map(\.value) == [.text("root.key"), .number(content.utf8.count)])
        #expect(problem?.underlying == nil)
    }

    @Test func `a file that is not there is missing, which seals and does not fail`() {
        let problem = #expect(throws: Problem(KeyStoreProblem.rootKeyMissing)) { try RootKeyFile(reading: url) }
        #expect(problem?.status == 423)
    }

    @Test func `the fingerprint tells keys apart and is not the key's digest`() throws {
        let first = try read(Self.digits).fingerprint
        #expect(try read(String(Self.digits.reversed())).fingerprint != first)
        #expect(!Self.digits.contains(first.hex))
    }
}
