@testable import ApplePay
import Testing

@Suite struct MinorUnitsTests {
    @Test(arguments: [
        ("0", "0"), ("100", "100"), ("-0", "0"), ("-5", "-5"), ("99999999999999999999", "99999999999999999999"), ("100.00", "100"), ("007", "7"),
    ])
    func `a JSON integer is taken exactly`(_ number: String, _ text: String) {
        #expect(MinorUnits(jsonNumber: number)?.text == text)
    }

    @Test(arguments: ["19.99", "1e2", "1E2", "", "-", "1.", ".5", "1.0.0", "+1", "0.1", "१"])
    func `anything else is no number of minor units`(_ number: String) {
        #expect(MinorUnits(jsonNumber: number) == nil)
    }

    @Test(arguments: [
        ("1.00", 2, "100"), ("1", 2, "100"), ("1.0", 2, "100"), ("1.5", 2, "150"), ("0.05", 2, "5"), ("0", 2, "0"), ("0.00", 2, "0"), ("100", 0, "100"),
        ("1.234", 3, "1234"), ("1.2", 3, "1200"), ("1.000", 2, "100"), ("100.0", 0, "100"), ("-1.00", 2, "-100"),
        ("999999999999999999.99", 2, "99999999999999999999"), ("0012.30", 2, "1230"),
    ])
    func `decimal text is moved by the currency's decimals`(_ decimal: String, _ exponent: Int, _ text: String) {
        #expect(MinorUnits(decimal: decimal, exponent: exponent)?.text == text)
    }

    @Test(arguments: [("1.001", 2), ("0.5", 0), ("1,00", 2), ("1.00 ", 2), ("$1.00", 2), ("", 2), ("1e2", 2), (".50", 2), ("1.", 2), ("--1", 2)])
    func `what has more decimals, or is no decimal, is refused`(_ decimal: String, _ exponent: Int) {
        #expect(MinorUnits(decimal: decimal, exponent: exponent) == nil)
    }

    @Test(arguments: [
        ("100", 2, "1.00"), ("5", 2, "0.05"), ("0", 2, "0.00"), ("100", 0, "100"), ("1234", 3, "1.234"), ("7", 4, "0.0007"), ("-5", 2, "-0.05"),
        ("99999999999999999999", 2, "999999999999999999.99"),
    ])
    func `is written as people write it, and read back`(_ number: String, _ exponent: Int, _ decimal: String) throws {
        let amount = try #require(MinorUnits(jsonNumber: number))
        #expect(amount.decimal(exponent: exponent) == decimal)
        #expect(MinorUnits(decimal: decimal, exponent: exponent) == amount)
    }
}
