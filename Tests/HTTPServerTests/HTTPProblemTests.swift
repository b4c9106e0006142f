import HTTPServer
import Problems
import Testing

@Suite struct HTTPProblemTests {
    @Test(arguments: HTTPProblem.allCases)
    func `every problem says what happened and what to do`(_ entry: HTTPProblem) {
        #expect(entry.page.cause.hasSuffix(".") && entry.page.fix.hasSuffix("."))
        #expect(entry.rawValue.hasPrefix("request."))
        #expect((400...599).contains(entry.page.status))
    }

    @Test(arguments: ListenerProblem.allCases)
    func `every reason not to start says what to do`(_ entry: ListenerProblem) {
        #expect(entry.page.cause.hasSuffix(".") && entry.page.fix.hasSuffix("."))
        #expect(entry.rawValue.hasPrefix("configuration."))
    }
}
