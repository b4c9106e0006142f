import Problems

/// What goes wrong before a command does its work.
enum CommandProblem: String, ProblemEntry {
    case usage = "configuration.usage"
    case settingInvalid = "configuration.setting_invalid"
    case settingUnknown = "configuration.setting_unknown"
    case fileUnreadable = "configuration.file_unreadable"
    case dataDirectoryExists = "configuration.data_directory_exists"
    case dataDirectoryMissing = "configuration.data_directory_missing"
    case checksFailed = "configuration.checks_failed"
    case tlsMismatch = "configuration.tls_key_mismatch"
    case tlsExpired = "configuration.tls_certificate_expired"
    case memoryNotLocked = "configuration.memory_not_locked"
    case tooFewFiles = "configuration.too_few_open_files"
    case permissionsTooWide = "configuration.permissions_too_wide"
    case selfTestFailed = "configuration.self_test_failed"

    var page: ProblemPage {
        switch self {
        case .usage: ProblemPage(.unreadable, cause: "The command line can't be read.", fix: "Run coster help for the commands and their options.")
        case .settingInvalid:
            ProblemPage(.invalid, cause: "A setting has a value that can't be used.", fix: "Correct the setting named here, where it comes from.")
        case .settingUnknown:
            ProblemPage(.invalid, cause: "There is no such setting.", fix: "Run coster config for the settings there are, and remove or correct this one.")
        case .fileUnreadable:
            ProblemPage(.unreadable, cause: "A file that was named can't be read.", fix: "Check that the file is there and that this user may read it.")
        case .dataDirectoryExists:
            ProblemPage(
                .conflict, cause: "There is something in this data directory already, and init never writes over keys.",
                fix: "Use the data directory as it is, or name another one with --data.")
        case .dataDirectoryMissing:
            ProblemPage(
                .notFound, cause: "There is no data directory here.", fix: "Make one with coster init, or name the right one with --data.")
        case .checksFailed:
            ProblemPage(.fault, cause: "At least one check failed.", fix: "Go through the failed checks above from the top.")
        case .tlsMismatch:
            ProblemPage(
                .fault, cause: "The TLS certificate and the TLS private key do not belong together.",
                fix: "Give the certificate and the key that were made together, by tls_certificate and tls_private_key.")
        case .tlsExpired:
            ProblemPage(
                .fault, cause: "The TLS certificate is not valid today.", fix: "Replace the TLS certificate, then start the service again.")
        case .memoryNotLocked:
            ProblemPage(
                .fault, cause: "The memory for private keys could not be locked, so it may be written to swap.",
                fix: "Raise the limit on locked memory (ulimit -l, LimitMEMLOCK) to 16 MiB, or switch swap off.")
        case .tooFewFiles:
            ProblemPage(
                .fault, cause: "The limit on open files allows fewer connections than are set.",
                fix: "Raise the limit on open files (ulimit -n, LimitNOFILE), or lower the setting connections.")
        case .permissionsTooWide:
            ProblemPage(
                .fault, cause: "A file with secrets can be read by other users.", fix: "Take the others' permissions away: chmod go-rwx on the file named here."
            )
        case .selfTestFailed:
            ProblemPage(
                .fault, cause: "A payment token made for the purpose did not come out as it must.",
                fix: "Do not take payments with this build: report it with the output of coster doctor --json.")
        }
    }
}

extension Problem {
    static func command(_ entry: CommandProblem, cause: String? = nil, context: [(name: String, value: ContextValue)] = []) -> Problem {
        Problem(entry, cause: cause, context: context)
    }
}
