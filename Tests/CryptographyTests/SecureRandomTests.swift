import Secrets
import Testing

@testable import Cryptography

struct SecureRandomTests {
    @Test(arguments: [0, 1, 16, 1000]) func `as many as asked for, never twice the same`(_ count: Int) throws {
        #expect(try SecureRandom.bytes(count).count == count)
        #expect(try SecureRandom.secret(count).count == count)
        guard count >= 16 else { return }
        #expect(try SecureRandom.bytes(count) != SecureRandom.bytes(count))
        #expect(try SecureRandom.secret(count) != SecureRandom.secret(count))
    }
}
