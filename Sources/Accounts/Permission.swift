/// Something a caller may be allowed to do. Each is a type, so that a ``Grant`` says in an operation's signature what its caller must have been allowed.
public protocol Permission: Sendable {
    /// Stands in `openapi.json` and in refusals.
    static var name: String { get }
    /// The whole of the permission table for this permission. Who is not named is refused.
    static var roles: Set<Role> { get }
}

public enum ReadMerchants: Permission {
    public static let name = "merchants.read"
    public static let roles: Set<Role> = [.operator, .merchant, .auditor]
}

public enum ManageMerchants: Permission {
    public static let name = "merchants.manage"
    public static let roles: Set<Role> = [.operator]
}

public enum ReadRegistrations: Permission {
    public static let name = "merchant_identifiers.read"
    public static let roles: Set<Role> = [.operator, .merchant, .auditor]
}

public enum ManageRegistrations: Permission {
    public static let name = "merchant_identifiers.manage"
    public static let roles: Set<Role> = [.operator, .merchant]
}

/// `replay_policy` and `max_token_age_seconds`.
public enum SetTokenPolicies: Permission {
    public static let name = "merchant_identifiers.set_policies"
    public static let roles: Set<Role> = [.operator]
}

public enum ReadCertificates: Permission {
    public static let name = "certificates.read"
    public static let roles: Set<Role> = [.operator, .merchant, .auditor]
}

/// Make a request, upload, inspect, cancel, activate, rename.
public enum ManageCertificates: Permission {
    public static let name = "certificates.manage"
    public static let roles: Set<Role> = [.operator, .merchant]
}

/// Retire, reinstate, flag as compromised, destroy.
public enum RetireCertificates: Permission {
    public static let name = "certificates.retire"
    public static let roles: Set<Role> = [.operator]
}

/// Never staff.
public enum DecryptTokens: Permission {
    public static let name = "decryptions.create"
    public static let roles: Set<Role> = [.paymentService]
}

public enum ReadDecryptions: Permission {
    public static let name = "decryptions.read"
    public static let roles: Set<Role> = [.operator, .merchant, .paymentService, .auditor]
}

public enum ReadProblems: Permission {
    public static let name = "problems.read"
    public static let roles: Set<Role> = Set(Role.allCases)
}

public enum ReadCredentials: Permission {
    public static let name = "credentials.read"
    public static let roles: Set<Role> = [.operator, .auditor]
}

public enum ManageCredentials: Permission {
    public static let name = "credentials.manage"
    public static let roles: Set<Role> = [.operator]
}

/// An operator reads its own actions, a merchant its own merchants', an auditor all.
public enum ReadAuditTrail: Permission {
    public static let name = "audit_entries.read"
    public static let roles: Set<Role> = [.operator, .merchant, .auditor]
}

public enum VerifyAuditTrail: Permission {
    public static let name = "audit_entries.verify"
    public static let roles: Set<Role> = [.auditor]
}

public enum UseSandbox: Permission {
    public static let name = "sandbox.use"
    public static let roles: Set<Role> = [.operator, .merchant, .paymentService]
}

/// Reasons in readyz, and metrics.
public enum ReadOperations: Permission {
    public static let name = "operations.read"
    public static let roles: Set<Role> = [.operator, .auditor]
}
