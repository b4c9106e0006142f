@testable import ApplePay
import Encodings
import Problems
import Secrets
import Testing

@Suite struct PaymentDataTests {
    private static let good: [(String, String)] = [
        ("applicationPrimaryAccountNumber", #""4784000000380075""#), ("applicationExpirationDate", #""290228""#), ("currencyCode", #""840""#),
        ("transactionAmount", "100"), ("deviceManufacturerIdentifier", #""040010030273""#), ("paymentDataType", #""3DSecure""#),
        ("paymentData", #"{"onlinePaymentCryptogram":"/x2gvNsADhptD1JXWRhcMAACAAA=","eciIndicator":"7"}"#),
    ]

    private func read(_ json: String) throws -> PaymentData { try PaymentData(plaintext: SecretBytes(copying: Array(json.utf8)), applicationData: nil) }

    /// The good content with one member replaced; nil leaves it out.
    private func content(_ name: String = "", _ value: String? = nil) throws -> PaymentData {
        let members = Self.good.compactMap { member in member.0 == name ? value.map { (name, $0) } : member }
        return try read("{" + members.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",") + "}")
    }

    @Test func `derives all that a good content says`() throws {
        let data = try content()
        let token = data.networkToken
        #expect(token.number == "4784000000380075")
        #expect([token.bin, token.last4, token.cryptogram, token.eci, token.eciRaw] == ["478400", "0075", "/x2gvNsADhptD1JXWRhcMAACAAA=", "07", "7"])
        #expect(token.expiryMonth == 2 && token.expiryYear == 2029)
        #expect(token.network == .visa && token.kind == .dpan)
        let paid = data.transaction
        #expect([paid.amount, paid.amountMinor, paid.currency, paid.currencyNumeric] == ["1.00", "100", "USD", "840"])
        #expect(paid.currencyExponent == 2)
        #expect(data.paymentDataType == "3DSecure")
        #expect(data.warnings == [])
    }

    @Test(arguments: [
        "", "null", "[]", "\"text\"", "1", "{", "{}x", " ", "{\"a\":1,\"a\":2}", "{\"a\":1,\"\\u0061\":2}", "{\"a\":{\"b\":[{\"c\":1,\"c\":1}]}}", "\u{feff}{}",
        String(repeating: "{\"a\":", count: 40) + "1" + String(repeating: "}", count: 40),
    ])
    func `content is one JSON object without doubled members, or nothing`(_ json: String) {
        #expect(throws: Problem.paymentToken(.contentUnexpected)) { try read(json) }
    }

    @Test(arguments: [[0xff, 0xfe], [0xc0, 0xaf], [0xed, 0xa0, 0x80]] as [[UInt8]])
    func `content is UTF-8`(_ bytes: [UInt8]) {
        let json = Array(#"{"cardholderName":""#.utf8) + bytes + Array("\"}".utf8)
        #expect(throws: Problem.paymentToken(.contentUnexpected)) { try PaymentData(plaintext: SecretBytes(copying: json), applicationData: nil) }
    }

    @Test(
        arguments: [
            ("transactionAmount", "0", nil), ("transactionAmount", "99999999999999999999", nil), ("transactionAmount", "19.99", "amount_not_integer"),
            ("transactionAmount", "\"1999\"", "amount_not_integer"), ("transactionAmount", "1e3", "amount_not_integer"),
            ("transactionAmount", "null", "amount_not_integer"), ("currencyCode", "\"036\"", nil), ("currencyCode", "36", "currency_not_text"),
            ("currencyCode", "\"999\"", "currency_unknown"), ("currencyCode", "\"USD\"", "currency_unknown"), ("currencyCode", "null", "currency_not_text"),
            ("applicationExpirationDate", "\"290229\"", "expiry_malformed"), ("applicationExpirationDate", "\"2902\"", "expiry_malformed"),
            ("applicationExpirationDate", "290228", "expiry_malformed"), ("applicationExpirationDate", "\"29-2-8\"", "expiry_malformed"),
            ("applicationExpirationDate", "\"280229\"", nil), ("applicationPrimaryAccountNumber", "4784000000380075", "number_unusual"),
            ("applicationPrimaryAccountNumber", "\"47840000003\"", "number_unusual"),
            ("applicationPrimaryAccountNumber", "\"4784 0000 0038\"", "number_unusual"),
            ("applicationPrimaryAccountNumber", "\"47840000003800751234\"", "number_unusual"),
            ("applicationPrimaryAccountNumber", "\"4784000000380075123\"", nil),
            ("paymentDataType", "\"XYZ\"", "payment_data_type_unknown"), ("paymentDataType", "1", "payment_data_type_unknown"),
            ("paymentData", "{}", "members_missing"), ("paymentData", #"{"onlinePaymentCryptogram":"AA"}"#, nil),
            ("paymentData", #"{"onlinePaymentCryptogram":"AA","eciIndicator":""}"#, "eci_malformed"),
            ("paymentData", #"{"onlinePaymentCryptogram":"AA","eciIndicator":7}"#, "eci_malformed"),
            ("paymentData", #"{"onlinePaymentCryptogram":"AA","eciIndicator":"x"}"#, "eci_malformed"),
            ("paymentData", #"{"onlinePaymentCryptogram":"AA","eciIndicator":null}"#, nil), ("deviceManufacturerIdentifier", "7", nil),
        ] as [(String, String, String?)])
    func `what is odd is a warning, and the payload is delivered`(_ name: String, _ value: String, _ warning: String?) throws {
        let data = try content(name, value)
        #expect(data.warnings.map(\.code) == (warning.map { [$0] } ?? []))
        #expect(String(decoding: data.plaintext.copyExposed(), as: UTF8.self).contains("\"\(name)\":\(value)"))
    }

    @Test(arguments: ["applicationPrimaryAccountNumber", "applicationExpirationDate", "currencyCode", "transactionAmount", "paymentDataType", "paymentData"])
    func `a missing member is named, and nothing is put in its place`(_ name: String) throws {
        let data = try content(name, nil)
        let warning = try #require(data.warnings.first { $0.code == "members_missing" })
        #expect(warning.detail.contains(name))
        switch name {
        case "applicationPrimaryAccountNumber":
            #expect(data.networkToken.number == nil && data.networkToken.bin == nil && data.networkToken.last4 == nil && data.networkToken.network == nil)
        case "applicationExpirationDate": #expect(data.networkToken.expiryMonth == nil && data.networkToken.expiryYear == nil)
        case "currencyCode": #expect(data.transaction.currency == nil && data.transaction.amount == nil && data.transaction.amountMinor == "100")
        case "transactionAmount": #expect(data.transaction.amount == nil && data.transaction.amountMinor == nil && data.transaction.currency == "USD")
        case "paymentDataType": #expect(data.paymentDataType == nil)
        default: #expect(data.networkToken.cryptogram == nil && data.networkToken.eci == nil)
        }
    }

    @Test func `several missing members stand in one warning`() throws {
        let data = try read("{}")
        #expect(data.warnings.map(\.code) == ["members_missing"])
        #expect(data.warnings[0].detail.contains("currencyCode") && data.warnings[0].detail.contains("paymentData"))
    }

    @Test(
        arguments: [
            (#""7""#, "07", "7"), (#""07""#, "07", "07"), (#""5""#, "05", "5"), ("7", "07", "7"), (#""""#, nil, ""), (#""123""#, nil, "123"),
            ("null", nil, nil),
            ("true", nil, nil),
        ] as [(String, String?, String?)])
    func `the indicator has two digits, and stays as it came beside that`(_ value: String, _ eci: String?, _ raw: String?) throws {
        let token = try content("paymentData", #"{"onlinePaymentCryptogram":"AA","eciIndicator":\#(value)}"#).networkToken
        #expect([token.eci, token.eciRaw] == [eci, raw])
    }

    @Test func `a number that lost its zeros gets them back`() throws {
        let paid = try content("currencyCode", "36").transaction
        #expect([paid.currency, paid.currencyNumeric, paid.amount] == ["AUD", "036", "1.00"])
        #expect(try content("currencyCode", "1000").transaction.currencyNumeric == nil)
        #expect(try content("currencyCode", "\"392\"").transaction.amount == "100")
        #expect(try content("currencyCode", "\"414\"").transaction.amount == "0.100")
    }

    @Test func `merchant tokens stand on a merchant's number`() throws {
        let extra = { (json: String) in Self.good.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",") + json }
        #expect(try read("{\(extra(",\"merchantTokenIdentifier\":\"DAPL\""))}").networkToken.kind == .mpan)
        #expect(try read("{\(extra(",\"merchantTokenIdentifier\":null"))}").networkToken.kind == .dpan)
    }

    /// C49: UnionPay's form.
    @Test func `EMV content asks for EMV's members only`() throws {
        let json =
            #"{"applicationPrimaryAccountNumber":"6250941006528599","applicationExpirationDate":"311231","currencyCode":"156","transactionAmount":0,"#
            + #""paymentDataType":"EMV","paymentData":{"emvData":"nyYI","encryptedPINData":"48FF"}}"#
        let data = try read(json)
        #expect(data.warnings == [])
        #expect(data.networkToken.network == .unionPay && data.networkToken.cryptogram == nil)
        #expect(data.transaction.amount == "0.00" && data.transaction.currency == "CNY")
        #expect(try read(json.replacing("emvData", with: "other")).warnings.map(\.code) == ["members_missing"])
    }

    @Test func `unknown members survive in Apple's own bytes`() throws {
        let json = #"{"zzz":[1,2.50,null], "currencyCode":"840","authenticationResponses":[{"transactionAmount":"500"}]}"#
        #expect(try read(json).plaintext.copyExposed() == Array(json.utf8))
    }
}
