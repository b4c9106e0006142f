import Encodings
import Foundation
import Problems
import Secrets

/// The words after a command's name: options, switches and what is neither.
struct Arguments {
    let operands: [String]
    private let values: [String: [String]]
    private let present: Set<String>

    /// - Throws: `configuration.usage`.
    init(_ words: [String], options: Set<String>, switches: Set<String>) throws(Problem) {
        var operands: [String] = []
        var values: [String: [String]] = [:]
        var present: Set<String> = []
        var index = 0
        while index < words.count {
            let word = words[index]
            index += 1
            guard word.hasPrefix("--"), word != "--" else {
                operands.append(word)
                continue
            }
            let parts = word.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(parts[0])
            if switches.contains(name), parts.count == 1 {
                present.insert(name)
            } else if options.contains(name) {
                if parts.count == 2 {
                    values[name, default: []].append(String(parts[1]))
                } else if index < words.count {
                    values[name, default: []].append(words[index])
                    index += 1
                } else {
                    throw .command(.usage, cause: "--\(name) needs a value.")
                }
            } else {
                throw .command(.usage, cause: "There is no option --\(name) for this command.")
            }
        }
        self.operands = operands
        self.values = values
        self.present = present
    }

    var asJSON: Bool { present.contains("json") }
    func has(_ name: String) -> Bool { present.contains(name) }
    func all(_ name: String) -> [String] { values[name] ?? [] }
    /// The names of the options that were given.
    var given: [String] { Array(values.keys) }

    /// - Throws: `configuration.usage` when it was given twice.
    func one(_ name: String) throws(Problem) -> String? {
        let all = all(name)
        guard all.count <= 1 else { throw .command(.usage, cause: "--\(name) can be given once only.") }
        return all.first
    }

    func required(_ name: String) throws(Problem) -> String {
        guard let value = try one(name) else { throw .command(.usage, cause: "--\(name) is missing.") }
        return value
    }

    func operand(_ name: String) throws(Problem) -> String {
        guard operands.count == 1 else { throw .command(.usage, cause: "This command takes one \(name).") }
        return operands[0]
    }

    func time(_ name: String) throws(Problem) -> Timestamp? {
        guard let text = try one(name) else { return nil }
        guard let time = Timestamp(rfc3339: text) else {
            throw .command(.usage, cause: "--\(name) takes a time such as 2026-12-01T12:00:00Z.")
        }
        return time
    }

    /// The first line of the file that an option names: a password.
    func secret(_ name: String) throws(Problem) -> SecretBytes? {
        guard let path = try one(name) else { return nil }
        var content = try InputFile.read(path, maximumBytes: 4096)
        defer { wipe(&content) }
        let end = content.firstIndex { $0 == 0x0a || $0 == 0x0d } ?? content.endIndex
        return SecretBytes(copying: content[..<end])
    }
}

/// Files named on the command line.
enum InputFile {
    /// - Parameter path: `-` for standard input.
    /// - Throws: `configuration.file_unreadable`, also for more than `maximumBytes`.
    static func read(_ path: String, maximumBytes: Int = 4 << 20) throws(Problem) -> [UInt8] {
        let data: Data?
        do {
            let handle = path == "-" ? FileHandle.standardInput : try FileHandle(forReadingFrom: URL(filePath: path))
            data = try handle.read(upToCount: maximumBytes + 1)
        } catch {
            throw .command(.fileUnreadable, context: [("file", .text(path))])
        }
        let bytes = [UInt8](data ?? Data())
        guard bytes.count <= maximumBytes else {
            throw .command(.fileUnreadable, cause: "The file is larger than is read here.", context: [("file", .text(path)), ("limit", .number(maximumBytes))])
        }
        return bytes
    }
}
