import ApplePay
import Sandbox
import Testing

struct DefectTests {
    @Test(arguments: Defect.allCases)
    func `every defect says what it is`(_ defect: Defect) {
        #expect(defect.summary.hasSuffix("."))
        #expect(defect.summary.hasPrefix("Good: ") == (defect.expectedCode == nil))
        #expect(defect.rawValue.allSatisfy { $0.isLowercase || $0.isNumber || $0 == "_" })
        #expect(defect.applies(to: .ecP256))
    }
}
