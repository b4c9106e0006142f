import Cryptography
import Database
import Encodings
import Foundation
import Problems
import Secrets
import SQLite
import TestSupport
import Testing

@testable import KeyStore

@Suite struct KeyringTests {
    let folder: TemporaryFolder
    let database: SQLiteDatabase
    let slot: RootKeyFile

    init() throws {
        folder = try TemporaryFolder()
        database = try SQLiteDatabase(path: folder.file("coster.sqlite"), mode: .create)
        try database.migrate(Keyring.migrations)
        slot = try RootKeyFile.create(at: URL(filePath: folder.file("root.key")))
        try create(under: slot)
    }

    private func create(under slot: RootKeyFile) throws {
        try database.writeBlocking { connection throws(Problem) in try Keyring.create(under: slot, at: Store.now, in: connection) }
    }

    private func open(_ slot: RootKeyFile) throws(Problem) -> Keyring {
        try database.read { connection throws(Problem) in try Keyring(opening: connection, with: slot) }
    }

    private func tamper(_ sql: String) throws { _ = try database.writeBlocking { connection throws(Problem) in try connection.execute(sql) } }

    @Test func `opens to the same keys each time`() throws {
        let first = try open(slot)
        let second = try open(slot)
        #expect(first.currentKeyEncryptingKey.id == "key_encryption_1")
        #expect(first.rights.authenticate([1]) == second.rights.authenticate([1]))
        #expect(first.auditIdentifiers.encrypt(1) == second.auditIdentifiers.encrypt(1))
        let secret = SecretBytes(copying: [1, 2, 3])
        let sealed = try first.currentKeyEncryptingKey.key.seal(secret, associatedData: [])
        #expect(try second.keyEncryptingKey("key_encryption_1").open(sealed, associatedData: []) == secret)
    }

    @Test func `no two purposes share a key`() throws {
        let keyring = try open(slot)
        #expect(Set([keyring.rights, keyring.credentials, keyring.auditTrail].map { $0.authenticate([]) }).count == 3)
    }

    @Test func `another root key is refused with both fingerprints`() throws {
        let other = try RootKeyFile.create(at: URL(filePath: folder.file("other.key")))
        let problem = #expect(throws: Problem(KeyStoreProblem.rootKeyMismatch)) { try open(other) }
        #expect(problem?.context.map(\.name) == ["fingerprint_stored", "fingerprint_given"])
        #expect(problem?.context.map(\.value) == [.list([.text(slot.fingerprint.hex)]), .text(other.fingerprint.hex)])
        #expect(try database.read { connection throws(Problem) in try Keyring.slotFingerprints(in: connection) } == [slot.fingerprint])
    }

    @Test func `a keyring is made once`() throws {
        #expect(throws: Problem.database(.duplicate)) { try create(under: slot) }
    }

    @Test(arguments: [
        // Two wraps exchanged.
        """
        UPDATE keyring_wraps SET wrapped = (SELECT o.wrapped FROM keyring_wraps o WHERE o.key <> keyring_wraps.key AND o.key IN ('rights_1', 'credentials_1'))
        WHERE key IN ('rights_1', 'credentials_1')
        """,
        // A key under another purpose, id, version, or slot.
        "UPDATE keyring SET purpose = 'credentials', version = 2 WHERE id = 'rights_1'",
        "UPDATE keyring SET version = 2 WHERE id = 'key_encryption_1'",
        "UPDATE keyring_wraps SET wrapped = zeroblob(60) WHERE key = 'audit_trail_1'", "UPDATE keyring_wraps SET wrapped = zeroblob(0) WHERE key = 'rights_1'",
    ])
    func `a wrap out of its place does not open`(_ sql: String) throws {
        try tamper(sql)
        #expect(throws: Problem(KeyStoreProblem.keyDoesNotOpen)) { try open(slot) }
    }

    @Test(arguments: Keyring.Purpose.allCases)
    func `a keyring that lacks a key is incomplete`(_ purpose: Keyring.Purpose) throws {
        try tamper("UPDATE keyring SET is_current = 0 WHERE purpose = '\(purpose.rawValue)'")
        #expect(throws: Problem(KeyStoreProblem.keyringIncomplete)) { try open(slot) }
        try tamper("DELETE FROM keyring_wraps WHERE key = '\(purpose.rawValue)_1'")
        #expect(throws: Problem(KeyStoreProblem.keyringIncomplete)) { try open(slot) }
    }

    @Test func `a key-encrypting key that is not held opens nothing`() throws {
        let keyring = try open(slot)
        #expect(throws: Problem(KeyStoreProblem.keyDoesNotOpen)) { try keyring.keyEncryptingKey("key_encryption_2") }
    }
}
