import ApplePay
import Testing

@Suite struct EnvironmentTests {
    @Test func `there are two, under the names of the interface`() {
        #expect(Environment.allCases.map(\.rawValue) == ["sandbox", "production"])
        #expect(Environment(rawValue: "Production") == nil)
    }
}
