public import ApplePay
public import Encodings
public import Problems

/// Someone who proved who they are: a credential whose secret, dates and client certificate have been checked. Only ``Credentials`` makes one.
public struct Principal: Sendable {
    public let credential: CredentialID
    public let role: Role
    public let environment: Environment
    /// The merchants the credential is for; nil: every merchant.
    public let merchants: Set<MerchantID>?

    init(credential: CredentialID, role: Role, environment: Environment, merchants: Set<MerchantID>?) {
        self.credential = credential
        self.role = role
        self.environment = environment
        self.merchants = merchants
    }

    /// Allows one thing, or refuses it.
    /// - Throws: `credential.permission_missing`.
    public func grant<Allowed: Permission>(_ permission: Allowed.Type) throws(Problem) -> Grant<Allowed> {
        guard Allowed.roles.contains(role) else {
            throw .credential(.permissionMissing, context: [("permission", .text(Allowed.name)), ("role", .text(role.rawValue))])
        }
        return Grant(principal: self)
    }
}

/// Someone was authenticated and allowed to do *this*. Operations take it as a parameter; only ``Principal/grant(_:)`` makes one.
public struct Grant<Allowed: Permission>: Sendable {
    public let principal: Principal

    fileprivate init(principal: Principal) { self.principal = principal }

    /// The caller: the credential's id.
    public var caller: CredentialID { principal.credential }
    public var environment: Environment { principal.environment }
    public var merchants: Set<MerchantID>? { principal.merchants }
    public func covers(_ merchant: MerchantID) -> Bool { principal.merchants?.contains(merchant) ?? true }

    /// The environment a body names must be the credential's own.
    /// - Throws: `credential.environment_mismatch`.
    public func require(_ environment: Environment) throws(Problem) {
        guard environment == principal.environment else {
            throw .credential(
                .environmentMismatch,
                context: [("credential_environment", .text(principal.environment.rawValue)), ("requested_environment", .text(environment.rawValue))])
        }
    }
}
