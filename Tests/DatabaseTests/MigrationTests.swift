import Database
import Problems
import Testing

@Suite struct MigrationTests {
    static let first = Migration("test-1", ["CREATE TABLE a (id INTEGER PRIMARY KEY)", "INSERT INTO a (id) VALUES (1)"])
    static let second = Migration("test-2", ["CREATE TABLE b (id INTEGER PRIMARY KEY)"])

    @Test(arguments: Engine.allCases) func `runs each step once, in order`(engine: Engine) throws {
        let fresh = try engine.make()
        try fresh.database.migrate([Self.first])
        try fresh.database.migrate([Self.first])
        try fresh.database.migrate([Self.first, Self.second])
        let recorded = try fresh.database.read { connection throws(Problem) in
            #expect(try connection.first("SELECT count(*) FROM a") { row in row.integer(0) } == 1)
            return try connection.query("SELECT name FROM schema_migrations ORDER BY name") { row in row.text(0) }
        }
        #expect(recorded == ["test-1", "test-2"])
    }

    @Test(arguments: Engine.allCases) func `refuses a database that a newer version has written`(engine: Engine) throws {
        let fresh = try engine.make()
        try fresh.database.migrate([Self.first, Self.second])
        let problem = #expect(throws: Problem.self) { try fresh.database.migrate([Self.first]) }
        #expect(problem == .database(.newerSchema))
        #expect(problem?.context.first?.value == .text("test-2"))
    }

    @Test(arguments: Engine.allCases) func `a step that fails leaves nothing behind`(engine: Engine) throws {
        let fresh = try engine.make()
        let broken = Migration("test-2", ["CREATE TABLE b (id INTEGER PRIMARY KEY)", "CREATE TABLE a (id INTEGER PRIMARY KEY)"])
        #expect(throws: Problem.database(.statementRefused)) { try fresh.database.migrate([Self.first, broken]) }
        #expect(throws: Problem.database(.statementRefused)) {
            try fresh.database.read { connection throws(Problem) in try connection.exists("SELECT 1 FROM a") }
        }
        try fresh.database.migrate([Self.first, Self.second])
    }
}
