import Problems
import Testing

private enum Trouble: String, ProblemEntry {
    case wrong = "trouble.wrong"
    case other = "trouble.other"
    case later = "trouble.later"
    case odd = "trouble.odd"

    var page: ProblemPage {
        switch self {
        case .wrong: .init(.invalid, cause: "It is wrong.", fix: "Mend it.")
        case .other: .init(.notFound, cause: "It is gone.", fix: "Look elsewhere.")
        case .later: .init(.unavailable, cause: "It is busy.", fix: "Try again.")
        case .odd: .init(status: 431, cause: "It is too much.", fix: "Send less.")
        }
    }
}

@Suite struct ProblemTests {
    @Test func `takes code, status and sentences from its page`() {
        let problem = Problem(Trouble.wrong)
        #expect(problem.code == "trouble.wrong")
        #expect(problem.status == 422)
        #expect(problem.title == "It is wrong.")
        #expect(problem.detail == "Mend it.")
        #expect(problem.description == "trouble.wrong: It is wrong. Mend it.")
        #expect(problem.underlying == nil)
    }

    @Test func `can say its case more exactly`() {
        let problem = Problem(Trouble.wrong, cause: "Byte 7 is wrong.", fix: "Mend byte 7.", underlying: "library words")
        #expect(problem.title == "Byte 7 is wrong.")
        #expect(problem.detail == "Mend byte 7.")
        #expect(!problem.description.contains("library words"))
    }

    @Test func `is equal by code alone`() {
        #expect(Problem(Trouble.wrong) == Problem(Trouble.wrong, cause: "Other words."))
        #expect(Problem(Trouble.wrong) != Problem(Trouble.other))
    }

    @Test func `only 429 and 503 may be tried again, and say when`() {
        #expect(!Problem(Trouble.wrong).retryable)
        #expect(Problem(Trouble.wrong).retryAfterSeconds == nil)
        #expect(Problem(Trouble.later).retryable)
        #expect(Problem(Trouble.later).retryAfterSeconds == 1)
        #expect(Problem(Trouble.later, retryAfterSeconds: 30).retryAfterSeconds == 30)
    }

    @Test func `collects facts in order`() {
        let problem = Problem(Trouble.odd, context: [("limit", 16)]).with("seen", .number(17)).with("names", .list(["a", "b"]))
        #expect(problem.status == 431)
        #expect(problem.context.map(\.name) == ["limit", "seen", "names"])
        #expect(problem.context.map(\.value) == [.number(16), .number(17), .list([.text("a"), .text("b")])])
    }
}
