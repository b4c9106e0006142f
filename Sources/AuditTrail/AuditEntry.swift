public import Encodings

public enum AuditKind: RecordKind { public static let prefix = "aud" }
/// One entry of the audit trail: `aud_…`. A decryption's id (`dec_…`) has the same bits.
public typealias AuditID = RecordID<AuditKind>

/// What stands in the trail.
public struct AuditEntry: Sendable {
    /// 1, 2, 3, … without a gap.
    public let sequence: Int64
    public let id: AuditID
    public let content: AuditDraft
    /// What chains the entry to the one before it.
    public let mac: Digest256

    /// The same entry under the name that decryptions go by.
    public var decryptionID: DecryptionID { DecryptionID(bits: id.bits) }
}
