import Database
import Foundation
import Problems

/// Carries the write-ahead log into the database file on a thread and a connection of its own, so that no commit waits for it.
final class Checkpointer: @unchecked Sendable {
    // Sendable: the mutable state is touched under `condition` only; the connection, once the thread has started, by that thread only.
    private let condition = NSCondition()
    private var logPages = 0
    private var waiting: [@Sendable (Problem?) -> Void] = []
    private var isClosing = false
    private var hasEnded = false
    private var connection: Connection?

    /// From here on the log is carried over.
    private let passivePages: Int
    /// A log this long was never caught up with while commits went on: the writer is held for the moment it takes.
    private let restartPages: Int

    init(connection: Connection, passivePages: Int, restartPages: Int) {
        self.passivePages = passivePages
        self.restartPages = restartPages
        self.connection = connection
        let thread = Thread { [self] in
            if let connection = self.connection { work(connection) }
            self.connection = nil
            condition.lock()
            hasEnded = true
            condition.broadcast()
            condition.unlock()
        }
        thread.name = "database-checkpoints"
        thread.start()
    }

    func logHasGrown(toPages pages: Int) {
        guard pages >= passivePages else { return }
        condition.lock()
        logPages = pages
        condition.signal()
        condition.unlock()
    }

    /// Empties the log and cuts its file to nothing, then tells `done`.
    func truncate(_ done: @escaping @Sendable (Problem?) -> Void) {
        condition.lock()
        let isClosed = isClosing
        if !isClosed { waiting.append(done) }
        condition.signal()
        condition.unlock()
        if isClosed { done(.database(.closed)) }
    }

    func close() {
        condition.lock()
        isClosing = true
        condition.broadcast()
        condition.unlock()
    }

    func waitUntilEnded() {
        condition.lock()
        while !hasEnded { condition.wait() }
        condition.unlock()
    }

    private func work(_ connection: Connection) {
        while true {
            condition.lock()
            while logPages == 0, waiting.isEmpty, !isClosing { condition.wait() }
            let pages = logPages
            let callers = waiting
            logPages = 0
            waiting = []
            let isDone = isClosing && callers.isEmpty
            condition.unlock()
            if isDone { return }
            if !callers.isEmpty {
                let problem = attempt { () throws(Problem) in try connection.checkpoint(.truncate) }
                for caller in callers { caller(problem) }
            } else {
                // A checkpoint that fails loses nothing: the log stays, and the next commit asks again.
                let problem = attempt { () throws(Problem) in try connection.checkpoint(.passive) }
                if problem == nil, pages >= restartPages { _ = attempt { () throws(Problem) in try connection.checkpoint(.restart) } }
            }
        }
    }

    private func attempt(_ body: () throws(Problem) -> Void) -> Problem? {
        do {
            try body()
            return nil
        } catch {
            return error
        }
    }
}
