import ApplePay
import AuditTrail
import Database
import Encodings
import KeyStore
public import Problems

/// What `serve` does every minute, at low priority.
extension Operations {
    /// Prunes replay marks and idempotency keys whose time is over, destroys the keys of requests cancelled long ago, and writes the head of the audit
    /// trail to its file outside the database. One key that can't be destroyed keeps nothing else from being done.
    /// - Throws: the first problem, once all that can be done is done.
    public func keepHouse() async throws(Problem) {
        let now = clock()
        var first: Problem?
        func attempt(_ work: () async throws(Problem) -> Void) async {
            do { try await work() } catch { first = first ?? error }
        }
        await attempt { () async throws(Problem) in try await prune(at: now) }
        await attempt { () async throws(Problem) in
            for id in try overdueCancellations(at: now) {
                await attempt { () async throws(Problem) in try await expire(id, at: now) }
            }
        }
        await attempt { () async throws(Problem) in
            if let file = settings.auditHeadFile { try audit.recordHead(to: file, at: now, in: database) }
        }
        if let first { throw first }
    }

    /// A few hundred rows a transaction, so that no payment waits for long behind one.
    private func prune(at now: Timestamp) async throws(Problem) {
        let limit = 500
        var pruned: Int
        repeat {
            pruned = try await database.write { [keyStore, idempotency] connection throws(Problem) in
                max(try keyStore.replayMarks.prune(at: now, limit: limit, in: connection), try idempotency.prune(at: now, limit: limit, in: connection))
            }
        } while pruned == limit
    }

    private func overdueCancellations(at now: Timestamp) throws(Problem) -> [CertificateID] {
        try database.read { connection throws(Problem) in
            try keyStore.cancelledBefore(now.adding(seconds: -settings.cancelledKeySeconds), limit: 100, connection)
        }
    }

    private func expire(_ id: CertificateID, at now: Timestamp) async throws(Problem) {
        do {
            try await database.write { [keyStore, audit] connection throws(Problem) in
                let record = try keyStore.apply(.expire, to: id, by: "expiry of a cancelled request", at: now, in: connection).record
                try audit.append(
                    AuditDraft(
                        action: "certificate.expire", actor: .system, at: now, environment: record.environment.rawValue, merchant: record.merchant,
                        registration: record.registration, certificate: id), in: connection)
            }
        } catch Problem(KeyStoreProblem.stateConflict) {
            return  // Its certificate arrived a moment ago, or staff destroyed it.
        }
        await forgetDestroyed([id])
    }
}
