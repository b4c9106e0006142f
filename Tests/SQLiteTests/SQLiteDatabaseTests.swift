import Database
import Foundation
import Problems
import TestSupport
import Testing

@testable import SQLite

@Suite struct SQLiteDatabaseTests {
    let folder: TemporaryFolder
    var path: String { folder.file("coster.sqlite") }

    init() throws { folder = try TemporaryFolder() }

    private func make(_ limits: SQLiteDatabase.Limits = .init()) throws -> SQLiteDatabase {
        let database = try SQLiteDatabase(path: path, mode: .create, limits: limits)
        try database.migrate([Migration("test-1", ["CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT"])])
        return database
    }

    private func insert(_ name: String, _ database: SQLiteDatabase) throws {
        _ = try database.writeBlocking { connection throws(Problem) in try connection.execute("INSERT INTO item (name) VALUES ($1)", [.text(name)]) }
    }

    private func isInFile(_ text: String, _ path: String) throws -> Bool {
        try Data(contentsOf: URL(filePath: path)).range(of: Data(text.utf8)) != nil
    }

    // MARK: Opening

    @Test func `makes a new file only where there is none`() throws {
        #expect(throws: Problem.database(.missing)) { try SQLiteDatabase(path: path, mode: .readWrite) }
        #expect(throws: Problem.database(.missing)) { try SQLiteDatabase(path: path, mode: .readOnly) }
        #expect(!FileManager.default.fileExists(atPath: path))
        _ = try make()
        #expect(throws: Problem.database(.alreadyExists)) { try SQLiteDatabase(path: path, mode: .create) }
        #expect(throws: Problem.database(.unavailable)) { try SQLiteDatabase(path: folder.file("none/coster.sqlite"), mode: .create) }
    }

    @Test func `its files are for the owner alone`() throws {
        let database = try make()
        try insert("a", database)
        for suffix in ["", "-wal", "-shm"] {
            let mode = try FileManager.default.attributesOfItem(atPath: path + suffix)[.posixPermissions] as? Int
            #expect(mode == 0o600, "\(suffix)")
        }
    }

    @Test func `what is no database is corrupt, not empty`() throws {
        try Data(repeating: 0x41, count: 10_000).write(to: URL(filePath: path))
        #expect(throws: Problem.database(.corrupt)) { try SQLiteDatabase(path: path, mode: .readWrite) }
        let readOnly = try SQLiteDatabase(path: path, mode: .readOnly)
        #expect(throws: Problem.database(.corrupt)) { try readOnly.read { connection throws(Problem) in try connection.exists("SELECT 1 FROM item") } }
    }

    static let settings: [(pragma: String, value: Int64)] = [
        ("synchronous", 2), ("secure_delete", 1), ("foreign_keys", 1), ("trusted_schema", 0), ("wal_autocheckpoint", 0), ("temp_store", 2),
        ("busy_timeout", 5000), ("cell_size_check", 1),
    ]

    @Test(arguments: settings) func `writes under the settings of the contract`(setting: (pragma: String, value: Int64)) throws {
        let value = try make().writeBlocking { connection throws(Problem) in try connection.first("PRAGMA \(setting.pragma)") { row in row.integer(0) } }
        #expect(value == setting.value)
    }

    @Test func `keeps a write-ahead log and takes no name in double quotes for a text`() throws {
        let database = try make()
        #expect(try database.read { connection throws(Problem) in try connection.first("PRAGMA journal_mode") { row in row.text(0) } } == "wal")
        #expect(throws: Problem.database(.statementRefused)) {
            try database.read { connection throws(Problem) in try connection.exists(#"SELECT 1 FROM item WHERE name = "nothing""#) }
        }
    }

    @Test func `opened for reading it refuses to write`() async throws {
        try insert("a", make())
        let database = try SQLiteDatabase(path: path, mode: .readOnly)
        #expect(try database.read { connection throws(Problem) in try connection.exists("SELECT 1 FROM item") })
        await #expect(throws: Problem.database(.unavailable)) { try await database.write { _ throws(Problem) in 0 } }
        #expect(throws: Problem.database(.unavailable)) { try database.writeBlocking { _ throws(Problem) in 0 } }
        await #expect(throws: Problem.database(.unavailable)) { try await database.truncateWAL() }
    }

    @Test func `two processes write one after the other`() throws {
        let first = try make()
        let second = try SQLiteDatabase(path: path, mode: .readWrite)
        for round in 0..<20 {
            try insert("first \(round)", first)
            try insert("second \(round)", second)
        }
        #expect(try first.read { connection throws(Problem) in try connection.first("SELECT count(*) FROM item") { row in row.integer(0) } } == 40)
    }

    // MARK: Durability

    @Test func `what was acknowledged is in the files as a crash would leave them`() throws {
        let database = try make()
        for number in 0..<50 { try insert("item \(number)", database) }
        let copy = folder.file("crashed.sqlite")
        for suffix in ["", "-wal"] { try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix) }
        let recovered = try SQLiteDatabase(path: copy, mode: .readWrite)
        #expect(try recovered.read { connection throws(Problem) in try connection.first("SELECT count(*) FROM item") { row in row.integer(0) } } == 50)
        #expect(try recovered.integrityFindings() == [])
    }

    @Test func `truncating leaves neither log nor deleted content`() async throws {
        let database = try make()
        try insert("a secret nobody may find", database)
        #expect(try isInFile("a secret nobody may find", path + "-wal"))
        try await database.truncateWAL()
        #expect(try isInFile("a secret nobody may find", path))
        _ = try database.writeBlocking { connection throws(Problem) in try connection.execute("DELETE FROM item") }
        try await database.truncateWAL()
        #expect(try database.size().logBytes == 0)
        #expect(try !isInFile("a secret nobody may find", path))
    }

    @Test func `truncating waits no longer than the timeout for a reader`() async throws {
        var limits = SQLiteDatabase.Limits()
        limits.busyTimeoutMilliseconds = 30
        let database = try make(limits)
        let reader = try Connection(path: path, access: .read, busyTimeoutMilliseconds: 30)
        try reader.beginReading()
        _ = try reader.exists("SELECT 1 FROM item")
        try insert("a", database)
        await #expect(throws: Problem.database(.busy)) { try await database.truncateWAL() }
        try reader.endReading()
        try await database.truncateWAL()
    }

    @Test func `the log does not grow without end`() throws {
        var limits = SQLiteDatabase.Limits()
        limits.checkpointPages = 10
        limits.restartPages = 50
        let database = try make(limits)
        for number in 0..<3000 { try insert("item \(number)", database) }
        #expect(try database.size().logBytes < 3000 * 4096)
        database.close()
        #expect(!FileManager.default.fileExists(atPath: path + "-wal"))
    }

    // MARK: Looking after it

    @Test func `finds a damaged page`() throws {
        let database = try make()
        for number in 0..<2000 { try insert("item \(number)", database) }
        #expect(try database.integrityFindings() == [])
        database.close()
        let handle = try FileHandle(forUpdating: URL(filePath: path))
        try handle.seek(toOffset: 4096 * 4)
        try handle.write(contentsOf: Data(repeating: 0xff, count: 4096))
        try handle.close()
        let damaged = try SQLiteDatabase(path: path, mode: .readOnly)
        var findings: [String] = []
        var problem: Problem?
        do { findings = try damaged.integrityFindings() } catch { problem = error }
        #expect(!findings.isEmpty || problem == .database(.corrupt))
    }

    @Test func `tells its size`() throws {
        let database = try make()
        try insert("a", database)
        let size = try database.size()
        #expect(size.bytesPerPage == 4096)
        #expect(size.pages >= 3)
        #expect(size.logBytes > 0)
    }

    @Test func `a copy has everything, nothing deleted, and is the owner's alone`() throws {
        let database = try make()
        try insert("kept", database)
        try insert("a secret nobody may find", database)
        _ = try database.writeBlocking { connection throws(Problem) in try connection.execute("DELETE FROM item WHERE id = 2") }
        let target = folder.file("copy.sqlite")
        try database.writeCopy(to: target)
        #expect(throws: Problem.database(.alreadyExists)) { try database.writeCopy(to: target) }
        #expect(try !isInFile("a secret nobody may find", target))
        #expect(try FileManager.default.attributesOfItem(atPath: target)[.posixPermissions] as? Int == 0o600)
        let copy = try SQLiteDatabase(path: target, mode: .readWrite)
        #expect(try copy.read { connection throws(Problem) in try connection.query("SELECT name FROM item") { row in row.text(0) } } == ["kept"])
    }

    @Test func `many texts are prepared and forgotten again`() throws {
        let database = try make()
        let sum = try database.read { connection throws(Problem) in
            var sum: Int64 = 0
            for number in 0..<1000 { sum += try connection.first("SELECT \(number)") { row in row.integer(0) } ?? 0 }
            return sum
        }
        #expect(sum == 499_500)
    }
}
