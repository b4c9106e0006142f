import Encodings
import Foundation
import Problems

/// Standard output and standard error. What can't be written is lost: a log on a full disk must not end the service (`write(_:)` of `FileHandle` would).
enum Terminal {
    static func print(_ text: String) { write(Array((text + "\n").utf8), to: .standardOutput) }
    static func print(json: [UInt8]) { write(json + [UInt8(ascii: "\n")], to: .standardOutput) }
    static func error(_ text: String) { write(Array(text.utf8), to: .standardError) }
    static func error(json: [UInt8]) { write(json + [UInt8(ascii: "\n")], to: .standardError) }

    private static func write(_ bytes: [UInt8], to handle: FileHandle) { try? handle.write(contentsOf: Data(bytes)) }

    /// A refusal: code, cause and next step, and the facts beside them.
    static func report(_ problem: Problem, asJSON: Bool) {
        if asJSON {
            error(json: json(problem))
            return
        }
        var lines = ["coster: \(problem.code)", "  cause:     \(problem.title)", "  next step: \(problem.detail)"]
        for fact in problem.context { lines.append("  \(fact.name): \(text(fact.value))") }
        if let underlying = problem.underlying { lines.append("  underlying: \(underlying)") }
        error(lines.joined(separator: "\n") + "\n")
    }

    static func json(_ problem: Problem) -> [UInt8] {
        JSONWriter.object { object in
            object.member("code", problem.code)
            object.member("title", problem.title)
            object.member("detail", problem.detail)
            object.member("status", problem.status)
            object.member("retryable", problem.retryable)
            object.member("context") { writer in
                writer.object { context in for fact in problem.context { context.member(fact.name) { write(fact.value, to: &$0) } } }
            }
        }
    }

    static func text(_ value: ContextValue) -> String {
        switch value {
        case .text(let text): text
        case .number(let number): String(number)
        case .list(let values): values.map(text).joined(separator: ", ")
        case .record(let members): members.sorted { $0.key < $1.key }.map { "\($0.key) \(text($0.value))" }.joined(separator: " ")
        }
    }

    private static func write(_ value: ContextValue, to writer: inout JSONWriter) {
        switch value {
        case .text(let text): writer.string(text)
        case .number(let number): writer.integer(number)
        case .list(let values): writer.array { for value in values { write(value, to: &$0) } }
        case .record(let members):
            writer.object { object in
                for (name, value) in members.sorted(by: { $0.key < $1.key }) { object.member(name) { write(value, to: &$0) } }
            }
        }
    }
}

enum ProcessEnvironment {
    static func value(_ name: String) -> String? { ProcessInfo.processInfo.environment[name] }
}
