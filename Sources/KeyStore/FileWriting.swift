public import Foundation
public import Problems

/// Files that hold something that matters: made for their owner only (the process's umask is 077 from its first line on), on disk before the call
/// returns.
public enum FileWriting {
    /// Writes a new file and syncs it and its folder. Refuses a file that exists.
    public static func create(_ bytes: [UInt8], at url: URL) throws(Problem) {
        do {
            try Data(bytes).write(to: url, options: .withoutOverwriting)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: url.path)
            try sync(url)
            try sync(url.deletingLastPathComponent())
        } catch {
            throw Problem(FileProblem.notWritten, context: [("file", .text(url.lastPathComponent))], underlying: String(describing: error))
        }
    }

    private static func sync(_ url: URL) throws {
        let handle = try FileHandle(forReadingFrom: url)
        defer { try? handle.close() }
        try handle.synchronize()
    }
}

public enum FileProblem: String, ProblemEntry {
    case notWritten = "configuration.file_not_written"

    public var page: ProblemPage {
        switch self {
        case .notWritten:
            ProblemPage(
                .unavailable, cause: "A file could not be written.",
                fix: "Check that its folder exists, belongs to this user and has room, and that the file is not there already.")
        }
    }
}
