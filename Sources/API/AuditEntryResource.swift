import Accounts
import AuditTrail
import Encodings
import HTTPServer
import KeyStore
import Operations
import Problems

/// `/v1/audit-entries`: who did what to which key.
enum AuditEntryResource {
    static let routes = [
        Route(
            .get, "/v1/audit-entries", ReadAuditTrail.self,
            query: [
                QueryParameter("merchant", .text("`mer_…`")), QueryParameter("registration", .text("`mid_…`")),
                QueryParameter("certificate", .text("`cert_…`")),
                QueryParameter("actor", .text("A credential's id, or a user's name.")), QueryParameter("action", .text("Such as `certificate.upload`.")),
                QueryParameter("outcome", .text("`success`, or a problem's code.")), QueryParameter("from", .time("The earliest time, included.")),
                QueryParameter("to", .time("The latest time, not included.")), .limit, .after("a sequence"),
            ], answer: .ok(.page(of: entry), "A page. It may hold fewer entries than asked for, even none, and still have a next one."),
            "Lists audit entries, the oldest first: an operator's own actions, a merchant's own, an auditor's all.", list),
        Route(
            .get, "/v1/audit-entries/verify", VerifyAuditTrail.self,
            query: [
                QueryParameter("from", .integer("The first sequence; 1 when left out.", 1...Int.max)),
                QueryParameter("to", .integer("The last sequence; the present end when left out.", 1...Int.max)),
            ], answer: .ok(verification, "What was found; also where something is wrong."), "Computes the chain of audit entries again.", verify),
    ]

    private static let entry = Schema.object(
        "AuditEntry", nil,
        [
            .required("id", .text("`aud_…`")), .required("sequence", .integer("1, 2, 3, … without a gap.")), .required("at", .time()),
            .required("action", .text()),
            .required(
                "actor",
                .object("Actor", nil, [.required("kind", .oneOf(AuditActor.Kind.self)), .required("id", .text("`cred_…`, or a user's name."))])),
            .required("outcome", .text("`success`, or the code of the problem answered.")), .required("environment", .text().orNull),
            .required("merchant", .text("`mer_…`").orNull), .required("registration", .text("`mid_…`").orNull),
            .required("certificate", .text("`cert_…`").orNull), .required("request_id", .text().orNull), .required("public_key_hash", .text().orNull),
            .required("transaction_digest", .text("SHA-256 of Apple's transaction id, hexadecimal.").orNull), .required("reference", .text().orNull),
            .required("replayed", .flag()), .required("details", .anything("Further facts, by name.")),
            .required("mac", .text("What chains the entry to the one before it, hexadecimal.")),
        ])
    private static let verification = Schema.object(
        "AuditVerification", nil,
        [
            .required("intact", .flag()), .required("from", .integer("The first sequence looked at.").orNull),
            .required("to", .integer("The last sequence looked at.").orNull), .required("entry_count", .integer()),
            .required(
                "recorded_head",
                .object(
                    "RecordedHead", "The end of the chain as recorded outside the database.",
                    [.required("sequence", .integer()), .required("recorded_at", .time())]
                )
                .orNull),
            .required("findings", .list(of: Problem.summarySchema)),
        ])

    private static func list(_ exchange: Exchange, _ grant: Grant<ReadAuditTrail>) throws(Problem) -> HTTPResponse {
        let query = try exchange.query()
        let filter = AuditFilter(
            merchant: try query.id("merchant"), registration: try query.id("registration"), certificate: try query.id("certificate"),
            actor: query.text("actor"), action: query.text("action"), outcome: query.text("outcome"), from: try query.time("from"), to: try query.time("to"))
        let after = try query.integer("after", in: 0...Int.max).map { Int64($0) }
        return .page(try exchange.operations.auditEntries(filter, after: after, limit: try query.limit(), under: grant)) { write($0, &$1) }
    }

    private static func verify(_ exchange: Exchange, _ grant: Grant<VerifyAuditTrail>) throws(Problem) -> HTTPResponse {
        let query = try exchange.query()
        let from = try query.integer("from", in: 1...Int.max)
        let to = try query.integer("to", in: 1...Int.max)
        guard from ?? 1 <= to ?? Int.max else { throw .parameterInvalid("to", "is before from") }
        let range = from == nil && to == nil ? nil : Int64(from ?? 1)...Int64(to ?? Int.max)
        let verification = try exchange.operations.verifyAuditTrail(range, under: grant)
        return .json(
            JSONWriter.object { object in
                object.member("intact", verification.isIntact)
                object.member("from", verification.range.map { Int($0.lowerBound) })
                object.member("to", verification.range.map { Int($0.upperBound) })
                object.member("entry_count", verification.entryCount)
                if let recorded = verification.recordedHead {
                    object.member("recorded_head") {
                        $0.object { head in
                            head.member("sequence", Int(recorded.head.sequence))
                            head.member("recorded_at", recorded.recordedAt)
                        }
                    }
                } else {
                    object.member("recorded_head", nil as String?)
                }
                object.member("findings") { $0.array { list in for finding in verification.findings { finding.summary(&list) } } }
            })
    }

    private static func write(_ entry: AuditEntry, _ object: inout JSONWriter) {
        let content = entry.content
        object.member("id", entry.id.text)
        object.member("sequence", Int(entry.sequence))
        object.member("at", content.at)
        object.member("action", content.action)
        object.member("actor") {
            $0.object { actor in
                actor.member("kind", content.actor.kind.rawValue)
                actor.member("id", content.actor.id)
            }
        }
        object.member("outcome", content.outcome)
        object.member("environment", content.environment)
        object.member("merchant", content.merchant?.text)
        object.member("registration", content.registration?.text)
        object.member("certificate", content.certificate?.text)
        object.member("request_id", content.requestID)
        object.member("public_key_hash", content.publicKeyHash?.base64)
        object.member("transaction_digest", content.transactionDigest?.hex)
        object.member("reference", content.reference)
        object.member("replayed", content.replayed)
        object.member("details", raw: content.details.json)
        object.member("mac", entry.mac.hex)
    }
}
