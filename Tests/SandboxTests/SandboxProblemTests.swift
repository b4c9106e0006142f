import Problems
import Sandbox
import Testing

struct SandboxProblemTests {
    @Test(arguments: SandboxProblem.allCases)
    func `every problem says what happened and what to do`(_ entry: SandboxProblem) {
        #expect(entry.rawValue.hasPrefix("sandbox."))
        #expect(entry.page.cause.hasSuffix(".") && entry.page.fix.hasSuffix("."))
    }
}
