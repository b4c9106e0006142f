import ApplePay
import Testing

@Suite struct CardNetworkTests {
    @Test(
        arguments: [
            ("4111111111111111", .visa), ("4784000000380075", .visa), ("5353756319181169", .mastercard), ("5105105105105100", .mastercard),
            ("2221000000000009", .mastercard), ("2720990000000000", .mastercard), ("371449635398431", .amex), ("341111111111111", .amex),
            ("6011111111111117", .discover), ("6440000000000000", .discover), ("6500000000000002", .discover), ("3530111333300000", .jcb),
            ("3528000000000000", .jcb), ("3589999999999999", .jcb), ("6200000000000005", .unionPay), ("8171990000000000", .unionPay),
            ("30569309025904", .dinersClub), ("36000000000008", .dinersClub), ("6759649826438453", .maestro), ("5018000000000009", .maestro),
            ("2200000000000053", .mir), ("2204990000000000", .mir), ("4011780000000000", .elo), ("6362970000000000", .elo), ("5067000000000000", .elo),
        ] as [(String, CardNetwork)])
    func `knows the published ranges`(_ number: String, _ network: CardNetwork) {
        #expect(CardNetwork(number: number) == network)
    }

    @Test(arguments: [
        "2220999999999999", "2721000000000000", "3527999999999999", "3590000000000000", "9999999999999999", "0000000000000000", "2205000000000000",
        "41111", "", "4a1111111111", "８４１１１１１１",
    ])
    func `says nothing beyond them`(_ number: String) {
        #expect(CardNetwork(number: number) == nil)
    }
}
