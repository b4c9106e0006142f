import Database
import Testing

@Suite struct ParameterTests {
    static let conversions: [(made: Parameter, expected: Parameter)] = [
        (Parameter(nil as Int64?), .null), (Parameter(nil as Int?), .null), (Parameter(nil as String?), .null), (Parameter(nil as [UInt8]?), .null),
        (Parameter(Int64.min), .integer(.min)), (Parameter(7), .integer(7)), (Parameter("a"), .text("a")), (Parameter([1] as [UInt8]), .blob([1])),
        (Parameter(true), .integer(1)), (Parameter(false), .integer(0)), (nil, .null), (5, .integer(5)), ("x", .text("x")), (true, .integer(1)),
    ]

    @Test(arguments: conversions) func `takes literals and optionals`(made: Parameter, expected: Parameter) {
        #expect(made == expected)
    }
}
