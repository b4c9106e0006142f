import Problems
import Testing

@Suite struct ProblemEntryTests {
    @Test func `kinds are HTTP's, and two of them may be tried again`() {
        #expect(ProblemKind.allCases.map(\.rawValue) == [400, 401, 403, 404, 409, 413, 415, 422, 423, 429, 500, 503])
        let retryable = ProblemKind.allCases.filter { ProblemPage($0, cause: "A.", fix: "B.").retryable }
        #expect(retryable == [.tooMany, .unavailable])
    }

    @Test func `the codec's pages carry their status`() {
        #expect(ProblemPage(status: 417, cause: "A.", fix: "B.").status == 417)
        #expect(ProblemPage(.sealed, cause: "A.", fix: "B.").status == 423)
    }
}
