import Database
import Foundation
import Problems
import SQLite
import TestSupport
import Testing

@Suite struct OwnerLockTests {
    @Test func `a second owner is refused and told who the first is`() throws {
        let folder = try TemporaryFolder()
        var first: OwnerLock? = try OwnerLock(path: folder.file("owner.lock"))
        let problem = #expect(throws: Problem.self) { try OwnerLock(path: folder.file("owner.lock")) }
        #expect(problem == .database(.lockedByOtherServer))
        #expect(problem?.context.first?.value == .number(Int(ProcessInfo.processInfo.processIdentifier)))
        #expect(first != nil)
        first = nil
        _ = try OwnerLock(path: folder.file("owner.lock"))
    }

    @Test func `the lock file is the owner's alone, and no link is followed`() throws {
        let folder = try TemporaryFolder()
        let lock = try OwnerLock(path: folder.file("owner.lock"))
        #expect(try FileManager.default.attributesOfItem(atPath: folder.file("owner.lock"))[.posixPermissions] as? Int == 0o600)
        try FileManager.default.createSymbolicLink(atPath: folder.file("link"), withDestinationPath: folder.file("target"))
        #expect(throws: Problem.database(.unavailable)) { try OwnerLock(path: folder.file("link")) }
        withExtendedLifetime(lock) {}
    }

    @Test func `a place that can't be written is unavailable`() throws {
        let folder = try TemporaryFolder()
        #expect(throws: Problem.database(.unavailable)) { try OwnerLock(path: folder.file("none/owner.lock")) }
    }
}
