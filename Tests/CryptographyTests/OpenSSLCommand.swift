import Foundation
import Synchronization

/// The `openssl` command in a folder of its own: an independent maker and reader of the files under test.
struct OpenSSLCommand {
    let folder: URL

    init() throws {
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

    func write(_ name: String, _ bytes: some Sequence<UInt8>) throws { try Data(bytes).write(to: path(name)) }
    func read(_ name: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: path(name))) }
    func remove() { try? FileManager.default.removeItem(at: folder) }

    /// Runs `openssl` with these words, split at blanks (`%20` stands for one inside a word), and gives its output and whether it succeeded.
    @discardableResult
    func run(_ line: String) throws -> (succeeded: Bool, output: String) {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["openssl"] + line.split(separator: " ").map { $0.replacingOccurrences(of: "%20", with: " ") }
        process.currentDirectoryURL = folder
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus == 0, output)
    }

    /// As ``run(_:)``, and throws where it fails.
    func must(_ line: String) throws {
        let result = try run(line)
        guard result.succeeded else { throw Failure(line: line, output: result.output) }
    }

    struct Failure: Error {
        let line: String
        let output: String
    }

    private func path(_ name: String) -> URL { folder.appending(path: name) }
}
