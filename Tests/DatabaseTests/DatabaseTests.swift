import Database
import Problems
import Testing

@Suite struct DatabaseTests {
    @Test(arguments: Engine.allCases) func `what was written is there for the next reader`(engine: Engine) async throws {
        let fresh = try engine.make()
        let database = try fresh.withTable()
        let id = try await database.write { connection throws(Problem) in
            try connection.execute("INSERT INTO item (name) VALUES ($1)", ["a"])
            return try connection.first("SELECT max(id) FROM item") { row in row.integer(0) }
        }
        #expect(id == 1)
        #expect(try database.read { connection throws(Problem) in try connection.exists("SELECT 1 FROM item WHERE name = 'a'") })
    }

    @Test(arguments: Engine.allCases) func `a body's problem undoes that body alone`(engine: Engine) async throws {
        let fresh = try engine.make()
        let database = try fresh.withTable()
        let outcomes = await withTaskGroup(of: (Int, Problem?).self) { group in
            for number in 0..<200 {
                group.addTask {
                    do throws(Problem) {
                        try await database.write { connection throws(Problem) in
                            try connection.execute("INSERT INTO item (name) VALUES ($1)", [.text("item \(number)")])
                            if number.isMultiple(of: 3) { throw .database(.missing) }
                        }
                        return (number, nil)
                    } catch {
                        return (number, error)
                    }
                }
            }
            return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        #expect(outcomes.count == 67)
        #expect(outcomes.allSatisfy { $0.key.isMultiple(of: 3) && $0.value == .database(.missing) })
        let names = try database.read { connection throws(Problem) in try connection.query("SELECT name FROM item") { row in row.text(0) } }
        #expect(Set(names) == Set((0..<200).filter { !$0.isMultiple(of: 3) }.map { "item \($0)" }))
    }

    @Test(arguments: Engine.allCases) func `a reader keeps its snapshot while others write`(engine: Engine) throws {
        let fresh = try engine.make()
        let database = try fresh.withTable()
        let counts = try database.read { connection throws(Problem) in
            let before = try connection.first("SELECT count(*) FROM item") { row in row.integer(0) }
            _ = try database.writeBlocking { connection throws(Problem) in try connection.execute("INSERT INTO item (name) VALUES ('a')") }
            return [before, try connection.first("SELECT count(*) FROM item") { row in row.integer(0) }]
        }
        #expect(counts == [0, 0])
        #expect(try database.read { connection throws(Problem) in try connection.first("SELECT count(*) FROM item") { row in row.integer(0) } } == 1)
    }

    @Test(arguments: Engine.allCases) func `a reader can't write`(engine: Engine) throws {
        let fresh = try engine.make()
        let database = try fresh.withTable()
        #expect(throws: Problem.database(.unavailable)) {
            try database.read { connection throws(Problem) in
                try connection.query("INSERT INTO item (name) VALUES ('a') RETURNING id") { row in row.integer(0) }
            }
        }
    }

    @Test(arguments: Engine.allCases) func `a write inside a write is refused, not a standstill`(engine: Engine) throws {
        let fresh = try engine.make()
        let database = try fresh.withTable()
        #expect(throws: Problem.database(.statementRefused)) {
            try database.writeBlocking { _ throws(Problem) in
                try database.writeBlocking { connection throws(Problem) in _ = try connection.execute("DELETE FROM item") }
            }
        }
    }

    @Test(arguments: Engine.allCases) func `a transaction's number grows, and a rollback is counted`(engine: Engine) throws {
        let fresh = try engine.make()
        let database = try fresh.withTable()
        let first = try database.writeBlocking { connection throws(Problem) in [connection.transactionNumber, connection.rollbackNumber] }
        #expect(throws: Problem.database(.missing)) { try database.writeBlocking { _ throws(Problem) in throw .database(.missing) } }
        let second = try database.writeBlocking { connection throws(Problem) in [connection.transactionNumber, connection.rollbackNumber] }
        #expect(second[0] == first[0] + 2)
        #expect(second[1] == first[1] + 1)
    }

    @Test(arguments: Engine.allCases) func `a hook runs once before the commit, and can write`(engine: Engine) throws {
        let fresh = try engine.make()
        let database = try fresh.withTable()
        let owner = Owner()
        try database.writeBlocking { connection throws(Problem) in
            for name in ["first", "second"] {
                connection.beforeCommit(ObjectIdentifier(owner)) { connection throws(Problem) in
                    try connection.execute("INSERT INTO item (name) VALUES ($1)", [.text(name)])
                }
            }
            #expect(try !connection.exists("SELECT 1 FROM item"))
        }
        let names = try database.read { connection throws(Problem) in try connection.query("SELECT name FROM item") { row in row.text(0) } }
        #expect(names == ["first"])
    }

    @Test(arguments: Engine.allCases) func `a hook that fails undoes the transaction`(engine: Engine) throws {
        let fresh = try engine.make()
        let database = try fresh.withTable()
        let owner = Owner()
        #expect(throws: Problem.database(.missing)) {
            try database.writeBlocking { connection throws(Problem) in
                try connection.execute("INSERT INTO item (name) VALUES ('a')")
                connection.beforeCommit(ObjectIdentifier(owner)) { _ throws(Problem) in throw .database(.missing) }
            }
        }
        #expect(try database.read { connection throws(Problem) in try !connection.exists("SELECT 1 FROM item") })
    }

    private final class Owner: Sendable {}
}
