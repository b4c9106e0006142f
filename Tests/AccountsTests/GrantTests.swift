import ApplePay
import Encodings
import Problems
import Testing

@testable import Accounts

@Suite struct GrantTests {
    private func principal(_ role: Role, _ merchants: Set<MerchantID>? = nil) -> Principal {
        Principal(credential: CredentialID(bits: 1), role: role, environment: .sandbox, merchants: merchants)
    }

    @Test func `a grant is for what the role allows, and says who has it`() throws {
        let grant = try principal(.paymentService, [MerchantID(bits: 1)]).grant(DecryptTokens.self)
        #expect(grant.caller == CredentialID(bits: 1) && grant.environment == .sandbox)
        #expect(grant.covers(MerchantID(bits: 1)) && !grant.covers(MerchantID(bits: 2)))
        #expect(try principal(.paymentService).grant(DecryptTokens.self).covers(MerchantID(bits: 2)))
    }

    @Test(arguments: [Role.operator, .merchant, .auditor])
    func `staff and merchants never decrypt`(_ role: Role) {
        let problem = #expect(throws: Problem.credential(.permissionMissing)) { try principal(role).grant(DecryptTokens.self) }
        #expect(problem?.status == 403)
        #expect(problem?.context.map(\.value) == ["decryptions.create", .text(role.rawValue)])
    }

    @Test func `the environment of a body must be the credential's`() throws {
        let grant = try principal(.operator).grant(ManageRegistrations.self)
        try grant.require(.sandbox)
        let problem = #expect(throws: Problem.credential(.environmentMismatch)) { try grant.require(.production) }
        #expect(problem?.status == 403)
    }
}
