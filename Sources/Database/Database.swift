public import Problems

/// Where rows are kept, whichever engine keeps them.
public protocol Database: AnyObject, Sendable {
    /// Runs `body` on one snapshot, on the calling thread, which may block: never call it on an event loop.
    func read<R>(_ body: (any ReadConnection) throws(Problem) -> R) throws(Problem) -> R

    /// Runs `body` on the one writer, and returns once what it wrote is durable.
    ///
    /// Whatever queued while the last commit ran shares the next one, so many callers pay for one flush; there is no timer. A problem thrown by
    /// `body` undoes that body alone. A commit that fails fails every body in it.
    /// - Throws: what `body` threw; `database.busy` when the queue is full or another process holds the write lock too long;
    ///   `database.unavailable` when nothing could be written (full disk, I/O error): then nothing of it happened.
    func write<R: Sendable>(_ body: @escaping @Sendable (any WriteConnection) throws(Problem) -> R) async throws(Problem) -> R

    /// ``write(_:)`` for callers that may block: commands, plain threads. Never from inside a body.
    func writeBlocking<R: Sendable>(_ body: @escaping @Sendable (any WriteConnection) throws(Problem) -> R) throws(Problem) -> R

    /// Makes sure that what was deleted is in no file any more, the write-ahead log included.
    /// - Throws: `database.busy` when somebody reads an old snapshot for too long.
    func forgetDeleted() async throws(Problem)

    /// Brings the schema up to `migrations`: runs, in order and in one transaction, those that are not yet recorded in `schema_migrations`.
    /// - Throws: `database.newer_schema` when one is recorded that `migrations` doesn't know.
    func migrate(_ migrations: [Migration]) throws(Problem)
}
