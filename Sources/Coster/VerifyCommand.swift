import AuditTrail
import Database
import Encodings
import KeyStore
import Operations
import Problems
import SQLite

/// Checks all that is stored: the database file, every row's MAC, every sealed key, the audit chain. Changes nothing; runs beside a server.
enum VerifyCommand: Command {
    static let name = "verify"
    static let synopsis = ""
    static let summary = "Checks the database, opens every sealed key and compares its public key, and computes the audit chain anew."
    static let options = Configuration.flags

    static func run(_ arguments: Arguments) throws(Problem) -> Int32 {
        let installation = try Installation(opening: try Configuration(arguments), mode: .readOnly)
        defer { installation.database.close() }
        let findings = try installation.database.integrityFindings()
        let keys = try installation.operations.verifyKeys()
        let audit = try installation.operations.verifyAuditTrail()
        let isGood = findings.isEmpty && keys.problems.isEmpty && audit.isIntact
        if arguments.asJSON {
            Terminal.print(
                json: JSONWriter.object { object in
                    object.member("intact", isGood)
                    object.member("database_findings", findings)
                    object.member("keys_opened", keys.opened)
                    object.member("key_problems") { writer in
                        writer.array { array in for problem in keys.problems { array.raw(Terminal.json(problem)) } }
                    }
                    object.member("audit_entries", audit.entryCount)
                    object.member("audit_problems") { writer in
                        writer.array { array in for problem in audit.findings { array.raw(Terminal.json(problem)) } }
                    }
                })
        } else {
            Terminal.print("database: \(findings.isEmpty ? "intact" : findings.joined(separator: "; "))")
            Terminal.print("keys: \(keys.opened) opened and compared, \(keys.problems.count) that do not open")
            for problem in keys.problems { Terminal.print("  \(problem.code): \(problem.context.map { Terminal.text($0.value) }.joined(separator: " "))") }
            Terminal.print("audit trail: \(audit.entryCount) entries, \(audit.isIntact ? "chain intact" : "NOT INTACT")")
            for problem in audit.findings { Terminal.print("  \(problem.description)") }
        }
        return isGood ? 0 : 1
    }
}
