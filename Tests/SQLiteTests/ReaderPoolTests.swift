import Database
import Problems
import TestSupport
import Testing

@testable import SQLite

@Suite struct ReaderPoolTests {
    let folder: TemporaryFolder
    let database: SQLiteDatabase

    init() throws {
        folder = try TemporaryFolder()
        var limits = SQLiteDatabase.Limits()
        limits.readers = 2
        limits.busyTimeoutMilliseconds = 20
        database = try SQLiteDatabase(path: folder.file("coster.sqlite"), mode: .create, limits: limits)
    }

    @Test func `more readers than connections wait, and give up after the timeout`() throws {
        try database.read { _ throws(Problem) in
            try database.read { _ throws(Problem) in
                _ = #expect(throws: Problem.database(.busy)) { try ask() }
            }
        }
        #expect(try database.read { _ throws(Problem) in 1 } == 1)
    }

    private func ask() throws(Problem) { _ = try database.read { _ throws(Problem) in 0 } }

    @Test func `a body's problem gives the connection back`() throws {
        for _ in 0..<10 {
            #expect(throws: Problem.database(.missing)) { try database.read { _ throws(Problem) in throw .database(.missing) } }
        }
    }

    @Test func `many threads share few connections`() async throws {
        try database.migrate([Migration("test-1", ["CREATE TABLE item (id INTEGER PRIMARY KEY) STRICT"])])
        let database = self.database
        let sum = await withTaskGroup(of: Int64.self) { group in
            for number in 0..<200 {
                group.addTask {
                    let value = try? database.read { connection throws(Problem) in
                        try connection.first("SELECT $1 + 0", [.integer(Int64(number))]) { row in row.integer(0) }
                    }
                    return value.flatMap { $0 } ?? -1_000_000
                }
            }
            return await group.reduce(0, +)
        }
        #expect(sum == 19_900)
    }
}
