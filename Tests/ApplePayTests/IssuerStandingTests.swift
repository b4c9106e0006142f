import ApplePay
import Cryptography
import Problems
import TestSupport
import Testing

@Suite struct IssuerStandingTests {
    private func read() throws -> PaymentProcessingCertificate? {
        guard Vectors.shared != nil else {
            let _: [Int] = Vectors.unavailable("issuer standings", cases: 2)
            return nil
        }
        return try PaymentProcessingCertificate(certificate: TestFiles.certificate("rbkmoney/processing.cer"))
    }

    @Test func `the sandbox takes every issuer, with a warning where it is unknown`() throws {
        guard let read = try read() else { return }
        for (standing, warnings) in [(.apple, []), (.trusted, []), (.namesApple, ["issuer_unknown"]), (.unknown, ["issuer_unknown"])]
            as [(IssuerStanding, [String])]
        {
            #expect(try Environment.sandbox.admit(standing, of: read).map(\.code) == warnings)
        }
    }

    @Test func `production takes Apple, and with a warning who names Apple`() throws {
        guard let read = try read() else { return }
        #expect(try Environment.production.admit(.apple, of: read) == [])
        #expect(try Environment.production.admit(.namesApple, of: read).map(\.code) == ["issuer_unknown"])
        for standing in [IssuerStanding.trusted, .unknown] {
            #expect(throws: Problem.certificate(.notFromApple)) { try Environment.production.admit(standing, of: read) }
        }
    }
}
