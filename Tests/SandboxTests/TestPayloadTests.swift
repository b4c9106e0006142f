import Encodings
import Testing

@testable import Sandbox

struct TestPayloadTests {
    @Test(arguments: TestPayload.Preset.allCases)
    func `a preset is one object of the members Apple documents`(_ preset: TestPayload.Preset) throws {
        let now = try #require(Timestamp(year: 2026, month: 2, day: 28))
        let content = try JSONDocument(preset.content(amount: 100, currency: "978", now: now)).root
        #expect(content.doubledMember == nil)
        #expect(content.member("applicationExpirationDate")?.string == "311231")
        #expect(content.member("transactionAmount")?.numberText == "100")
        #expect(content.member("paymentData")?.kind == .object)
    }

    @Test(arguments: TestPayload.Preset.allCases)
    func `account numbers end in their check digit`(_ preset: TestPayload.Preset) {
        let digits = preset.card.number.compactMap(\.wholeNumberValue)
        let sum = digits.reversed().enumerated().reduce(0) { sum, next in
            let doubled = next.offset.isMultiple(of: 2) ? next.element : next.element * 2
            return sum + doubled / 10 + doubled % 10
        }
        #expect(sum.isMultiple(of: 10))
        #expect((12...19).contains(digits.count))
    }

    @Test func `cryptograms have the networks' lengths and are fresh`() throws {
        func cryptogram(_ preset: TestPayload.Preset) throws -> [UInt8] {
            let content = try JSONDocument(preset.content(amount: 1, currency: "840", now: Timestamp(seconds: 0))).root
            return try #require(content.member("paymentData")?.member("onlinePaymentCryptogram")?.string.flatMap { Base64.decode($0) })
        }
        #expect(try cryptogram(.threeDSecure).count == 20)
        #expect(try cryptogram(.threeDSecureMastercard).count == 19)
        #expect(try cryptogram(.threeDSecure) != cryptogram(.threeDSecure))
    }
}
