@testable import ApplePay
import Cryptography
import Encodings
import Problems
import Secrets
import Testing

/// Swift Testing has an `Expectation` too.
private typealias Expectation = ApplePay.Expectation

@Suite struct ExpectationTests {
    private func paid(_ amount: String = "1999", _ currency: String = "\"840\"", applicationData: [UInt8]? = nil) throws -> PaymentData {
        let json = #"{"currencyCode":\#(currency),"transactionAmount":\#(amount),"paymentDataType":"3DSecure"}"#
        return try PaymentData(plaintext: SecretBytes(copying: Array(json.utf8)), applicationData: applicationData)
    }

    private func failed(_ data: PaymentData, _ expected: Expectation) -> [String]? {
        do throws(Problem) {
            try data.check(expected)
            return nil
        } catch {
            #expect(error.code == "payment_token.expectation_failed")
            guard case .list(let members) = error.context.first?.value else { return [] }
            return members.map { if case .text(let name) = $0 { name } else { "?" } }
        }
    }

    @Test func `nothing expected, nothing refused`() throws {
        #expect(failed(try paid(), Expectation()) == nil)
        #expect(failed(try paid("\"x\"", "1"), Expectation()) == nil)
    }

    @Test(arguments: [
        ("19.99", true), ("19.990", true), ("019.99", true), ("19.98", false), ("1999", false), ("19.9", false), ("19.991", false), ("-19.99", false),
        ("x", false),
        ("", false),
    ])
    func `amounts are compared exactly, in minor units`(_ amount: String, _ fits: Bool) throws {
        #expect(failed(try paid(), Expectation(amount: amount)) == (fits ? nil : ["amount"]))
    }

    @Test func `an amount that cannot be read, or has no currency, fits nothing`() throws {
        #expect(failed(try paid("19.99"), Expectation(amount: "19.99")) == ["amount"])
        #expect(failed(try paid("\"1999\""), Expectation(amount: "19.99")) == ["amount"])
        #expect(failed(try paid("1999", "\"999\""), Expectation(amount: "19.99")) == ["amount"])
        #expect(failed(try paid("500", "\"392\""), Expectation(amount: "500")) == nil)
        #expect(failed(try paid("99999999999999999999"), Expectation(amount: "999999999999999999.99")) == nil)
    }

    @Test(arguments: [("USD", true), ("usd", true), ("EUR", false), ("840", false), ("", false), ("XXX", false)])
    func `currencies are compared through the table`(_ currency: String, _ fits: Bool) throws {
        #expect(failed(try paid(), Expectation(currency: currency)) == (fits ? nil : ["currency"]))
    }

    @Test func `an unknown currency fits nothing, not even another unknown one`() throws {
        #expect(failed(try paid("1", "\"999\""), Expectation(currency: "XXX")) == ["currency"])
    }

    @Test func `application data is compared by its hash`() throws {
        let bytes = Array("order 7".utf8)
        let data = try paid(applicationData: SHA256.digest(bytes).bytes)
        #expect(failed(data, Expectation(applicationData: bytes)) == nil)
        #expect(failed(data, Expectation(applicationData: bytes + [0])) == ["application_data"])
        #expect(failed(data, Expectation(applicationData: [])) == ["application_data"])
        #expect(failed(try paid(), Expectation(applicationData: bytes)) == ["application_data"])
    }

    @Test func `all that differs is named at once, without values`() throws {
        let data = try paid()
        #expect(failed(data, Expectation(paymentDataType: "3DSecure")) == nil)
        #expect(failed(data, Expectation(paymentDataType: "EMV")) == ["payment_data_type"])
        let all = Expectation(amount: "1", currency: "EUR", applicationData: [1], paymentDataType: "EMV")
        #expect(failed(data, all) == ["amount", "currency", "application_data", "payment_data_type"])
        do throws(Problem) { try data.check(all) } catch { #expect(!"\(error)".contains("1999") && !"\(error)".contains("EUR")) }
    }

    @Test(arguments: [("1.00", true), ("1", true), ("-1.5", true), ("1,5", false), ("", false), ("1e3", false), ("1.", false)])
    func `knows what an amount looks like`(_ text: String, _ isAmount: Bool) {
        #expect(Expectation.isAmount(text) == isAmount)
    }
}
