import Accounts
import Problems
import Testing

@Suite struct AccountsProblemTests {
    @Test(arguments: CredentialProblem.allCases)
    func `every problem says what happened and what to do`(_ entry: CredentialProblem) {
        #expect(entry.page.cause.hasSuffix(".") && entry.page.fix.hasSuffix("."))
    }

    /// `design.md` §6.
    @Test(arguments: [
        ("credential.unknown", 404), ("credential.rotation_pending", 409), ("credential.environment_mismatch", 403),
        ("credential.client_certificate_required", 401), ("credential.missing", 401), ("credential.permission_missing", 403),
    ])
    func `codes answer with the contract's status`(_ code: String, _ status: Int) throws {
        #expect(try #require(CredentialProblem(rawValue: code)).page.status == status)
        #expect(MerchantProblem.unknown.page.status == 404)
    }
}
