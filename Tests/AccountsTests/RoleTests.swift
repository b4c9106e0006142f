import Accounts
import Testing

@Suite struct RoleTests {
    @Test func `the texts that are stored and shown stay`() {
        #expect(Role.allCases.map(\.rawValue) == ["operator", "merchant", "payment_service", "auditor"])
    }
}
