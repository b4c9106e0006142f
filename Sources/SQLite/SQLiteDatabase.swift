public import Database
import Dispatch
import Glibc
public import Problems

/// The embedded engine: one SQLite file in WAL mode, many readers, one writer thread with group commit.
///
/// Durable means `synchronous = FULL`: a write returns after the log was flushed. Deleted content is overwritten (`secure_delete`), temporary tables
/// stay in memory, and the files have mode 0600.
public final class SQLiteDatabase: Database {
    public enum Mode: Sendable {
        /// Makes a new, empty file.
        case create
        case readWrite
        /// For looking at a file that must not change: no writer, no checkpoint.
        case readOnly
    }

    /// The limits, each with the accident it prevents.
    public struct Limits: Sendable {
        /// How long to wait for another process's write lock, or for a reading connection.
        public var busyTimeoutMilliseconds: Int32 = 5000
        /// Reading connections at most. Each holds a page cache of 2 MB at most.
        public var readers = 8
        /// Bodies that may wait for the writer; more are refused as `database.busy` instead of filling the memory.
        public var queuedWrites = 10_000
        /// Bodies that share one commit, so that none waits for thousands.
        public var writesPerCommit = 256
        /// Pages of log from which a checkpoint runs beside the commits.
        public var checkpointPages = 2000
        /// Pages of log from which the writer is held for a moment, so that the log can begin anew instead of filling the disk.
        public var restartPages = 16_000

        public init() {}
    }

    public let path: String
    private let readers: ReaderPool
    let writer: Writer?
    private let checkpointer: Checkpointer?
    private let openReader: @Sendable () throws(Problem) -> Connection

    /// - Throws: `database.missing`, `.already_exists`, `.corrupt` (also: not a database), `.busy`, `.unavailable`.
    public init(path: String, mode: Mode, limits: Limits = Limits()) throws(Problem) {
        try SQLiteDatabase.prepareFile(path, mode)
        self.path = path
        let timeout = limits.busyTimeoutMilliseconds
        let openReader: @Sendable () throws(Problem) -> Connection = { () throws(Problem) in
            try Connection(path: path, access: .read, busyTimeoutMilliseconds: timeout)
        }
        let openWriter: @Sendable () throws(Problem) -> Connection = { () throws(Problem) in
            try Connection(path: path, access: .write, busyTimeoutMilliseconds: timeout)
        }
        self.openReader = openReader
        readers = ReaderPool(capacity: limits.readers, busyTimeoutMilliseconds: timeout, open: openReader)
        if mode == .readOnly {
            writer = nil
            checkpointer = nil
        } else {
            let connection = try openWriter()
            let checkpointer = try Checkpointer(connection: openWriter(), passivePages: limits.checkpointPages, restartPages: limits.restartPages)
            self.checkpointer = checkpointer
            writer = Writer(
                connection: connection, queueLimit: limits.queuedWrites, batchLimit: limits.writesPerCommit, open: openWriter,
                afterCommit: { checkpointer.logHasGrown(toPages: $0) })
        }
    }

    deinit {
        // Not `close()`: the last reference may go on the writer's own thread.
        writer?.close()
        readers.close()
        checkpointer?.close()
    }

    /// Writes what is queued, then lets go of the file; the last process to do so empties the log. Blocks.
    public func close() {
        writer?.close()
        writer?.waitUntilEnded()
        readers.close()
        // Last, because a reading connection can't empty the log.
        checkpointer?.close()
        checkpointer?.waitUntilEnded()
    }

    // MARK: Database

    public func read<R>(_ body: (any ReadConnection) throws(Problem) -> R) throws(Problem) -> R {
        try readers.read(body)
    }

    public func write<R: Sendable>(_ body: @escaping @Sendable (any WriteConnection) throws(Problem) -> R) async throws(Problem) -> R {
        let writer = try presentWriter()
        let result: Result<R, Problem> = unsafe await withUnsafeContinuation { continuation in
            writer.enqueue(BodyJob(body) { result in unsafe continuation.resume(returning: result) })
        }
        return try result.get()
    }

    public func writeBlocking<R: Sendable>(_ body: @escaping @Sendable (any WriteConnection) throws(Problem) -> R) throws(Problem) -> R {
        let writer = try presentWriter()
        guard !writer.isCurrentThread else { throw .database(.statementRefused, underlying: "a write inside a write") }
        let box = ResultBox<R>()
        writer.enqueue(BodyJob(body) { result in box.put(result) })
        return try box.wait().get()
    }

    private func presentWriter() throws(Problem) -> Writer {
        guard let writer else { throw .database(.unavailable, cause: "The database was opened for reading only.") }
        return writer
    }

    // MARK: The file

    public func forgetDeleted() async throws(Problem) { try await truncateWAL() }

    /// Carries the whole log into the database file and cuts it to nothing, so that no deleted row stays in it.
    /// - Throws: `database.busy` when a reader held an old snapshot for longer than the busy timeout.
    public func truncateWAL() async throws(Problem) {
        guard let checkpointer else { throw .database(.unavailable, cause: "The database was opened for reading only.") }
        let problem: Problem? = unsafe await withUnsafeContinuation { continuation in
            checkpointer.truncate { problem in unsafe continuation.resume(returning: problem) }
        }
        if let problem { throw problem }
    }

    /// What SQLite's own check finds wrong with pages, indexes and foreign keys, at most 100 findings; empty when nothing. It reads the whole file.
    /// It does not see a changed value: those are for the MACs of the rows.
    public func integrityFindings() throws(Problem) -> [String] {
        try readers.read { connection throws(Problem) in
            let findings = try connection.query("PRAGMA integrity_check(100)") { row in row.text(0) }.filter { $0 != "ok" }
            let foreign = try connection.query("PRAGMA foreign_key_check") { row in "row \(row.integer(1)) of \(row.text(0)) refers to nothing" }
            return findings + foreign.prefix(100)
        }
    }

    public struct Size: Sendable, Equatable {
        public let databaseBytes: Int
        public let logBytes: Int
        public let pages: Int
        /// Pages that hold nothing now and are used again first.
        public let freePages: Int
        public let bytesPerPage: Int
    }

    public func size() throws(Problem) -> Size {
        try readers.read { connection throws(Problem) in
            func pragma(_ sql: String) throws(Problem) -> Int { Int(try connection.first(sql, [], { row in row.integer(0) }) ?? 0) }
            return Size(
                databaseBytes: SQLiteDatabase.bytes(of: path), logBytes: SQLiteDatabase.bytes(of: path + "-wal"), pages: try pragma("PRAGMA page_count"),
                freePages: try pragma("PRAGMA freelist_count"), bytesPerPage: try pragma("PRAGMA page_size"))
        }
    }

    /// Writes one snapshot of everything, without deleted content, into a new file of mode 0600, flushed. Commits go on meanwhile.
    /// - Throws: `database.already_exists` where there is a file at `target`.
    public func writeCopy(to target: String) throws(Problem) {
        try SQLiteDatabase.prepareFile(target, .create)
        try openReader().copyEverything(to: target)
        let descriptor = unsafe open(target, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .database(.unavailable, underlying: "\(target): errno \(errno)") }
        defer { Glibc.close(descriptor) }
        guard fsync(descriptor) == 0 else { throw .database(.unavailable, underlying: "\(target): errno \(errno)") }
    }

    /// SQLite gives a log and its index the mode of the database file, so making that one with 0600 settles all three.
    private static func prepareFile(_ path: String, _ mode: Mode) throws(Problem) {
        if mode == .create {
            let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else {
                throw .database(errno == EEXIST ? .alreadyExists : .unavailable, underlying: "\(path): errno \(errno)")
            }
            Glibc.close(descriptor)
        } else if unsafe access(path, F_OK) != 0, errno == ENOENT || errno == ENOTDIR {
            throw .database(.missing)
        }
    }

    private static func bytes(of path: String) -> Int {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? Int(status.st_size) : 0
    }
}

/// A result that one thread waits for.
private final class ResultBox<R: Sendable>: @unchecked Sendable {
    // Sendable: written once before the signal, read once after it.
    private let semaphore = DispatchSemaphore(value: 0)
    private var result: Result<R, Problem> = .failure(.database(.closed))

    func put(_ result: Result<R, Problem>) {
        self.result = result
        semaphore.signal()
    }

    func wait() -> Result<R, Problem> {
        semaphore.wait()
        return result
    }
}
