public import Foundation
public import Problems

#if canImport(Glibc)
    internal import Glibc
#endif

/// Files that hold something that matters: made for their owner only, on disk before the call returns.
public enum FileWriting {
    /// Writes a new file (mode 0600) and syncs it and its folder. Refuses a file that exists.
    public static func create(_ bytes: [UInt8], at url: URL) throws(Problem) {
        let descriptor = unsafe open(url.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw Problem(FileProblem.notWritten, context: [("file", .text(url.lastPathComponent)), ("errno", .number(Int(errno)))])
        }
        defer { close(descriptor) }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
        do {
            try handle.write(contentsOf: bytes)
        } catch {
            throw Problem(FileProblem.notWritten, context: [("file", .text(url.lastPathComponent))], underlying: String(describing: error))
        }
        guard fsync(descriptor) == 0 else { throw Problem(FileProblem.notWritten, context: [("file", .text(url.lastPathComponent))]) }
        try syncFolder(of: url)
    }

    /// Replaces a file in one step: a new one is written beside it, synced and renamed.
    public static func replace(_ bytes: [UInt8], at url: URL) throws(Problem) {
        let fresh = url.deletingLastPathComponent().appending(path: ".\(url.lastPathComponent).\(getpid()).new")
        unsafe unlink(fresh.path)
        try create(bytes, at: fresh)
        guard unsafe rename(fresh.path, url.path) == 0 else {
            throw Problem(FileProblem.notWritten, context: [("file", .text(url.lastPathComponent)), ("errno", .number(Int(errno)))])
        }
        try syncFolder(of: url)
    }

    private static func syncFolder(of url: URL) throws(Problem) {
        let folder = unsafe open(url.deletingLastPathComponent().path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { return }
        defer { close(folder) }
        fsync(folder)
    }
}

public enum FileProblem: String, ProblemEntry {
    case notWritten = "configuration.file_not_written"

    public var page: ProblemPage {
        switch self {
        case .notWritten:
            ProblemPage(
                .unavailable, cause: "A file in the data directory could not be written.",
                fix: "Check that the folder exists, belongs to this user and has room, and that the file is not there already.")
        }
    }
}
