import Foundation

/// A new, empty folder that goes with the last reference to it.
public final class TemporaryFolder: Sendable {
    public let path: String

    public init() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "coster-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        path = folder.path
    }

    deinit {
        // A database that is being closed takes files away by itself, and a file that vanishes meanwhile ends the removal.
        for _ in 0..<20 where FileManager.default.fileExists(atPath: path) { try? FileManager.default.removeItem(atPath: path) }
    }

    public func file(_ name: String) -> String { path + "/" + name }
}
