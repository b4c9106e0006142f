import Database
import Glibc
public import Problems

/// The lock on a data directory that excludes a second server and a restore. It goes with the process, however that ends.
///
/// An advisory lock on a file of its own: on the database file SQLite's locks would be lost with the first close.
public final class OwnerLock: Sendable {
    private let descriptor: Int32

    /// - Parameter path: the lock file; made if absent, mode 0600, and never removed.
    /// - Throws: `database.locked_by_other_server` with the holder's `pid`; `database.unavailable` when the file can't be written.
    public init(path: String) throws(Problem) {
        descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .database(.unavailable, underlying: "\(path): errno \(errno)") }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let holder = OwnerLock.readProcessID(descriptor)
            close(descriptor)
            throw .database(
                .lockedByOtherServer,
                cause: holder.map { "Another Coster server or a restore (process \($0)) is using this data directory." },
                context: holder.map { [("pid", .number($0))] } ?? [])
        }
        let text = Array("\(getpid())\n".utf8)
        guard ftruncate(descriptor, 0) == 0, unsafe pwrite(descriptor, text, text.count, 0) == text.count else {
            let code = errno
            close(descriptor)
            throw .database(.unavailable, underlying: "\(path): errno \(code)")
        }
    }

    deinit { close(descriptor) }

    private static func readProcessID(_ descriptor: Int32) -> Int? {
        var buffer = [UInt8](repeating: 0, count: 20)
        let count = unsafe pread(descriptor, &buffer, buffer.count, 0)
        guard count > 0 else { return nil }
        return Int(String(decoding: buffer[..<count], as: UTF8.self).prefix { $0.isNumber })
    }
}
