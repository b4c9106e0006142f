import Encodings
import Problems

/// The effective settings, and where each came from. No setting holds a secret; paths to secrets are shown as paths.
enum ConfigCommand: Command {
    static let name = "config"
    static let synopsis = "[settings as flags]"
    static let summary = "Shows each setting, its value, and where it comes from."
    static let options = Configuration.flags
    /// For the README.
    static let switches: Set<String> = ["markdown"]

    static func run(_ arguments: Arguments) throws(Problem) -> Int32 {
        let configuration = try Configuration(arguments)
        if arguments.has("markdown") {
            Terminal.print("| setting | default | what it does |\n| --- | --- | --- |")
            for setting in Configuration.settings {
                Terminal.print("| `\(setting.name)` | \(setting.standard.map { "`\($0)`" } ?? "–") | \(setting.summary) |")
            }
        } else if arguments.asJSON {
            Terminal.print(
                json: JSONWriter.object { object in
                    for setting in Configuration.settings {
                        object.member(setting.name) { writer in
                            writer.object { entry in
                                entry.member("value", configuration.list(setting.name))
                                entry.member("source", configuration.source(setting.name)?.rawValue)
                            }
                        }
                    }
                })
        } else {
            for setting in Configuration.settings {
                let value = configuration.list(setting.name).joined(separator: ", ")
                Terminal.print("\(setting.name) = \(value.isEmpty ? "(none)" : value)   [\(configuration.source(setting.name)?.rawValue ?? "default")]")
            }
        }
        return 0
    }
}
