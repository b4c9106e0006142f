import Testing

@testable import Accounts

@Suite struct PermissionTests {
    /// `design.md` §4, role by role; what no line names is refused. The row "diagnose" comes with its call.
    static let table: [(permission: any Permission.Type, name: String, roles: Set<Role>)] = [
        (ManageMerchants.self, "merchants.manage", [.operator]),
        (ReadMerchants.self, "merchants.read", [.operator, .merchant, .auditor]),
        (ManageRegistrations.self, "merchant_identifiers.manage", [.operator, .merchant]),
        (SetTokenPolicies.self, "merchant_identifiers.set_policies", [.operator]),
        (ReadRegistrations.self, "merchant_identifiers.read", [.operator, .merchant, .auditor]),
        (ReadCertificates.self, "certificates.read", [.operator, .merchant, .auditor]),
        (ManageCertificates.self, "certificates.manage", [.operator, .merchant]),
        (RetireCertificates.self, "certificates.retire", [.operator]),
        (ReadDecryptions.self, "decryptions.read", [.operator, .merchant, .paymentService, .auditor]),
        (DecryptTokens.self, "decryptions.create", [.paymentService]),
        (ReadProblems.self, "problems.read", [.operator, .merchant, .paymentService, .auditor]),
        (ManageCredentials.self, "credentials.manage", [.operator]),
        (ReadCredentials.self, "credentials.read", [.operator, .auditor]),
        (ReadAuditTrail.self, "audit_entries.read", [.operator, .merchant, .auditor]),
        (VerifyAuditTrail.self, "audit_entries.verify", [.auditor]),
        (UseSandbox.self, "sandbox.use", [.operator, .merchant, .paymentService]),
        (ReadOperations.self, "operations.read", [.operator, .auditor]),
    ]

    @Test func `roles are allowed what the contract's table says, and nothing else`() {
        for line in Self.table {
            #expect(line.permission.name == line.name)
            #expect(line.permission.roles == line.roles, "\(line.name)")
        }
        #expect(Set(Self.table.map(\.name)).count == Self.table.count)
    }
}
