import KeyStore
import Problems
import Testing

@Suite struct KeyStoreProblemTests {
    @Test(arguments: KeyStoreProblem.allCases)
    func `every problem says what happened and what to do`(_ entry: KeyStoreProblem) {
        #expect(entry.page.cause.hasSuffix(".") && entry.page.fix.hasSuffix("."))
    }

    /// `design.md` §6.
    @Test(arguments: [
        ("certificate.unknown", 404), ("certificate.state_conflict", 409), ("certificate.in_recent_use", 409), ("certificate.too_many_pending", 409),
        ("certificate.no_request", 404), ("certificate.public_key_hash_mismatch", 422), ("merchant_identifier.unknown", 404),
        ("merchant_identifier.case_differs", 404), ("merchant_identifier.ambiguous", 409), ("merchant_identifier.already_registered", 409),
        ("custody.root_key_missing", 423), ("custody.sealed", 423),
    ])
    func `codes answer with the contract's status`(_ code: String, _ status: Int) throws {
        #expect(try #require(KeyStoreProblem(rawValue: code)).page.status == status)
    }
}
