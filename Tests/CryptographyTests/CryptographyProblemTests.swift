import Problems
import Testing

@testable import Cryptography

struct CryptographyProblemTests {
    @Test(arguments: CryptographyProblem.allCases) func `every problem says what happened and what to do`(_ entry: CryptographyProblem) {
        #expect(entry.page.cause.hasSuffix(".") && entry.page.fix.hasSuffix("."))
    }

    @Test func `what OpenSSL queued for an ordinary answer is discarded`() {
        #expect(PKey(spki: [0x30, 0x00]) == nil)
        #expect(OpenSSLErrors.drain() == "no error queued")
    }
}
