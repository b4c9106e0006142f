import Problems
import Secrets
import Testing

@testable import Cryptography

struct AEADKeyTests {
    @Test(arguments: [0, 1, 32, 138, 4096]) func `opens what it sealed`(_ count: Int) throws {
        let key = try AEADKey.generate()
        let plaintext = try SecureRandom.secret(count)
        let sealed = try key.seal(plaintext, associatedData: [1, 2])
        #expect(sealed.count == count + 28)
        #expect(try key.open(sealed, associatedData: [1, 2]) == plaintext)
        #expect(try key.seal(plaintext, associatedData: [1, 2]) != sealed)
        #expect(try AEADKey(key.exportedForWrapping()).open(sealed, associatedData: [1, 2]) == plaintext)
    }

    @Test func `opens nothing else`() throws {
        let key = try AEADKey.generate()
        let sealed = try key.seal(SecretBytes(copying: [9, 8, 7]), associatedData: [1])
        for index in sealed.indices {
            var changed = sealed
            changed[index] ^= 0x10
            #expect(throws: Problem.cryptography(.sealBroken)) { try key.open(changed, associatedData: [1]) }
        }
        for count in 0..<sealed.count {
            #expect(throws: Problem.cryptography(.sealBroken)) { try key.open(Array(sealed.prefix(count)), associatedData: [1]) }
        }
        #expect(throws: Problem.cryptography(.sealBroken)) { try key.open(sealed, associatedData: []) }
        #expect(throws: Problem.cryptography(.sealBroken)) { try key.open(sealed, associatedData: [2]) }
        #expect(throws: Problem.cryptography(.sealBroken)) { try AEADKey.generate().open(sealed, associatedData: [1]) }
    }

    @Test(arguments: [0, 16, 31, 33]) func `needs 32 bytes`(_ count: Int) {
        #expect(throws: Problem.cryptography(.keyLength)) { try AEADKey(SecureRandom.secret(count)) }
    }
}
