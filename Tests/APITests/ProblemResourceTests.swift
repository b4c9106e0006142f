import Accounts
import Encodings
import Testing

@testable import API

@Suite struct ProblemResourceTests {
    @Test func `lists the whole catalogue`() async throws {
        let service = try TestService()
        let answer = try await service.call("GET", "/v1/problems", as: try service.credential(.paymentService))
        let codes = answer.value("data")?.elements.compactMap { $0.member("code")?.string }
        #expect(codes == ProblemCatalogue.entries.map(\.code) && answer.value("next")?.isNull == true)
    }
}
