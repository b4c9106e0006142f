public import Cryptography
public import Database
public import Encodings
public import Foundation
public import Problems

/// The chain's head as it was at some moment, kept in a file outside the database, so that a cut tail or an old copy of the database shows.
///
/// Shape: one JSON object `{"sequence": n, "mac": hex, "recorded_at": time, "authentication": hex}`;
/// `authentication = HMAC-SHA-256(key, list("coster audit head 1", sequence, mac, time in milliseconds))` under the chain's key.
/// Whoever can put back an old database *and* the old file with it is not seen by this: keep copies of the file elsewhere (a backup does).
public struct RecordedHead: Sendable, Equatable {
    public let head: ChainHead
    public let recordedAt: Timestamp

    /// - Throws: `audit.head_unreadable` for another shape, `audit.head_forged` when the authentication does not fit.
    public init(_ json: [UInt8], authenticatedBy key: MACKey) throws(Problem) {
        guard json.count <= 4096, let root = (try? JSONDocument(json, maximumDepth: 1))?.root, root.kind == .object, root.doubledMember == nil,
            let sequence = root.member("sequence")?.integer, let mac = root.member("mac")?.string.flatMap({ Digest256(text: $0) }),
            let milliseconds = root.member("recorded_at_milliseconds")?.integer,
            let authentication = root.member("authentication")?.string.flatMap({ Digest256(text: $0) })
        else { throw .audit(.headUnreadable) }
        head = ChainHead(sequence: Int64(sequence), mac: mac)
        recordedAt = Timestamp(milliseconds: Int64(milliseconds))
        guard key.verify(authentication.bytes, authenticatedBytes) else { throw .audit(.headForged) }
    }

    init(_ head: ChainHead, at time: Timestamp) {
        self.head = head
        recordedAt = time
    }

    func json(authenticatedBy key: MACKey) -> [UInt8] {
        JSONWriter.object { object in
            object.member("sequence", Int(head.sequence))
            object.member("mac", head.mac.hex)
            object.member("recorded_at", recordedAt)
            object.member("recorded_at_milliseconds", Int(recordedAt.milliseconds))
            object.member("authentication", key.authenticate(authenticatedBytes).hex)
        }
    }

    private var authenticatedBytes: [UInt8] {
        var list = LengthPrefixedList("coster audit head 1")
        list.append(head.sequence)
        list.append(head.mac)
        list.append(recordedAt)
        return list.bytes
    }
}

extension AuditTrail {
    /// The head recorded in `file`; nil where there is no such file.
    public func recordedHead(in file: URL) throws(Problem) -> RecordedHead? {
        let data: Data
        do {
            data = try Data(contentsOf: file)
        } catch CocoaError.fileReadNoSuchFile, CocoaError.fileNoSuchFile {
            return nil
        } catch {
            throw .audit(.headUnreadable, underlying: String(describing: error))
        }
        return try RecordedHead([UInt8](data), authenticatedBy: macKey)
    }

    /// Records the present head in `file`, replacing it as a whole: a crash leaves the former or the new content, flushed to the disk.
    ///
    /// A former head that the trail does not contain is evidence and stays: the problem that ``verify(_:against:in:)`` would find is thrown instead.
    /// - Parameter acceptingOtherHistory: replaces it all the same, after a restore that was meant.
    /// - Returns: what was recorded; nil while there is no entry.
    @discardableResult public func recordHead(
        to file: URL, at time: Timestamp, in database: any Database, acceptingOtherHistory: Bool = false
    ) throws(Problem) -> RecordedHead? {
        let former = acceptingOtherHistory ? nil : try recordedHead(in: file)
        let present = try database.read { connection throws(Problem) -> ChainHead? in
            if let former, let problem = try difference(from: former, in: connection) { throw problem }
            return try head(in: connection)
        }
        guard let present else { return nil }
        let recorded = RecordedHead(present, at: time)
        do {
            // Foundation's atomic write flushes a file beside this one before it takes its name; the name is durable once the folder is flushed.
            try Data(recorded.json(authenticatedBy: macKey)).write(to: file, options: .atomic)
            let folder = try FileHandle(forReadingFrom: file.deletingLastPathComponent())
            defer { try? folder.close() }
            try folder.synchronize()
        } catch {
            throw .audit(.headNotWritten, underlying: String(describing: error))
        }
        return recorded
    }

    /// What is wrong between the trail and a head recorded of it earlier.
    func difference(from recorded: RecordedHead, in connection: any ReadConnection) throws(Problem) -> Problem? {
        let sequence = recorded.head.sequence
        let mac = try connection.first("SELECT mac FROM audit_entries WHERE sequence = $1", [.integer(sequence)]) { row in row.blob(0) }
        if mac == recorded.head.mac.bytes { return nil }
        let last = try lastSequence(in: connection)
        let context: [(name: String, value: ContextValue)] = [
            ("recorded_sequence", .number(Int(sequence))), ("recorded_at", .text(recorded.recordedAt.rfc3339)), ("last_sequence", .number(Int(last))),
        ]
        // One that is there with another MAC, or missing from the middle, is not a shorter trail but a different one.
        return .audit(last < sequence ? .tailMissing : .headDiffers, context: context)
    }
}
