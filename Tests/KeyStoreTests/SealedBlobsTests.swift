import Database
import Problems
import Secrets
import Testing

@testable import KeyStore

@Suite struct SealedBlobsTests {
    let store: Store
    let blobs: SealedBlobs
    let secret = SecretBytes(copying: Array("the sandbox's authority".utf8))

    init() throws {
        store = try Store()
        blobs = SealedBlobs(keyring: store.keyring)
        try insert("authority", secret)
    }

    private func insert(_ name: String, _ secret: SecretBytes) throws {
        try store.write { [blobs] connection throws(Problem) in try blobs.insert(secret, name: name, at: Store.now, in: connection) }
    }

    private func open(_ name: String, with blobs: SealedBlobs? = nil) throws(Problem) -> SecretBytes? {
        try store.read { connection throws(Problem) in try (blobs ?? self.blobs).open(name, in: connection) }
    }

    @Test func `opens by name; what is not there is nil`() throws {
        #expect(try open("authority") == secret)
        #expect(try open("other") == nil)
    }

    @Test func `nothing is written over`() throws {
        #expect(throws: Problem.database(.duplicate)) { try insert("authority", SecretBytes(copying: [1])) }
        #expect(try open("authority") == secret)
    }

    @Test(arguments: [
        "UPDATE sealed_blobs SET name = 'other'", "UPDATE sealed_blobs SET name = 'other', sealed = zeroblob(60)",
        "UPDATE sealed_blobs SET name = 'other', wrapped = zeroblob(60)", "UPDATE sealed_blobs SET name = 'other', key_encrypting_key = 'key_encryption_2'",
    ])
    func `renamed or damaged it does not open`(_ sql: String) throws {
        try store.tamper(sql)
        #expect(throws: Problem(KeyStoreProblem.keyDoesNotOpen)) { try open("other") }
    }

    @Test func `another keyring opens none`() throws {
        #expect(throws: Problem(KeyStoreProblem.keyDoesNotOpen)) { try open("authority", with: SealedBlobs(keyring: try Store().keyring)) }
    }
}
