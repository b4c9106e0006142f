internal import CSQLite
import Database
import Problems

/// One connection to the file, used by one thread at a time.
@safe final class Connection: WriteConnection, @unchecked Sendable {
    // Sendable: SQLite's multi-thread mode allows a connection on any thread, one at a time; the pool, the writer and the checkpointer see to that.
    enum Access { case read, write }

    private(set) var transactionNumber = 0
    private(set) var rollbackNumber = 0
    /// Pages in the write-ahead log after the last commit of this connection.
    private(set) var logPages = 0

    private let raw: OpaquePointer
    private var cache = StatementCache()
    /// Between a begin and its end. A full disk makes SQLite end a transaction by itself; a body that went on then would write outside of any.
    private var expectsTransaction = false
    private var hooks: [(owner: ObjectIdentifier, run: (any WriteConnection) throws(Problem) -> Void)] = []

    /// Opens the existing file at `path`, whose settings are those of `design.md` §9.
    init(path: String, access: Access, busyTimeoutMilliseconds: Int32) throws(Problem) {
        Connection.prepareLibrary()
        var raw: OpaquePointer?
        let flags = (access == .read ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE) | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let code = unsafe sqlite3_open_v2(path, &raw, flags, nil)
        guard let raw = unsafe raw else { throw SQLiteError.problem(SQLITE_NOMEM, "no connection") }
        unsafe self.raw = raw
        guard code == SQLITE_OK else { throw lastProblem(code) }
        unsafe sqlite3_busy_timeout(raw, busyTimeoutMilliseconds)
        unsafe coster_sqlite3_db_config(raw, SQLITE_DBCONFIG_DEFENSIVE, 1)
        unsafe coster_sqlite3_db_config(raw, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
        unsafe coster_sqlite3_db_config(raw, SQLITE_DBCONFIG_ENABLE_FKEY, 1)
        // A name in double quotes is a column, never silently a text.
        unsafe coster_sqlite3_db_config(raw, SQLITE_DBCONFIG_DQS_DML, 0)
        unsafe coster_sqlite3_db_config(raw, SQLITE_DBCONFIG_DQS_DDL, 0)
        try run("PRAGMA temp_store = MEMORY")
        try run("PRAGMA cell_size_check = ON")
        switch access {
        case .read:
            try run("PRAGMA query_only = ON")
        case .write:
            guard try first("PRAGMA journal_mode = WAL", [], { row in row.text(0) }) == "wal" else {
                throw .database(.unavailable, underlying: "the file system does not carry a write-ahead log")
            }
            try run("PRAGMA synchronous = FULL")
            try run("PRAGMA secure_delete = ON")
            try run("PRAGMA wal_autocheckpoint = 0")
            try run("PRAGMA journal_size_limit = 67108864")
            try run("PRAGMA cache_size = -16384")
            // After the pragma: automatic checkpoints are a hook of this kind too. The context is unowned: the hook goes with the connection.
            unsafe sqlite3_wal_hook(raw, rememberLogPages, Unmanaged.passUnretained(self).toOpaque())
        }
        cache.removeAll()
    }

    deinit {
        cache.removeAll()
        // `_v2`: a statement that somebody still holds keeps the connection until it goes.
        unsafe sqlite3_close_v2(raw)
    }

    fileprivate func setLogPages(_ pages: Int) { logPages = pages }

    /// Memory statistics would take a lock of the whole process at each allocation.
    private static func prepareLibrary() { _ = libraryIsPrepared }
    private static let libraryIsPrepared = coster_sqlite3_config_without_memory_status() == SQLITE_OK

    // MARK: Statements

    func query<R>(_ sql: String, _ parameters: [Parameter], _ row: (any Row) throws(Problem) -> R) throws(Problem) -> [R] {
        try withStatement(sql, parameters) { statement throws(Problem) in
            var rows: [R] = []
            while try statement.step() { rows.append(try row(statement)) }
            return rows
        }
    }

    func first<R>(_ sql: String, _ parameters: [Parameter], _ row: (any Row) throws(Problem) -> R) throws(Problem) -> R? {
        try withStatement(sql, parameters) { statement throws(Problem) in
            try statement.step() ? try row(statement) : nil
        }
    }

    @discardableResult func execute(_ sql: String, _ parameters: [Parameter]) throws(Problem) -> Int {
        try withStatement(sql, parameters) { statement throws(Problem) in
            while try statement.step() {}
            return statement.isReadOnly ? 0 : unsafe Int(sqlite3_changes64(raw))
        }
    }

    private func withStatement<R>(_ sql: String, _ parameters: [Parameter], _ body: (Statement) throws(Problem) -> R) throws(Problem) -> R {
        if expectsTransaction, !isInTransaction { throw .database(.unavailable, underlying: "the transaction was rolled back by the engine") }
        let statement = try cache.statement(sql) { sql throws(Problem) in try unsafe Statement(sql, on: raw) }
        statement.isInUse = true
        defer {
            statement.reset()
            statement.isInUse = false
        }
        try statement.bind(parameters)
        return try body(statement)
    }

    private func run(_ sql: String) throws(Problem) { try execute(sql, []) }

    private func lastProblem(_ code: Int32) -> Problem { unsafe SQLiteError.problem(code, String(cString: sqlite3_errmsg(raw))) }

    // MARK: Transactions

    var isInTransaction: Bool { unsafe sqlite3_get_autocommit(raw) == 0 }

    /// A snapshot: it stands from the first statement that reads.
    func beginReading() throws(Problem) { try run("BEGIN") }
    func endReading() throws(Problem) { try run("COMMIT") }

    /// - Throws: `database.busy` when another process held the write lock for longer than the busy timeout.
    func beginWriting() throws(Problem) {
        try run("BEGIN IMMEDIATE")
        expectsTransaction = true
        transactionNumber += 1
        hooks.removeAll()
    }

    /// Runs the hooks, then commits; when it throws, the transaction is gone.
    func commit() throws(Problem) {
        do {
            for hook in hooks { try hook.run(self) }
            try run("COMMIT")
            expectsTransaction = false
            hooks.removeAll()
        } catch {
            rollBack()
            throw error
        }
    }

    func rollBack() {
        expectsTransaction = false
        rollbackNumber += 1
        hooks.removeAll()
        // A full disk has rolled back already. If this fails too, the writer sees that the transaction still stands and opens anew.
        if isInTransaction { try? run("ROLLBACK") }
    }

    /// Marks where a body begins.
    func setSavepoint() throws(Problem) -> Savepoint {
        try run("SAVEPOINT body")
        return Savepoint(hookCount: hooks.count)
    }

    func release(_ savepoint: consuming Savepoint) throws(Problem) { try run("RELEASE body") }

    /// Undoes what was written, and forgets the hooks asked for, since `savepoint`.
    func rollBack(to savepoint: consuming Savepoint) throws(Problem) {
        rollbackNumber += 1
        hooks.removeSubrange(savepoint.hookCount...)
        try run("ROLLBACK TO body")
        try run("RELEASE body")
    }

    struct Savepoint: ~Copyable {
        fileprivate let hookCount: Int
    }

    func beforeCommit(_ owner: ObjectIdentifier, _ hook: @escaping (any WriteConnection) throws(Problem) -> Void) {
        if !hooks.contains(where: { $0.owner == owner }) { hooks.append((owner, hook)) }
    }

    /// Writes all there is into the empty file at `target`.
    func copyEverything(to target: String) throws(Problem) {
        try run("PRAGMA query_only = OFF")
        try execute("VACUUM INTO $1", [.text(target)])
    }

    // MARK: Checkpoints

    enum Checkpoint {
        /// Copies what it can without waiting for anyone.
        case passive
        /// Waits for the writer and the readers, so that the next commit begins the log anew.
        case restart
        /// The same, and cuts the log to nothing.
        case truncate
    }

    /// - Throws: `database.busy` when the log could not be emptied within the busy timeout (never for `passive`).
    func checkpoint(_ kind: Checkpoint) throws(Problem) {
        let mode =
            switch kind {
            case .passive: SQLITE_CHECKPOINT_PASSIVE
            case .restart: SQLITE_CHECKPOINT_RESTART
            case .truncate: SQLITE_CHECKPOINT_TRUNCATE
            }
        let code = unsafe sqlite3_wal_checkpoint_v2(raw, nil, mode, nil, nil)
        guard code == SQLITE_OK || (kind == .passive && code & 0xff == SQLITE_BUSY) else { throw lastProblem(code) }
    }
}

/// Called by SQLite after each commit of the writing connection.
private func rememberLogPages(_ context: UnsafeMutableRawPointer?, _: OpaquePointer?, _: UnsafePointer<CChar>?, _ pages: Int32) -> Int32 {
    if let context = unsafe context { unsafe Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue().setLogPages(Int(pages)) }
    return SQLITE_OK
}
