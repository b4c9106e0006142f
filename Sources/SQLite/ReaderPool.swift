import Database
import Foundation
import Problems

/// The reading connections, each borrowed by the calling thread for one snapshot. The one given back last goes out first: its pages are warm.
final class ReaderPool: @unchecked Sendable {
    // Sendable: the mutable state is touched under `condition` only.
    private let condition = NSCondition()
    private var idle: [Connection] = []
    private var opened = 0
    private var isClosed = false

    private let capacity: Int
    private let busyTimeoutMilliseconds: Int32
    private let open: @Sendable () throws(Problem) -> Connection

    init(capacity: Int, busyTimeoutMilliseconds: Int32, open: @escaping @Sendable () throws(Problem) -> Connection) {
        self.capacity = capacity
        self.busyTimeoutMilliseconds = busyTimeoutMilliseconds
        self.open = open
    }

    func read<R>(_ body: (Connection) throws(Problem) -> R) throws(Problem) -> R {
        let connection = try borrow()
        defer { giveBack(connection) }
        try connection.beginReading()
        do {
            let result = try body(connection)
            try connection.endReading()
            return result
        } catch {
            if connection.isInTransaction { try? connection.endReading() }
            throw error
        }
    }

    /// Closes the idle connections now, the borrowed ones when they come back.
    func close() {
        condition.lock()
        isClosed = true
        idle.removeAll()
        condition.broadcast()
        condition.unlock()
    }

    private func borrow() throws(Problem) -> Connection {
        condition.lock()
        var deadline: Date?
        while !isClosed {
            if let connection = idle.popLast() {
                condition.unlock()
                return connection
            }
            if opened < capacity {
                opened += 1
                condition.unlock()
                do {
                    return try open()
                } catch {
                    condition.lock()
                    opened -= 1
                    condition.signal()
                    condition.unlock()
                    throw error
                }
            }
            let limit = deadline ?? Date(timeIntervalSinceNow: Double(busyTimeoutMilliseconds) / 1000)
            deadline = limit
            if !condition.wait(until: limit), idle.isEmpty, !isClosed {
                condition.unlock()
                throw .database(.busy, cause: "All \(capacity) reading connections of the database are in use.")
            }
        }
        condition.unlock()
        throw .database(.closed)
    }

    private func giveBack(_ connection: Connection) {
        condition.lock()
        // One whose snapshot could not be ended would hold back every checkpoint: it is closed instead.
        if isClosed || connection.isInTransaction { opened -= 1 } else { idle.append(connection) }
        condition.signal()
        condition.unlock()
    }
}
