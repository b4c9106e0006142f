import Database
import Problems
import Testing

@Suite struct ConnectionTests {
    @Test(arguments: Engine.allCases) func `gives rows in order, the first one, and whether there is any`(engine: Engine) throws {
        let fresh = try engine.make()
        let database = try fresh.withTable()
        let changed = try database.writeBlocking { connection throws(Problem) in
            for name in ["c", "a", "b"] { try connection.execute("INSERT INTO item (name) VALUES ($1)", [.text(name)]) }
            return try connection.execute("UPDATE item SET name = name || $1 WHERE name <> $2", ["!", "a"])
        }
        #expect(changed == 2)
        try database.read { connection throws(Problem) in
            #expect(try connection.query("SELECT name FROM item ORDER BY name") { row in row.text(0) } == ["a", "b!", "c!"])
            #expect(try connection.first("SELECT name FROM item ORDER BY name DESC") { row in row.text(0) } == "c!")
            #expect(try connection.first("SELECT name FROM item WHERE name = $1", ["none"]) { row in row.text(0) } == nil)
            #expect(try connection.exists("SELECT 1 FROM item WHERE name = $1", ["a"]))
            #expect(try !connection.exists("SELECT 1 FROM item WHERE name = $1", ["z"]))
        }
    }

    @Test(arguments: Engine.allCases) func `one parameter may stand in several places`(engine: Engine) throws {
        let fresh = try engine.make()
        let sum = try fresh.database.read { connection throws(Problem) in
            try connection.first("SELECT $1 + $2 + $1", [1, 10]) { row in row.integer(0) }
        }
        #expect(sum == 12)
    }

    static let refused: [(sql: String, parameters: [Parameter])] = [
        ("SELECT", []), ("SELECT 1; SELECT 2", []), ("", []), ("SELECT nothing FROM nowhere", []), ("SELECT $1", []), ("SELECT $1", [1, 2]), ("SELECT 1", [1]),
        ("SELECT $2, $1", [1, 2]), ("SELECT ?", [1]), ("SELECT $name", [1]),
    ]

    @Test(arguments: Engine.allCases, refused)
    func `refuses what is not one statement with parameters in order`(engine: Engine, statement: (sql: String, parameters: [Parameter])) throws {
        let fresh = try engine.make()
        #expect(throws: Problem.database(.statementRefused)) {
            try fresh.database.read { connection throws(Problem) in try connection.query(statement.sql, statement.parameters) { row in row.integer(0) } }
        }
    }

    @Test(arguments: Engine.allCases) func `a row's closure may query again, even the same text`(engine: Engine) throws {
        let fresh = try engine.make()
        let database = try fresh.withTable()
        try database.writeBlocking { connection throws(Problem) in
            for name in ["a", "b", "c"] { try connection.execute("INSERT INTO item (name) VALUES ($1)", [.text(name)]) }
        }
        let pairs = try database.read { connection throws(Problem) in
            try connection.query("SELECT name FROM item ORDER BY id") { outer throws(Problem) in
                try connection.query("SELECT name FROM item ORDER BY id") { inner in outer.text(0) + inner.text(0) }
            }
        }
        #expect(pairs == [["aa", "ab", "ac"], ["ba", "bb", "bc"], ["ca", "cb", "cc"]])
    }

    @Test(arguments: Engine.allCases) func `a problem in a row's closure ends the query and comes out`(engine: Engine) throws {
        let fresh = try engine.make()
        #expect(throws: Problem.database(.missing)) {
            try fresh.database.read { connection throws(Problem) in
                try connection.query("SELECT 1") { _ throws(Problem) -> Int in throw .database(.missing) }
            }
        }
        #expect(try fresh.database.read { connection throws(Problem) in try connection.first("SELECT 1") { row in row.integer(0) } } == 1)
    }

    static let violations: [(sql: String, problem: Problem)] = [
        ("INSERT INTO item (id, name) VALUES (1, 'other')", .database(.duplicate)), ("INSERT INTO item (name) VALUES ('one')", .database(.duplicate)),
        ("INSERT INTO item (name) VALUES (NULL)", .database(.constraintFailed)),
        ("INSERT INTO item (id, name) VALUES ('text', 'x')", .database(.constraintFailed)),
    ]

    @Test(arguments: Engine.allCases, violations)
    func `tells a second record of the same key from a broken rule`(engine: Engine, violation: (sql: String, problem: Problem)) throws {
        let fresh = try engine.make()
        let database = try fresh.withTable()
        _ = try database.writeBlocking { connection throws(Problem) in try connection.execute("INSERT INTO item (id, name) VALUES (1, 'one')") }
        #expect(throws: violation.problem) { try database.writeBlocking { connection throws(Problem) in try connection.execute(violation.sql) } }
    }
}
