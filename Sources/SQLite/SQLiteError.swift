internal import CSQLite
import Database
import Problems

/// SQLite's result codes as problems.
enum SQLiteError {
    /// - Parameters:
    ///   - code: an extended result code.
    ///   - message: SQLite's text, for the operator's log. It names tables and columns, never values.
    static func problem(_ code: Int32, _ message: String) -> Problem {
        .database(entry(code), underlying: "SQLite \(code): \(message)")
    }

    private static func entry(_ code: Int32) -> DatabaseProblem {
        switch code {
        case SQLITE_CONSTRAINT | 6 << 8, SQLITE_CONSTRAINT | 8 << 8, SQLITE_CONSTRAINT | 10 << 8: .duplicate  // PRIMARYKEY, UNIQUE, ROWID
        default:
            switch code & 0xff {
            case SQLITE_BUSY, SQLITE_LOCKED: .busy
            case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_FORMAT: .corrupt
            case SQLITE_CONSTRAINT, SQLITE_MISMATCH: .constraintFailed
            case SQLITE_FULL, SQLITE_IOERR, SQLITE_CANTOPEN, SQLITE_READONLY, SQLITE_PERM, SQLITE_NOMEM, SQLITE_PROTOCOL, SQLITE_NOLFS,
                SQLITE_INTERRUPT:
                .unavailable
            default: .statementRefused
            }
        }
    }
}
