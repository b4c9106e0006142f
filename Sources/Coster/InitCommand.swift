import Cryptography
import Database
import Encodings
import Foundation
import KeyStore
import Operations
import Problems
import SQLite
import Sandbox

/// Makes a data directory: all of it, or nothing.
enum InitCommand: Command {
    static let name = "init"
    static let synopsis = "[--root-key FILE]"
    static let summary = "Makes a new data directory: database, keyring, root key file, sandbox authority, TLS certificate for loopback."
    static let options: Set<String> = ["root-key"]

    static func run(_ arguments: Arguments) throws(Problem) -> Int32 {
        let data = URL(filePath: try arguments.one("data") ?? ProcessEnvironment.value("COSTER_DATA") ?? "coster-data")
        let manager = FileManager.default
        if let content = try? manager.contentsOfDirectory(atPath: data.path), !content.isEmpty {
            throw .command(.dataDirectoryExists, context: [("data", .text(data.path))])
        }
        // Made beside its place and then given its name, so that what is found under the name is whole.
        let fresh = URL(filePath: data.path + ".init-\(ProcessInfo.processInfo.processIdentifier)")
        let elsewhere = try arguments.one("root-key").map { URL(filePath: $0) }
        let fingerprint: Digest256
        do throws(Problem) {
            fingerprint = try make(fresh, rootKey: elsewhere)
        } catch {
            try? manager.removeItem(at: fresh)
            throw error
        }
        do {
            if manager.fileExists(atPath: data.path) { try manager.removeItem(at: data) }
            try manager.moveItem(at: fresh, to: data)
        } catch {
            throw Problem(FileProblem.notWritten, context: [("file", .text(data.path))], underlying: String(describing: error))
        }
        let rootKey = elsewhere ?? data.appending(path: "root.key")
        if arguments.asJSON {
            Terminal.print(
                json: JSONWriter.object { object in
                    object.member("data", data.path)
                    object.member("root_key", rootKey.path)
                    object.member("root_key_fingerprint", fingerprint.hex)
                })
        } else {
            Terminal.print(
                """
                Made \(data.path).
                Root key: \(rootKey.path)
                  fingerprint \(fingerprint.hex)
                  Without this file no stored key opens. Keep a copy of it apart from every copy of the database.
                Next: coster serve --data \(data.path)
                """)
        }
        return 0
    }

    private static func make(_ folder: URL, rootKey elsewhere: URL?) throws(Problem) -> Digest256 {
        let now = Installation.clock()
        do {
            try FileManager.default.createDirectory(
                at: folder.appending(path: "tls"), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw Problem(FileProblem.notWritten, context: [("file", .text(folder.lastPathComponent))], underlying: String(describing: error))
        }
        let slot = try RootKeyFile.create(at: elsewhere ?? folder.appending(path: "root.key"))
        let authority = try SandboxAuthority.generate(now: now).exported()
        let database = try SQLiteDatabase(path: folder.appending(path: "coster.db").path, mode: .create)
        defer { database.close() }
        try database.migrate(Operations.migrations)
        try database.writeBlocking { connection throws(Problem) in try Keyring.create(under: slot, at: now, in: connection) }
        let keyring = try database.read { connection throws(Problem) in try Keyring(opening: connection, with: slot) }
        try database.writeBlocking { connection throws(Problem) in
            try SealedBlobs(keyring: keyring).insert(authority, name: Installation.sandboxAuthorityName, at: now, in: connection)
        }
        let tls = try LoopbackCertificate.make(at: now)
        try FileWriting.create(Array(tls.certificate.utf8), at: folder.appending(path: "tls/certificate.pem"))
        try FileWriting.create(Array(tls.privateKey.utf8), at: folder.appending(path: "tls/private-key.pem"))
        let settings = elsewhere.map { file in JSONWriter.object { $0.member("root_key", file.absoluteURL.standardizedFileURL.path) } } ?? Array("{}".utf8)
        try FileWriting.create(settings + [UInt8(ascii: "\n")], at: folder.appending(path: "coster.json"))
        return slot.fingerprint
    }
}
