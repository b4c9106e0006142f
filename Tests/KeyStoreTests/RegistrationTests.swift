import KeyStore
import Testing

@Suite struct RegistrationTests {
    @Test func `the texts that are stored and shown stay`() {
        #expect(ReplayPolicy.allCases.map(\.rawValue) == ["same_caller", "reject", "observe"])
        #expect(Registration.defaultMaximumTokenAgeSeconds == 300)
    }
}
