import ApplePay
import Database
import Encodings
import Testing

@testable import KeyStore

@Suite struct TenantScopeTests {
    @Test func `contains the merchants named, or every one`() {
        let (one, two) = (MerchantID(bits: 1), MerchantID(bits: 2))
        #expect(TenantScope(environment: .sandbox, merchants: nil).contains(one))
        #expect(TenantScope(environment: .sandbox, merchants: [one]).contains(one))
        #expect(!TenantScope(environment: .sandbox, merchants: [one]).contains(two))
        #expect(!TenantScope(environment: .sandbox, merchants: []).contains(one))
    }

    @Test func `says the same in SQL, with everything bound`() {
        let all = TenantScope(environment: .production, merchants: nil).condition(alias: "r", first: 3)
        #expect(all.sql == "r.environment = $3" && all.parameters == ["production"])
        let (one, two) = (MerchantID(bits: 1), MerchantID(bits: 2))
        let some = TenantScope(environment: .sandbox, merchants: [two, one]).condition(alias: "c", first: 1)
        #expect(some.sql == "c.environment = $1 AND c.merchant IN ($2, $3)")
        #expect(some.parameters == ["sandbox", .text(one.text), .text(two.text)])
    }
}
