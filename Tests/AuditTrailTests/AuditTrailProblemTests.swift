import AuditTrail
import Problems
import Testing

@Suite struct AuditTrailProblemTests {
    @Test(arguments: AuditTrailProblem.allCases) func `every problem says what happened and what to do`(_ entry: AuditTrailProblem) {
        #expect(entry.rawValue.hasPrefix("audit."))
        #expect(entry.page.cause.hasSuffix(".") && entry.page.fix.hasSuffix("."))
    }
}
