internal import CSQLite
import Database
import Problems

/// A prepared statement, and the row it stands on.
///
/// Belongs to one ``Connection`` and is used by that connection's present thread only.
@safe final class Statement: Row {
    let sql: String
    /// Whether running it can't change the database.
    let isReadOnly: Bool
    /// A row closure may run the same text again: then this one is in use and a second is prepared.
    var isInUse = false

    private let raw: OpaquePointer
    private let parameterCount: Int
    /// Big values stay bound until the next use: those are let go at once.
    private var holdsBigValue = false

    /// - Throws: `database.statement_refused` for a text that SQLite does not take, holds more than one statement, or doesn't number its parameters
    ///   `$1`, `$2`, … in the order in which they first appear.
    init(_ sql: String, on database: OpaquePointer) throws(Problem) {
        var statement: OpaquePointer?
        var isWhole = false
        var text = sql
        let code = text.withUTF8 { utf8 in
            var tail: UnsafePointer<CChar>?
            let start = unsafe UnsafeRawPointer(utf8.baseAddress)?.assumingMemoryBound(to: CChar.self)
            let code = unsafe sqlite3_prepare_v3(database, start, Int32(utf8.count), UInt32(SQLITE_PREPARE_PERSISTENT), &statement, &tail)
            unsafe isWhole = tail == start.map { unsafe $0 + utf8.count }
            return code
        }
        guard code == SQLITE_OK else { throw unsafe SQLiteError.problem(code, String(cString: sqlite3_errmsg(database))) }
        guard let statement = unsafe statement, isWhole else {
            unsafe sqlite3_finalize(statement)
            throw SQLiteError.problem(SQLITE_MISUSE, "not exactly one statement: \(sql)")
        }
        unsafe self.raw = statement
        self.sql = sql
        self.isReadOnly = unsafe sqlite3_stmt_readonly(statement) != 0
        self.parameterCount = unsafe Int(sqlite3_bind_parameter_count(statement))
        for index in 0..<parameterCount {
            let name = unsafe sqlite3_bind_parameter_name(statement, Int32(index + 1)).map { unsafe String(cString: $0) }
            guard name == "$\(index + 1)" else { throw SQLiteError.problem(SQLITE_MISUSE, "parameter \(index + 1) is called \(name ?? "?"): \(sql)") }
        }
    }

    deinit { unsafe sqlite3_finalize(raw) }

    func bind(_ parameters: [Parameter]) throws(Problem) {
        guard parameters.count == parameterCount else {
            throw SQLiteError.problem(SQLITE_RANGE, "\(parameters.count) values for \(parameterCount) parameters: \(sql)")
        }
        var index: Int32 = 0
        for parameter in parameters {
            index += 1
            let code: Int32
            switch parameter {
            case .null: code = unsafe sqlite3_bind_null(raw, index)
            case .integer(let value): code = unsafe sqlite3_bind_int64(raw, index, value)
            case .text(var text):
                if text.utf8.count > Statement.bigValueBytes { holdsBigValue = true }
                code = text.withUTF8 { utf8 in
                    let start = unsafe UnsafeRawPointer(utf8.baseAddress)?.assumingMemoryBound(to: CChar.self)
                    return unsafe coster_sqlite3_bind_text(raw, index, start, Int64(utf8.count))
                }
            case .blob(let bytes):
                if bytes.count > Statement.bigValueBytes { holdsBigValue = true }
                code = unsafe bytes.withUnsafeBytes { unsafe coster_sqlite3_bind_blob(raw, index, $0.baseAddress, Int64($0.count)) }
            }
            guard code == SQLITE_OK else { throw problem(code) }
        }
    }

    /// Moves to the next row; false when there is none.
    func step() throws(Problem) -> Bool {
        let code = unsafe sqlite3_step(raw)
        switch code {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default: throw problem(code)
        }
    }

    /// Ends the present run; a value of a row is no longer to be had.
    func reset() {
        unsafe sqlite3_reset(raw)
        if holdsBigValue {
            unsafe sqlite3_clear_bindings(raw)
            holdsBigValue = false
        }
    }

    private func problem(_ code: Int32) -> Problem {
        unsafe SQLiteError.problem(code, String(cString: sqlite3_errmsg(sqlite3_db_handle(raw))))
    }

    private static let bigValueBytes = 4096

    // MARK: Row

    func integer(_ column: Int) -> Int64 { unsafe sqlite3_column_int64(raw, Int32(truncatingIfNeeded: column)) }

    func isNull(_ column: Int) -> Bool { unsafe sqlite3_column_type(raw, Int32(truncatingIfNeeded: column)) == SQLITE_NULL }

    func text(_ column: Int) -> String {
        let column = Int32(truncatingIfNeeded: column)
        guard let start = unsafe sqlite3_column_text(raw, column) else { return "" }
        return unsafe String(decoding: UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(raw, column))), as: UTF8.self)
    }

    func blob(_ column: Int) -> [UInt8] {
        let column = Int32(truncatingIfNeeded: column)
        guard let start = unsafe sqlite3_column_blob(raw, column) else { return [] }
        return unsafe Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(raw, column))))
    }
}
