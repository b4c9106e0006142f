import ApplePay
import Problems
import Testing

@Suite struct PaymentTokenProblemTests {
    @Test(arguments: PaymentTokenProblem.allCases)
    func `every problem says what happened and what to do`(_ entry: PaymentTokenProblem) {
        #expect(entry.page.cause.hasSuffix(".") && entry.page.fix.hasSuffix("."))
        #expect(entry.page.cause != entry.page.fix)
        #expect(!entry.page.retryable)
    }

    @Test func `answers with the statuses of the interface`() {
        let others: [PaymentTokenProblem: Int] = [.malformed: 400, .encodingUnrecognised: 400, .tooDeep: 400, .replayed: 409]
        for entry in PaymentTokenProblem.allCases { #expect(entry.page.status == others[entry] ?? 422) }
    }
}
