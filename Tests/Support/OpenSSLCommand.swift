public import Foundation
import Synchronization

/// The `openssl` command in a folder of its own: an independent maker and reader of the files under test.
public struct OpenSSLCommand: Sendable {
    public let folder: URL

    public init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "coster-tests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        Self.leftovers.withLock { $0.append(folder) }
        _ = Self.cleaning
    }

    /// Folders of suites, which live as long as the run does.
    private static let leftovers = Mutex<[URL]>([])
    private static let cleaning: Void = {
        _ = atexit { OpenSSLCommand.leftovers.withLock { $0.forEach { try? FileManager.default.removeItem(at: $0) } } }
    }()

    public func write(_ name: String, _ bytes: some Sequence<UInt8>) throws { try Data(bytes).write(to: path(name)) }
    public func read(_ name: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: path(name))) }
    public func remove() { try? FileManager.default.removeItem(at: folder) }

    /// Runs `openssl` with these words of a shell's line, and gives its output and whether it succeeded.
    @discardableResult
    public func run(_ line: String) throws -> (succeeded: Bool, output: String) {
        let output = path("output-\(UUID().uuidString)")
        // Foundation's Process leaks a little at each run, and reading an empty file does: a leak report is to show ours alone.
        let status = unsafe system("cd '\(folder.path)' && openssl \(line) >'\(output.path)' 2>&1 </dev/null; s=$?; echo >>'\(output.path)'; exit $s")
        return (status == 0, String(decoding: (try? Data(contentsOf: output)) ?? Data(), as: UTF8.self))
    }

    /// As ``run(_:)``, and throws where it fails.
    public func must(_ line: String) throws {
        let result = try run(line)
        guard result.succeeded else { throw Failure(line: line, output: result.output) }
    }

    public struct Failure: Error {
        public let line: String
        public let output: String
    }

    private func path(_ name: String) -> URL { folder.appending(path: name) }
}
