import Secrets
import Testing

@Suite struct SecretBytesTests {
    @Test(arguments: [[], [1], [UInt8](0...255)] as [[UInt8]])
    func `holds what it was given`(_ bytes: [UInt8]) {
        let secret = SecretBytes(copying: bytes)
        #expect(secret.count == bytes.count)
        #expect(secret.copyExposed() == bytes)
        let seen = unsafe secret.withUnsafeBytes { unsafe Array($0) }
        #expect(seen == bytes)
    }

    @Test func `taking over leaves nothing behind`() {
        var source: [UInt8] = [1, 2, 3]
        let secret = SecretBytes(consuming: &source)
        #expect(source.isEmpty)
        #expect(secret.copyExposed() == [1, 2, 3])
    }

    @Test func `is filled once, from zeros`() {
        let secret = unsafe SecretBytes(count: 4) { unsafe $0[2] = 9 }
        #expect(secret.copyExposed() == [0, 0, 9, 0])
    }

    @Test func `passes the filler's error on`() {
        struct Broken: Error {}
        #expect(throws: Broken.self) { try unsafe SecretBytes(count: 4) { (_) throws(Broken) in throw Broken() } }
    }

    @Test func `compares by content`() {
        #expect(SecretBytes(copying: [1, 2]) == SecretBytes(copying: [1, 2]))
        #expect(SecretBytes(copying: [1, 2]) != SecretBytes(copying: [1, 3]))
        #expect(SecretBytes(copying: [1, 2]) != SecretBytes(copying: [1, 2, 0]))
        #expect(SecretBytes(copying: []) == SecretBytes(copying: []))
    }

    @Test func `prints as secret, whichever way`() {
        let secret = SecretBytes(copying: [0x41, 0x42])
        var dumped = ""
        dump(secret, to: &dumped)
        for text in ["\(secret)", String(reflecting: secret), String(describing: [secret]), dumped] {
            #expect(text.contains("<secret>"))
            #expect(!text.contains("65") && !text.contains("41"))
        }
    }
}
