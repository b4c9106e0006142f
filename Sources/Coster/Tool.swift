import Problems

/// The command line: finds the command, runs it, and turns a problem into an exit status.
enum Tool {
    static let version = "0.1"

    private static let commands: [any Command.Type] = [
        InitCommand.self, ServeCommand.self, CredentialsCommand.self, InspectCommand.self, DecryptCommand.self, DoctorCommand.self, VerifyCommand.self,
        ConfigCommand.self, ProblemsCommand.self,
    ]

    /// - Returns: 0; 1 when refused; 2 for a command line that can't be read.
    static func run(_ words: [String]) -> Int32 {
        guard let name = words.first, name != "help", name != "--help" else {
            Terminal.print(help)
            return words.isEmpty ? 2 : 0
        }
        if name == "version" || name == "--version" {
            Terminal.print("coster \(version)")
            return 0
        }
        guard let command = commands.first(where: { $0.name == name }) else {
            Terminal.report(.command(.usage, cause: "There is no command \(name)."), asJSON: false)
            return 2
        }
        let rest = Array(words.dropFirst())
        if rest.contains("--help") {
            Terminal.print("\(command.name) \(command.synopsis)\n  \(command.summary)")
            return 0
        }
        let asJSON = rest.contains("--json")
        do throws(Problem) {
            let arguments = try Arguments(rest, options: command.options.union(["data"]), switches: command.switches.union(["json"]))
            return try command.run(arguments)
        } catch {
            Terminal.report(error, asJSON: asJSON)
            return error == .command(.usage) ? 2 : 1
        }
    }

    private static var help: String {
        var lines = ["coster: keeps Apple Pay payment processing keys and opens payment tokens.", ""]
        for command in commands { lines += ["  coster \(command.name) \(command.synopsis)", "      \(command.summary)"] }
        lines += [
            "", "Everywhere: --data DIR (default ./coster-data), --json.",
            "Settings: flags, then COSTER_* in the environment, then coster.json in the data directory; coster config shows them.",
        ]
        return lines.joined(separator: "\n")
    }
}

/// One command.
protocol Command: SendableMetatype {
    static var name: String { get }
    static var synopsis: String { get }
    static var summary: String { get }
    /// Options with a value, without the dashes.
    static var options: Set<String> { get }
    /// Options without one.
    static var switches: Set<String> { get }
    static func run(_ arguments: Arguments) throws(Problem) -> Int32
}

extension Command {
    static var options: Set<String> { [] }
    static var switches: Set<String> { [] }
}
