import Database
import Encodings
import Problems
import Synchronization

/// Counts uses of keys within one transaction and writes each key's row once, just before the commit: many decryptions share a commit.
final class UsageLedger: Sendable {
    private struct Pending {
        var transaction = -1
        var uses: [CertificateID: CertificateUsage] = [:]
    }

    private let pending = Mutex(Pending())

    func note(_ certificate: CertificateID, at now: Timestamp, in connection: any WriteConnection) {
        let number = connection.transactionNumber
        pending.withLock { pending in
            if pending.transaction != number { pending = Pending(transaction: number) }
            var usage = pending.uses[certificate] ?? CertificateUsage(firstUsedAt: now, lastUsedAt: now, count: 0)
            usage.lastUsedAt = max(usage.lastUsedAt, now)
            usage.count += 1
            pending.uses[certificate] = usage
        }
        connection.beforeCommit(ObjectIdentifier(self)) { [self] connection throws(Problem) in try write(in: connection) }
    }

    private func write(in connection: any WriteConnection) throws(Problem) {
        let uses = pending.withLock { pending in
            defer { pending.uses = [:] }
            return pending.transaction == connection.transactionNumber ? pending.uses : [:]
        }
        for (certificate, usage) in uses {
            try connection.execute(
                """
                INSERT INTO certificate_usage (certificate, first_used_at, last_used_at, count) VALUES ($1, $2, $3, $4)
                ON CONFLICT (certificate) DO UPDATE SET last_used_at = max(last_used_at, excluded.last_used_at), count = count + excluded.count
                """,
                [
                    .text(certificate.text), .integer(usage.firstUsedAt.milliseconds), .integer(usage.lastUsedAt.milliseconds),
                    .integer(Int64(usage.count)),
                ])
        }
    }
}
