import Foundation
import KeyStore
import Problems
import TestSupport
import Testing

@Suite struct FileWritingTests {
    @Test func `writes a new file for its owner alone, and refuses one that is there`() throws {
        let folder = try TemporaryFolder()
        let url = URL(filePath: folder.file("new"))
        try FileWriting.create([1, 2, 3], at: url)
        #expect(try [UInt8](Data(contentsOf: url)) == [1, 2, 3])
        #expect(try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int == 0o600)
        #expect(throws: Problem(FileProblem.notWritten)) { try FileWriting.create([4], at: url) }
        #expect(try [UInt8](Data(contentsOf: url)) == [1, 2, 3])
        let problem = #expect(throws: Problem(FileProblem.notWritten)) { try FileWriting.create([4], at: URL(filePath: folder.file("none/new"))) }
        #expect(problem?.context.first?.value == "new")
    }

    @Test(arguments: FileProblem.allCases)
    func `every problem says what happened and what to do`(_ entry: FileProblem) {
        #expect(entry.page.cause.hasSuffix(".") && entry.page.fix.hasSuffix("."))
    }
}
