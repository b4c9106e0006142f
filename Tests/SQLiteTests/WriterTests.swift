import Database
import Dispatch
import Foundation
import Problems
import TestSupport
import Testing

@testable import SQLite

@Suite struct WriterTests {
    let folder: TemporaryFolder
    let database: SQLiteDatabase

    init() throws {
        folder = try TemporaryFolder()
        database = try SQLiteDatabase(path: folder.file("coster.sqlite"), mode: .create)
        try database.migrate([
            Migration("test-1", ["CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, parent INTEGER REFERENCES item (id)) STRICT"])
        ])
    }

    private func names() throws -> [String] {
        try database.read { connection throws(Problem) in try connection.query("SELECT name FROM item ORDER BY name") { row in row.text(0) } }
    }

    private func insert(_ name: String, then problem: Problem? = nil) -> Body {
        { connection throws(Problem) in
            try connection.execute("INSERT INTO item (name) VALUES ($1)", [.text(name)])
            if let problem { throw problem }
            return connection.transactionNumber
        }
    }

    @Test func `bodies that queued during a commit share the next one`() throws {
        let results = commitTogether(database, (0..<100).map { insert("item \($0)") })
        #expect(Set(results.map(\.value)).count == 1)
        #expect(results[0].value != nil)
        #expect(try names().count == 100)
    }

    @Test func `a commit takes no more bodies than its limit`() throws {
        let results = commitTogether(database, (0..<600).map { insert("item \($0)") })
        let sizes = Dictionary(grouping: results.compactMap(\.value)) { $0 }.mapValues(\.count)
        #expect(sizes.sorted { $0.key < $1.key }.map(\.value) == [256, 256, 88])
    }

    @Test func `one body's problem leaves the others of its transaction alone`() throws {
        let results = commitTogether(database, [insert("a"), insert("b", then: .database(.missing)), insert("a"), insert("c")])
        #expect(results.map(\.problem) == [nil, .database(.missing), .database(.duplicate), nil])
        #expect(try names() == ["a", "c"])
    }

    @Test func `hooks asked for by a body that failed are forgotten, others run once`() throws {
        final class Owner: Sendable {}
        let (shared, failing) = (Owner(), Owner())
        func asking(_ owner: Owner, _ name: String, then problem: Problem? = nil) -> Body {
            { connection throws(Problem) in
                connection.beforeCommit(ObjectIdentifier(owner)) { connection throws(Problem) in
                    try connection.execute("INSERT INTO item (name) VALUES ($1)", [.text(name)])
                }
                if let problem { throw problem }
                return 0
            }
        }
        _ = commitTogether(
            database,
            [
                asking(shared, "undone", then: .database(.missing)), asking(shared, "first"), asking(shared, "second"),
                asking(failing, "never", then: .database(.missing)), asking(shared, "undone too", then: .database(.missing)),
            ])
        #expect(try names() == ["first"])
    }

    @Test func `a commit that fails fails all of it, and the next one works`() throws {
        // A deferred reference to nothing is noticed by COMMIT itself.
        let orphan: Body = { connection throws(Problem) in
            try connection.execute("PRAGMA defer_foreign_keys = ON")
            return try connection.execute("INSERT INTO item (name, parent) VALUES ('orphan', 999)")
        }
        let results = commitTogether(database, [insert("a"), orphan, insert("b", then: .database(.missing))])
        #expect(results.map(\.problem) == [.database(.constraintFailed), .database(.constraintFailed), .database(.constraintFailed)])
        #expect(try names() == [])
        #expect(commitTogether(database, [insert("c")])[0].value != nil)
        #expect(try names() == ["c"])
    }

    @Test func `a full database fails every body whose rows are gone, also one that looks away`() throws {
        let pages = try database.size().pages
        let blob = Parameter.text(String(repeating: "x", count: 500_000))
        let tooMuch: Body = { connection throws(Problem) in try connection.execute("INSERT INTO item (name) VALUES ($1)", [blob]) }
        let looksAway: Body = { connection throws(Problem) in
            do { return try tooMuch(connection) } catch {}
            // SQLite has ended the transaction: this may not land outside of one.
            return try connection.execute("INSERT INTO item (name) VALUES ('stray')")
        }
        _ = try database.writeBlocking { connection throws(Problem) in try connection.query("PRAGMA max_page_count = \(pages + 4)") { _ in 0 } }
        for body in [tooMuch, looksAway] {
            let results = commitTogether(database, [insert("before"), body, insert("after")])
            #expect(results[0].problem == .database(.unavailable))
            #expect(results[1].problem == .database(.unavailable))
            // It had not run yet, and has the next transaction to itself.
            #expect(results[2].problem == nil)
            #expect(try names() == ["after"])
            _ = try database.writeBlocking { connection throws(Problem) in try connection.execute("DELETE FROM item") }
        }
        _ = try database.writeBlocking { connection throws(Problem) in try connection.query("PRAGMA max_page_count = 1000000") { _ in 0 } }
        #expect(commitTogether(database, [tooMuch])[0].problem == nil)
    }

    @Test func `another process that holds the lock too long makes it busy, and then it goes on`() throws {
        var limits = SQLiteDatabase.Limits()
        limits.busyTimeoutMilliseconds = 30
        let patient = try SQLiteDatabase(path: database.path, mode: .readWrite, limits: limits)
        let other = try Connection(path: database.path, access: .write, busyTimeoutMilliseconds: 30)
        try other.beginWriting()
        #expect(throws: Problem.database(.busy)) { try patient.writeBlocking(insert("a")) }
        try other.commit()
        #expect(commitTogether(patient, [insert("a")])[0].problem == nil)
    }

    @Test func `a queue that is full refuses at once`() throws {
        var limits = SQLiteDatabase.Limits()
        limits.queuedWrites = 3
        let small = try SQLiteDatabase(path: database.path, mode: .readWrite, limits: limits)
        let results = commitTogether(small, (0..<5).map { insert("item \($0)") })
        #expect(results.map(\.problem) == [nil, nil, nil, .database(.busy), .database(.busy)])
    }

    @Test func `closing writes what is queued and refuses the rest`() throws {
        let isHeld = DispatchSemaphore(value: 0)
        let goOn = DispatchSemaphore(value: 0)
        let writer = try #require(database.writer)
        writer.enqueue(
            BodyJob({ _ in
                isHeld.signal()
                goOn.wait()
            }) { _ in })
        isHeld.wait()
        writer.enqueue(BodyJob(insert("queued")) { _ in })
        writer.close()
        goOn.signal()
        database.close()
        #expect(throws: Problem.database(.closed)) { try database.writeBlocking { _ throws(Problem) in 0 } }
        #expect(throws: Problem.database(.closed)) { try database.read { _ throws(Problem) in 0 } }
        let again = try SQLiteDatabase(path: database.path, mode: .readOnly)
        #expect(try again.read { connection throws(Problem) in try connection.exists("SELECT 1 FROM item WHERE name = 'queued'") })
    }

    @Test func `a full disk answers unavailable, and the next write after it works`() throws {
        guard let disk = SmallDisk(in: folder, bytes: 1 << 20) else { return }
        let database = try SQLiteDatabase(path: disk.path + "/coster.sqlite", mode: .create)
        try database.migrate([Migration("test-1", ["CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT"])])
        var filler: String? = disk.path + "/filler"
        disk.fill(filler)
        var written = 0
        var problem: Problem?
        while problem == nil, written < 10_000 {
            let result = commitTogether(database, [insert("item \(written) " + String(repeating: "x", count: 1000))])[0]
            problem = result.problem
            if problem == nil { written += 1 }
        }
        #expect(problem == .database(.unavailable))
        #expect(
            try database.read { connection throws(Problem) in try connection.first("SELECT count(*) FROM item") { row in row.integer(0) } } == Int64(written))
        if let path = filler { try FileManager.default.removeItem(atPath: path) }
        filler = nil
        #expect(commitTogether(database, [insert("after")])[0].problem == nil)
        #expect(try database.integrityFindings() == [])
        database.close()
    }
}

/// A file system of a given size, where the system lets us make one.
private final class SmallDisk {
    let path: String

    init?(in folder: TemporaryFolder, bytes: Int) {
        path = folder.file("disk")
        do { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false) } catch { return nil }
        guard SmallDisk.run("/bin/mount", ["-t", "tmpfs", "-o", "size=\(bytes)", "tmpfs", path]) else {
            let _: [Int] = Vectors.unavailable("a full disk (mounting a small tmpfs is not allowed here)", cases: 1)
            return nil
        }
    }

    deinit { _ = SmallDisk.run("/bin/umount", ["-l", path]) }

    /// Takes all but a little of the space.
    func fill(_ file: String?) {
        guard let file, let free = try? FileManager.default.attributesOfFileSystem(forPath: path)[.systemFreeSize] as? Int else { return }
        _ = FileManager.default.createFile(atPath: file, contents: Data(count: max(0, free - 100_000)))
    }

    private static func run(_ tool: String, _ arguments: [String]) -> Bool {
        let process = Process()
        process.executableURL = URL(filePath: tool)
        process.arguments = arguments
        process.standardError = FileHandle.nullDevice
        do { try process.run() } catch { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }
}
