import ApplePay
import Problems
import Testing

@Suite struct SignatureProblemTests {
    @Test(arguments: SignatureProblem.allCases)
    func `every problem says what happened and what to do`(_ entry: SignatureProblem) {
        #expect(entry.page.cause.hasSuffix(".") && entry.page.fix.hasSuffix("."))
        #expect(entry.page.cause != entry.page.fix)
        #expect(!entry.page.retryable)
    }

    @Test func `answers 422 throughout`() {
        #expect(SignatureProblem.allCases.allSatisfy { $0.page.status == 422 && $0.rawValue.hasPrefix("signature.") })
    }
}
