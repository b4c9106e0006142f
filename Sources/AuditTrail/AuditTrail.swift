public import Cryptography
public import Database
public import Encodings
public import Problems
import Synchronization

/// An append-only, hash-chained log of who did what to which key.
///
/// `mac(n) = HMAC-SHA-256(key, mac(n−1) ‖ fields of entry n)`, with `mac(0)` absent. Whoever lacks the key can change, insert, remove or reorder
/// nothing without ``verify(_:against:in:)`` showing it. That a tail was cut, or the whole replaced by an old copy, no chain shows by itself:
/// for that its head is recorded outside the database (``RecordedHead``).
public final class AuditTrail: Sendable {
    let macKey: MACKey
    private let idKey: BlockPermutationKey
    private let head = Mutex(Head())

    /// The chain's end as far as the present transaction has come.
    private struct Head {
        var connection: ObjectIdentifier?
        var transactionNumber = 0
        var rollbackNumber = 0
        var sequence: Int64 = 0
        /// Nil before the first entry.
        var mac: Digest256?
    }

    /// - Parameters:
    ///   - macKey: for the chain and the recorded head; used for nothing else.
    ///   - idKey: for the entries' ids.
    public init(macKey: MACKey, idKey: BlockPermutationKey) {
        self.macKey = macKey
        self.idKey = idKey
    }

    /// Adds an entry inside the caller's transaction: it stands if, and only if, what it tells of does.
    @discardableResult public func append(_ draft: AuditDraft, in connection: any WriteConnection) throws(Problem) -> AuditEntry {
        // The one writer's thread is the only one that comes here; the mutex is for the compiler and costs 20 ns.
        try head.withLock { head throws(Problem) in
            do throws(Problem) {
                try bringUpToDate(&head, connection)
                var stored = StoredEntry(draft, sequence: head.sequence + 1)
                let mac = stored.authenticated(after: head.mac, with: macKey)
                stored.setMAC(mac)
                try connection.execute(StoredEntry.insertion, stored.parameters)
                try SubjectIndex.note(stored.sequence, in: connection)
                head.sequence = stored.sequence
                head.mac = mac
                return AuditEntry(sequence: stored.sequence, id: id(of: stored), content: draft, mac: mac)
            } catch {
                // How far it got is for the next one to look up.
                head.connection = nil
                throw error
            }
        }
    }

    /// Another process may have appended before this transaction began, and a body that was rolled back has taken its entries with it.
    private func bringUpToDate(_ head: inout Head, _ connection: any WriteConnection) throws(Problem) {
        let identity = ObjectIdentifier(connection)
        if head.connection == identity, head.transactionNumber == connection.transactionNumber, head.rollbackNumber == connection.rollbackNumber { return }
        let last = try self.head(in: connection)
        head.sequence = last?.sequence ?? 0
        head.mac = last?.mac
        head.transactionNumber = connection.transactionNumber
        head.rollbackNumber = connection.rollbackNumber
        head.connection = identity
    }

    /// The last entry's sequence and MAC; nil when there is none.
    public func head(in connection: any ReadConnection) throws(Problem) -> ChainHead? {
        let last = [Parameter.integer(AuditTrail.lastPossibleSequence)]
        return try connection.first("SELECT sequence, mac FROM audit_entries WHERE sequence >= 1 AND sequence <= $1 ORDER BY sequence DESC LIMIT 1", last) {
            row throws(Problem) in
            let sequence = row.integer(0)
            guard let mac = Digest256(row.blob(1)) else { throw .audit(.entryUnreadable, context: [("sequence", .number(Int(sequence)))]) }
            return ChainHead(sequence: sequence, mac: mac)
        }
    }

    /// 0 when there is none.
    func lastSequence(in connection: any ReadConnection) throws(Problem) -> Int64 {
        let last = [Parameter.integer(AuditTrail.lastPossibleSequence)]
        return try connection.first("SELECT sequence FROM audit_entries WHERE sequence >= 1 AND sequence <= $1 ORDER BY sequence DESC LIMIT 1", last) { row in
            row.integer(0)
        } ?? 0
    }

    /// Never reached by counting. A row beyond it is foreign, and is kept out of every sum.
    static let lastPossibleSequence: Int64 = 1 << 53

    /// The entry with this id, or nil. An id holds the sequence, encrypted: one look-up by primary key, whatever the size of the trail.
    public func entry(id: AuditID, in connection: any ReadConnection) throws(Problem) -> AuditEntry? {
        let block = idKey.decrypt(id.bits)
        let sequence = Int64(truncatingIfNeeded: block >> 64)
        let stored = try connection.first("SELECT \(StoredEntry.columns) FROM audit_entries WHERE sequence = $1", [.integer(sequence)]) { row in
            StoredEntry(row)
        }
        // For ids nobody gave out the salt is any number.
        guard let stored, stored.idSalt == UInt64(truncatingIfNeeded: block) else { return nil }
        return try entry(stored)
    }

    func entry(_ stored: StoredEntry) throws(Problem) -> AuditEntry {
        guard let entry = stored.entry(id: id(of: stored)) else {
            throw .audit(.entryUnreadable, context: [("sequence", .number(Int(stored.sequence)))])
        }
        return entry
    }

    private func id(of stored: StoredEntry) -> AuditID {
        AuditID(bits: idKey.encrypt(UInt128(UInt64(bitPattern: stored.sequence)) << 64 | UInt128(stored.idSalt)))
    }
}

/// The end of the chain at some moment.
public struct ChainHead: Sendable, Equatable {
    public let sequence: Int64
    public let mac: Digest256
}
