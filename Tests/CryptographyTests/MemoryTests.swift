import Problems
import Secrets
import Testing

@testable import Cryptography

@Suite(.serialized) struct MemoryTests {
    @Test func `long-lived keys lie in the secure heap and leave it`() throws {
        #expect(secureHeap)
        #expect(try AEADKey.generate().isInSecureHeap)
        #expect(try MACKey.generate().isInSecureHeap)
        let buffer = try unsafe SecureBuffer(count: 32) { (memory) throws(Problem) in unsafe memory.copyBytes(from: [UInt8](repeating: 7, count: 32)) }
        #expect(buffer.isInSecureHeap && buffer.count == 32)
    }

    @Test func `a scalar lies in the secure heap`() throws {
        #expect(secureHeap)
        let pkcs8 = try P256.AgreementKey.generate().pkcs8()
        // Other suites use the heap meanwhile: only growth well above their size says something.
        let before = CryptographicMemory.secureHeapUsed
        let keys = try (0..<2000).map { _ in try P256.AgreementKey(pkcs8: pkcs8) }
        #expect(CryptographicMemory.secureHeapUsed - before > keys.count * 32)
        withExtendedLifetime(keys) {}
    }

    @Test func `a second install does nothing`() throws {
        #expect(secureHeap)
        try CryptographicMemory.install(secureHeapBytes: 1 << 16)
    }

    @Test func `a buffer that cannot be filled is freed`() {
        #expect(throws: Problem.cryptography(.keyLength)) {
            _ = try unsafe SecureBuffer(count: 16) { (_) throws(Problem) in throw .cryptography(.keyLength) }
        }
    }
}
