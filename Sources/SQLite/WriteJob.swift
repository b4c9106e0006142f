import Database
import Problems

/// One body on its way through the writer: run once inside a transaction, then told what became of it.
protocol WriteJob: AnyObject, Sendable {
    /// - Returns: whether the body ended without a problem.
    func run(on connection: Connection) -> Bool
    /// Lets the caller go on. `failure` stands in for the body's own result: nothing may be told that depends on an uncommitted transaction.
    func finish(_ failure: Problem?)
}

final class BodyJob<R: Sendable>: WriteJob, @unchecked Sendable {
    // Sendable: handed from the caller to the writer's thread under the queue's lock, and touched by that thread alone from then on.
    private let body: @Sendable (any WriteConnection) throws(Problem) -> R
    private let deliver: @Sendable (Result<R, Problem>) -> Void
    private var result: Result<R, Problem> = .failure(.database(.closed))

    init(_ body: @escaping @Sendable (any WriteConnection) throws(Problem) -> R, deliver: @escaping @Sendable (Result<R, Problem>) -> Void) {
        self.body = body
        self.deliver = deliver
    }

    func run(on connection: Connection) -> Bool {
        do {
            result = .success(try body(connection))
            return true
        } catch {
            result = .failure(error)
            return false
        }
    }

    func finish(_ failure: Problem?) {
        if let failure { deliver(.failure(failure)) } else { deliver(result) }
    }
}
