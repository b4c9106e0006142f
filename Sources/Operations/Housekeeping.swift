import ApplePay
import AuditTrail
import Database
import Encodings
import KeyStore
public import Problems

/// What `serve` does every minute, at low priority.
extension Operations {
    /// Prunes replay marks and idempotency keys whose time is over, destroys the keys of requests cancelled long ago, and writes the head of the audit
    /// trail to its file outside the database.
    public func keepHouse() async throws(Problem) {
        let now = clock()
        let limit = 500
        var pruned: Int
        repeat {
            pruned = try await database.write { [keyStore] connection throws(Problem) in
                try keyStore.replayMarks.prune(at: now, limit: limit, in: connection)
            }
        } while pruned == limit
        let overdue = try database.read { [keyStore, settings] connection throws(Problem) in
            try keyStore.cancelledBefore(now.adding(seconds: -settings.cancelledKeySeconds), limit: 100, connection)
        }
        try await database.write { [keyStore, idempotency, audit] connection throws(Problem) in
            try idempotency.prune(at: now, in: connection)
            for id in overdue {
                let record = try keyStore.apply(.expire, to: id, by: "expiry of a cancelled request", at: now, in: connection).record
                _ = try audit.append(
                    AuditDraft(
                        action: "certificate.expire", actor: .system, at: now, environment: record.environment.rawValue, merchant: record.merchant,
                        registration: record.registration, certificate: id), in: connection)
            }
        }
        if !overdue.isEmpty { try await database.forgetDeleted() }
        if let file = settings.auditHeadFile { try audit.recordHead(to: file, at: now, in: database) }
    }
}
