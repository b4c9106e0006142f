import ApplePay
import Testing

@Suite struct WarningTests {
    @Test func `is a code and a sentence`() {
        let warning = Warning(code: "odd", detail: "It is odd.")
        #expect(warning == Warning(code: "odd", detail: "It is odd."))
        #expect(warning != Warning(code: "even", detail: "It is odd."))
        #expect(Warning.identifierTrimmed.code == "identifier_trimmed" && Warning.identifierTrimmed.detail.hasSuffix("."))
    }
}
