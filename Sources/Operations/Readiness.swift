import Database
public import Problems

extension Operations {
    /// Why payments can't be served now; empty where they can: the database is read, and the writer asked for its turn. May block.
    public func readiness() -> [Problem] {
        do throws(Problem) {
            _ = try database.read { connection throws(Problem) in try connection.exists("SELECT 1 FROM keyring") }
            try database.writeBlocking { connection throws(Problem) in _ = try connection.exists("SELECT 1 FROM keyring") }
            return []
        } catch {
            return [error]
        }
    }
}
