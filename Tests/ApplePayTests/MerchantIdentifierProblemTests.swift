import ApplePay
import Problems
import Testing

@Suite struct MerchantIdentifierProblemTests {
    @Test(arguments: MerchantIdentifierProblem.allCases)
    func `every problem says what happened and what to do`(_ entry: MerchantIdentifierProblem) {
        #expect(entry.page.cause.hasSuffix(".") && entry.page.fix.hasSuffix("."))
        #expect(entry.page.cause != entry.page.fix)
        #expect(!entry.page.retryable)
    }

    @Test func `answers 422`() {
        #expect(Problem.merchantIdentifier(.malformed).status == 422)
    }
}
