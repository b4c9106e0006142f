public import Problems

/// What can be wrong with the audit trail.
public enum AuditTrailProblem: String, ProblemEntry {
    case chainBroken = "audit.chain_broken"
    case entryMissing = "audit.entry_missing"
    case tailMissing = "audit.tail_missing"
    case headDiffers = "audit.head_differs"
    case headForged = "audit.head_forged"
    case headUnreadable = "audit.head_unreadable"
    case headNotWritten = "audit.head_not_written"
    case indexIncomplete = "audit.index_incomplete"
    case entryUnreadable = "audit.entry_unreadable"

    public var page: ProblemPage {
        switch self {
        case .chainBroken:
            .init(
                .fault, cause: "An audit entry was changed after it was written, or was not written by this installation.",
                fix: "Keep the data directory as it is for the investigation, and compare the entry at this sequence with the latest backup.")
        case .entryMissing:
            .init(
                .fault, cause: "Audit entries were removed from the middle of the trail.",
                fix: "Keep the data directory as it is for the investigation, and take the missing entries from the latest backup.")
        case .tailMissing:
            .init(
                .fault, cause: "The audit trail ends before the last entry that was recorded outside the database: its end was cut, or this is an old copy.",
                fix: "Find out who put this database here; after a restore that was meant, accept its state with `coster restore`.")
        case .headDiffers:
            .init(
                .fault, cause: "The audit trail is not the one whose head was recorded outside the database: another copy was continued.",
                fix: "Find out who put this database here, and keep both it and the recorded head for the investigation.")
        case .headForged:
            .init(
                .fault, cause: "The file with the recorded head of the audit trail was not written by this installation, or was changed.",
                fix: "Keep the file for the investigation, and put the one from the latest backup in its place.")
        case .headUnreadable:
            .init(
                .fault, cause: "The file with the recorded head of the audit trail can't be read.",
                fix: "See that the file is readable and whole; put the one from the latest backup in its place if it is damaged.")
        case .headNotWritten:
            .init(
                .unavailable, cause: "The head of the audit trail could not be recorded outside the database.",
                fix: "See that the disk of the data directory has free space and can be written.")
        case .indexIncomplete:
            .init(
                .fault, cause: "The audit entries are whole, but the index that finds them by merchant, certificate, person or time is not.",
                fix: "Keep the data directory as it is for the investigation: entries were hidden from the lists, though not from this check.")
        case .entryUnreadable:
            .init(
                .fault, cause: "An audit entry can't be read.",
                fix: "Run `coster verify`, and keep the data directory as it is for the investigation.")
        }
    }
}

extension Problem {
    public static func audit(
        _ entry: AuditTrailProblem, cause: String? = nil, context: [(name: String, value: ContextValue)] = [], underlying: String? = nil
    ) -> Problem {
        Problem(entry, cause: cause, context: context, underlying: underlying)
    }
}
