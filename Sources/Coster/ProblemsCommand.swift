import API
import Encodings
import Problems

/// The catalogue of every problem there is.
enum ProblemsCommand: Command {
    static let name = "problems"
    static let synopsis = "[--markdown]"
    static let summary = "Lists every problem code with its cause and next step."
    static let switches: Set<String> = ["markdown"]

    static func run(_ arguments: Arguments) throws(Problem) -> Int32 {
        let entries = ProblemCatalogue.entries
        if arguments.asJSON {
            var writer = JSONWriter()
            writer.array { array in
                for entry in entries {
                    array.object { object in
                        object.member("code", entry.code)
                        object.member("status", entry.page.status)
                        object.member("title", entry.page.cause)
                        object.member("detail", entry.page.fix)
                        object.member("retryable", entry.page.retryable)
                    }
                }
            }
            Terminal.print(json: writer.bytes)
        } else if arguments.has("markdown") {
            Terminal.print("| code | status | cause | next step |\n| --- | --- | --- | --- |")
            for entry in entries { Terminal.print("| `\(entry.code)` | \(entry.page.status) | \(entry.page.cause) | \(entry.page.fix) |") }
        } else {
            for entry in entries { Terminal.print("\(entry.code) (\(entry.page.status))\n  \(entry.page.cause)\n  \(entry.page.fix)") }
        }
        return 0
    }
}
