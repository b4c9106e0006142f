import Cryptography
import Database
import Encodings
import Problems

/// An entry as its row holds it. The chain is computed over these values, so every stored byte is bound by it.
struct StoredEntry {
    let sequence: Int64
    let at: Int64
    let action: String
    let outcome: String
    let actorKind: String
    let actor: String
    let environment: String?
    let merchant: [UInt8]?
    let registration: [UInt8]?
    let certificate: [UInt8]?
    let requestID: String?
    let publicKeyHash: [UInt8]?
    let transactionDigest: [UInt8]?
    let reference: String?
    let replayed: Int64
    let details: String
    /// Empty until it is computed.
    private(set) var mac: [UInt8]

    init(_ draft: AuditDraft, sequence: Int64) {
        self.sequence = sequence
        at = draft.at.milliseconds
        action = draft.action
        outcome = draft.outcome
        actorKind = draft.actor.kind.rawValue
        actor = draft.actor.id
        environment = draft.environment
        merchant = draft.merchant.map { StoredEntry.bytes($0.bits) }
        registration = draft.registration.map { StoredEntry.bytes($0.bits) }
        certificate = draft.certificate.map { StoredEntry.bytes($0.bits) }
        requestID = draft.requestID
        publicKeyHash = draft.publicKeyHash?.bytes
        transactionDigest = draft.transactionDigest?.bytes
        reference = draft.reference
        replayed = draft.replayed ? 1 : 0
        details = draft.details.facts.isEmpty ? "{}" : String(decoding: draft.details.json, as: UTF8.self)
        mac = []
    }

    /// - Parameter row: of a query for ``columns``.
    init(_ row: any Row) {
        sequence = row.integer(0)
        at = row.integer(1)
        action = row.text(2)
        outcome = row.text(3)
        actorKind = row.text(4)
        actor = row.text(5)
        environment = row.optionalText(6)
        merchant = row.optionalBlob(7)
        registration = row.optionalBlob(8)
        certificate = row.optionalBlob(9)
        requestID = row.optionalText(10)
        publicKeyHash = row.optionalBlob(11)
        transactionDigest = row.optionalBlob(12)
        reference = row.optionalText(13)
        replayed = row.integer(14)
        details = row.text(15)
        mac = row.blob(16)
    }

    static let columns = """
        sequence, at, action, outcome, actor_kind, actor, environment, merchant, registration, certificate, request_id, public_key_hash, \
        transaction_digest, reference, replayed, details, mac
        """

    var parameters: [Parameter] {
        [
            .integer(sequence), .integer(at), .text(action), .text(outcome), .text(actorKind), .text(actor), Parameter(environment), Parameter(merchant),
            Parameter(registration), Parameter(certificate), Parameter(requestID), Parameter(publicKeyHash), Parameter(transactionDigest),
            Parameter(reference), .integer(replayed), .text(details), .blob(mac),
        ]
    }

    static let insertion = """
        INSERT INTO audit_entries (\(columns)) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
        """

    /// `HMAC-SHA-256(key, list("coster audit entry 1", previous mac, every field but mac))`, the list as in ``LengthPrefixedList``.
    func authenticated(after previous: Digest256?, with key: MACKey) -> Digest256 {
        var list = LengthPrefixedList("coster audit entry 1", reserving: 512)
        list.append(previous)
        list.append(sequence)
        list.append(at)
        list.append(action)
        list.append(outcome)
        list.append(actorKind)
        list.append(actor)
        list.append(environment)
        list.append(merchant)
        list.append(registration)
        list.append(certificate)
        list.append(requestID)
        list.append(publicKeyHash)
        list.append(transactionDigest)
        list.append(reference)
        list.append(replayed)
        list.append(details)
        return key.authenticate(list.bytes)
    }

    mutating func setMAC(_ mac: Digest256) { self.mac = mac.bytes }

    /// What an id is made of beside the sequence: nobody without the chain's key can foretell it, and it costs neither a random number nor a column.
    var idSalt: UInt64 { mac.prefix(8).reduce(0) { $0 << 8 | UInt64($1) } }

    /// The typed form; nil when a value has no meaning (a row that was tampered with, or written by a later version).
    func entry(id: AuditID) -> AuditEntry? {
        guard let kind = AuditActor.Kind(rawValue: actorKind), let details = AuditDetails(json: details), let mac = Digest256(mac) else { return nil }
        let content = AuditDraft(
            action: action, actor: AuditActor(kind: kind, id: actor), at: Timestamp(milliseconds: at), outcome: outcome, environment: environment,
            merchant: merchant.map { MerchantID(bits: StoredEntry.bits($0)) }, registration: registration.map { RegistrationID(bits: StoredEntry.bits($0)) },
            certificate: certificate.map { CertificateID(bits: StoredEntry.bits($0)) }, requestID: requestID,
            publicKeyHash: publicKeyHash.flatMap { Digest256($0) }, transactionDigest: transactionDigest.flatMap { Digest256($0) }, reference: reference,
            replayed: replayed != 0, details: details)
        return AuditEntry(sequence: sequence, id: id, content: content, mac: mac)
    }

    static func bytes(_ bits: UInt128) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(16)
        for shift in stride(from: 120, through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: bits >> UInt128(shift))) }
        return bytes
    }

    private static func bits(_ bytes: [UInt8]) -> UInt128 { bytes.reduce(0) { $0 << 8 | UInt128($1) } }
}
