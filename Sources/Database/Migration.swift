public import Problems

/// One step of the schema, known by its name for ever. A step that has been released is never edited: a later step mends it.
public struct Migration: Sendable {
    /// `room-number-what`: `audit-1-entries`.
    public let name: String
    public let statements: [String]

    public init(_ name: String, _ statements: [String]) {
        self.name = name
        self.statements = statements
    }
}

extension Database {
    public func migrate(_ migrations: [Migration]) throws(Problem) {
        if try isSettled(migrations) { return }
        try writeBlocking { connection throws(Problem) in
            try connection.execute("CREATE TABLE IF NOT EXISTS schema_migrations (name TEXT NOT NULL PRIMARY KEY) STRICT")
            for migration in try missing(from: recordedMigrations(connection), of: migrations) {
                for statement in migration.statements { try connection.execute(statement) }
                try connection.execute("INSERT INTO schema_migrations (name) VALUES ($1)", [.text(migration.name)])
            }
        }
    }

    /// Looking needs no write lock, so a command beside a busy server does not wait for one.
    private func isSettled(_ migrations: [Migration]) throws(Problem) -> Bool {
        do {
            return try read { connection throws(Problem) in try missing(from: recordedMigrations(connection), of: migrations).isEmpty }
        } catch .database(.statementRefused) {
            return false  // no table yet
        }
    }
}

private func recordedMigrations(_ connection: any ReadConnection) throws(Problem) -> [String] {
    try connection.query("SELECT name FROM schema_migrations") { row in row.text(0) }
}

private func missing(from recorded: [String], of migrations: [Migration]) throws(Problem) -> [Migration] {
    let known = Set(migrations.map(\.name))
    if let stranger = recorded.first(where: { !known.contains($0) }) {
        throw .database(.newerSchema, context: [("migration", .text(stranger))])
    }
    let done = Set(recorded)
    return migrations.filter { !done.contains($0.name) }
}
