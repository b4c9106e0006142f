import Database
import Problems
import Testing

@Suite struct DatabaseProblemTests {
    @Test(arguments: DatabaseProblem.allCases) func `every problem says what happened and what to do`(_ entry: DatabaseProblem) {
        #expect(entry.rawValue.hasPrefix("database."))
        #expect(entry.page.cause.hasSuffix(".") && entry.page.fix.hasSuffix("."))
    }

    @Test func `what may pass by itself can be tried again`() {
        #expect(Problem.database(.busy).retryable && Problem.database(.busy).retryAfterSeconds != nil)
        #expect(Problem.database(.unavailable).status == 503)
        #expect(!Problem.database(.corrupt).retryable)
    }
}
