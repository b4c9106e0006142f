import ApplePay
import Testing

@Suite struct KeyAlgorithmTests {
    @Test func `each algorithm has its name and its tokens`() {
        #expect(KeyAlgorithm.allCases.map(\.rawValue) == ["ec_p256", "rsa_2048"])
        #expect(KeyAlgorithm.allCases.map(\.tokenVersion) == ["EC_v1", "RSA_v1"])
    }
}
