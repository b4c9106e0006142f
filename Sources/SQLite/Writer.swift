import Database
import Foundation
import Problems

/// The one thread that writes. Whatever queued while the last commit ran shares the next one.
final class Writer: @unchecked Sendable {
    // Sendable: the queue is touched under `condition` only; the connection, once the thread has started, by that thread only.
    private let condition = NSCondition()
    private var queue: [any WriteJob] = []
    private var isClosing = false
    private var hasEnded = false
    /// Not the thread itself: its body holds this object, and the two would keep each other for ever.
    private var threadIdentity: ObjectIdentifier?
    private var connection: Connection?

    private let queueLimit: Int
    private let batchLimit: Int
    private let open: @Sendable () throws(Problem) -> Connection
    private let afterCommit: @Sendable (_ logPages: Int) -> Void

    /// - Parameters:
    ///   - queueLimit: how many bodies may wait.
    ///   - batchLimit: how many bodies share one commit at most, so that the first of them does not wait for hundreds.
    ///   - open: makes the writing connection, at first and again should one be lost.
    init(
        connection: Connection, queueLimit: Int, batchLimit: Int, open: @escaping @Sendable () throws(Problem) -> Connection,
        afterCommit: @escaping @Sendable (_ logPages: Int) -> Void
    ) {
        self.queueLimit = queueLimit
        self.batchLimit = batchLimit
        self.open = open
        self.afterCommit = afterCommit
        self.connection = connection
        let thread = Thread { [self] in
            work()
            self.connection = nil
            condition.lock()
            hasEnded = true
            condition.broadcast()
            condition.unlock()
        }
        thread.name = "database-writer"
        threadIdentity = ObjectIdentifier(thread)
        thread.start()
    }

    /// Whether the caller is a body: it would wait for itself.
    var isCurrentThread: Bool { ObjectIdentifier(Thread.current) == threadIdentity }

    func enqueue(_ job: any WriteJob) {
        condition.lock()
        let refusal: Problem? =
            if isClosing {
                .database(.closed)
            } else if queue.count >= queueLimit {
                .database(.busy, context: [("queued", .number(queue.count))])
            } else {
                nil
            }
        if refusal == nil {
            queue.append(job)
            if queue.count == 1 { condition.signal() }
        }
        condition.unlock()
        if let refusal { job.finish(refusal) }
    }

    /// Takes nothing on any more; what is queued is still written.
    func close() {
        condition.lock()
        isClosing = true
        condition.broadcast()
        condition.unlock()
    }

    func waitUntilEnded() {
        if isCurrentThread { return }
        condition.lock()
        while !hasEnded { condition.wait() }
        condition.unlock()
    }

    private func work() {
        while let batch = take() {
            do {
                let present = if let connection { connection } else { try open() }
                connection = present
                commit(batch[...], on: present)
                // A rollback that failed leaves a transaction nobody wants: begin again with a new connection.
                if present.isInTransaction { connection = nil }
            } catch {
                for job in batch { job.finish(error) }
            }
        }
    }

    /// The next batch, or nil when closing and all is done.
    private func take() -> [any WriteJob]? {
        condition.lock()
        defer { condition.unlock() }
        while queue.isEmpty {
            if isClosing { return nil }
            condition.wait()
        }
        if queue.count <= batchLimit {
            let batch = queue
            queue = []
            return batch
        }
        let batch = Array(queue.prefix(batchLimit))
        queue.removeFirst(batchLimit)
        return batch
    }

    private func commit(_ batch: ArraySlice<any WriteJob>, on connection: Connection) {
        var pending = batch
        while !pending.isEmpty {
            let ran: ArraySlice<any WriteJob>
            var failure: Problem?
            do {
                try connection.beginWriting()
            } catch {
                for job in pending { job.finish(error) }
                return
            }
            (ran, failure) = run(pending, on: connection)
            if failure == nil {
                do { try connection.commit() } catch { failure = error }
                afterCommit(connection.logPages)
            } else {
                connection.rollBack()
            }
            for job in ran { job.finish(failure) }
            pending = pending[ran.endIndex...]
        }
    }

    /// Runs the bodies of one transaction, each under its own savepoint.
    /// - Returns: those that ran, and why their transaction is lost, if it is. A full disk or an I/O error makes SQLite roll back the whole of it.
    private func run(_ batch: ArraySlice<any WriteJob>, on connection: Connection) -> (ran: ArraySlice<any WriteJob>, failure: Problem?) {
        for index in batch.indices {
            do {
                let savepoint = try connection.setSavepoint()
                if batch[index].run(on: connection) {
                    try connection.release(savepoint)
                } else {
                    try connection.rollBack(to: savepoint)
                }
            } catch {
                return (batch[...index], error)
            }
        }
        return (batch, nil)
    }
}
