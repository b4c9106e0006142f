import Database
import Dispatch
import Foundation
import Problems

@testable import SQLite

typealias Body = @Sendable (any WriteConnection) throws(Problem) -> Int

/// Has `bodies` share one transaction: they queue up while the writer is held, then it is let go.
func commitTogether(_ database: SQLiteDatabase, _ bodies: [Body]) -> [Result<Int, Problem>] {
    let results = Results(count: bodies.count)
    let isHeld = DispatchSemaphore(value: 0)
    let goOn = DispatchSemaphore(value: 0)
    let done = DispatchSemaphore(value: 0)
    database.writer?.enqueue(
        BodyJob({ _ in
            isHeld.signal()
            goOn.wait()
        }) { _ in })
    isHeld.wait()
    for (index, body) in bodies.enumerated() {
        database.writer?.enqueue(
            BodyJob(body) { result in
                results.put(result, at: index)
                done.signal()
            })
    }
    goOn.signal()
    for _ in bodies { done.wait() }
    return results.all
}

private final class Results: @unchecked Sendable {
    // Sendable: under the lock.
    private let lock = NSLock()
    private var results: [Result<Int, Problem>]

    init(count: Int) { results = Array(repeating: .failure(.database(.missing)), count: count) }

    func put(_ result: Result<Int, Problem>, at index: Int) { lock.withLock { results[index] = result } }
    var all: [Result<Int, Problem>] { lock.withLock { results } }
}

extension Result where Success == Int, Failure == Problem {
    var value: Int? { try? get() }
    var problem: Problem? { if case .failure(let problem) = self { problem } else { nil } }
}
