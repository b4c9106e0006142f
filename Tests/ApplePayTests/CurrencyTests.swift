import ApplePay
import Testing

@Suite struct CurrencyTests {
    @Test(arguments: [
        ("USD", "840", 2), ("EUR", "978", 2), ("AUD", "036", 2), ("ALL", "008", 2), ("JPY", "392", 0), ("KRW", "410", 0), ("ISK", "352", 0),
        ("KWD", "414", 3), ("BHD", "048", 3), ("CLF", "990", 4), ("CNY", "156", 2), ("CLP", "152", 0), ("UYW", "927", 4), ("XCG", "532", 2),
    ])
    func `letters, number and decimals belong together`(_ code: String, _ numeric: String, _ exponent: Int) throws {
        let currency = try #require(Currency(numeric: numeric))
        #expect([currency.code, currency.numeric] == [code, numeric])
        #expect(currency.exponent == exponent)
        #expect(Currency(code: code) == currency)
        #expect(Currency(code: code.lowercased()) == currency)
    }

    @Test(arguments: ["", "36", "0840", "999", "963", "959", "abc", " 840"])
    func `unknown numbers are none`(_ numeric: String) {
        #expect(Currency(numeric: numeric) == nil)
    }

    @Test func `the table is one-to-one and well-formed`() {
        #expect(Currency.all.count > 150)
        #expect(Set(Currency.all.map(\.code)).count == Currency.all.count)
        #expect(Set(Currency.all.map(\.numeric)).count == Currency.all.count)
        for currency in Currency.all {
            #expect(currency.code.utf8.count == 3 && currency.code.utf8.allSatisfy { (65...90).contains($0) })
            #expect(currency.numeric.utf8.count == 3 && Int(currency.numeric) != nil)
            #expect((0...4).contains(currency.exponent))
        }
    }
}
