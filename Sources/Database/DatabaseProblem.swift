public import Problems

/// What can be wrong with the place where rows are kept.
public enum DatabaseProblem: String, ProblemEntry {
    case busy = "database.busy"
    case unavailable = "database.unavailable"
    case corrupt = "database.corrupt"
    case newerSchema = "database.newer_schema"
    case lockedByOtherServer = "database.locked_by_other_server"
    case missing = "database.missing"
    case alreadyExists = "database.already_exists"
    case duplicate = "database.duplicate"
    case constraintFailed = "database.constraint_failed"
    case statementRefused = "database.statement_refused"
    case closed = "database.closed"

    public var page: ProblemPage {
        switch self {
        case .busy:
            .init(
                .unavailable, cause: "The database has more to write at the moment than it can take on.",
                fix: "Repeat the call after the seconds given in Retry-After; if it stays so, look for another process that holds the database.")
        case .unavailable:
            .init(
                .unavailable, cause: "The database could not be read or written, so nothing was done.",
                fix: "See that the disk of the data directory has free space and can be written, then repeat the call; `coster doctor` tells more.")
        case .corrupt:
            .init(
                .fault, cause: "The database file is damaged or is not a database.",
                fix: "Stop the service, keep the file as it is, run `coster verify`, and restore the latest backup.")
        case .newerSchema:
            .init(
                .fault, cause: "The database was written by a newer version of Coster.",
                fix: "Run that version or a later one; an older one must not write here.")
        case .lockedByOtherServer:
            .init(
                .conflict, cause: "Another Coster server or a restore is using this data directory.",
                fix: "Stop the other process first, or give this one a data directory of its own with --data.")
        case .missing:
            .init(
                .notFound, cause: "There is no database in the data directory.",
                fix: "Give the right directory with --data, or make a new one with `coster init`.")
        case .alreadyExists:
            .init(
                .conflict, cause: "There is a database in this place already.",
                fix: "Choose another place, or move the present file away first.")
        case .duplicate:
            .init(
                .fault, cause: "A record with the same key exists already.",
                fix: "This is a fault of Coster: report it with the request id.")
        case .constraintFailed:
            .init(
                .fault, cause: "The database refused a record that breaks a rule of its schema.",
                fix: "This is a fault of Coster: report it with the request id.")
        case .statementRefused:
            .init(
                .fault, cause: "The database refused a statement.",
                fix: "This is a fault of Coster: report it with the request id.")
        case .closed:
            .init(
                .unavailable, cause: "The service is stopping and takes nothing on any more.",
                fix: "Repeat the call in a moment, when it is up again.")
        }
    }
}

extension Problem {
    public static func database(
        _ entry: DatabaseProblem, cause: String? = nil, context: [(name: String, value: ContextValue)] = [], underlying: String? = nil
    ) -> Problem {
        Problem(entry, cause: cause, context: context, underlying: underlying)
    }
}
