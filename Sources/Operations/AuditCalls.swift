public import Accounts
import ApplePay
public import AuditTrail
import Database
import Encodings
public import Problems

/// Reading and verifying the audit trail.
extension Operations {
    /// An operator sees its own actions, a merchant its own merchants', an auditor its environment's.
    /// - Parameter after: the `next` of the page before.
    public func auditEntries(
        _ filter: AuditFilter, after: Int64?, limit: Int, under grant: Grant<ReadAuditTrail>
    ) throws(Problem) -> Page<AuditEntry> {
        var filter = filter
        switch grant.principal.role {
        case .auditor: break
        case .merchant:
            // One merchant a query: a credential of several names the one it means.
            guard let own = grant.merchants, let merchant = filter.merchant ?? (own.count == 1 ? own.first : nil), own.contains(merchant) else {
                throw Problem(MerchantProblem.unknown)
            }
            filter.merchant = merchant
        case .operator, .paymentService: filter.actor = grant.caller.text
        }
        let page = try database.read { connection throws(Problem) in
            try audit.entries(matching: filter, after: after, limit: limit, order: .oldestFirst, in: connection)
        }
        let visible = page.entries.filter { entry in
            guard entry.content.environment == nil || entry.content.environment == grant.environment.rawValue else { return false }
            guard let merchant = entry.content.merchant else { return grant.principal.role != .merchant }
            return grant.covers(merchant)
        }
        return Page(values: visible, next: page.next.map(String.init))
    }

    /// Computes the chain anew, and compares it with the head recorded outside the database.
    /// - Throws: `request.verification_running`.
    public func verifyAuditTrail(_ range: ClosedRange<Int64>?, under grant: Grant<VerifyAuditTrail>) throws(Problem) -> Verification {
        guard auditVerification.enter() else { throw .operation(.verificationRunning) }
        defer { auditVerification.leave() }
        return try verifyAuditTrail(range)
    }

    /// For the command line and the grant's call above.
    public func verifyAuditTrail(_ range: ClosedRange<Int64>? = nil) throws(Problem) -> Verification {
        let recorded: RecordedHead? = if let file = settings.auditHeadFile { try audit.recordedHead(in: file) } else { nil }
        return try audit.verify(range, against: recorded, in: database)
    }
}
