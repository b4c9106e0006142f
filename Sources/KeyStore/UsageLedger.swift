import Database
import Encodings
import Problems

/// The certificate_usage table: when and how often each key opened a token. Written with the use itself, so that it counts exactly what was committed.
struct UsageLedger: Sendable {
    func note(_ certificate: CertificateID, at now: Timestamp, in connection: any WriteConnection) throws(Problem) {
        try connection.execute(
            """
            INSERT INTO certificate_usage (certificate, first_used_at, last_used_at, count) VALUES ($1, $2, $2, 1)
            ON CONFLICT (certificate) DO UPDATE SET last_used_at = max(last_used_at, excluded.last_used_at), count = count + 1
            """, [.text(certificate.text), .integer(now.milliseconds)])
    }
}
