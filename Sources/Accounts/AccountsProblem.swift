public import Problems

/// What goes wrong with credentials.
public enum CredentialProblem: String, ProblemEntry {
    case missing = "credential.missing"
    case malformed = "credential.malformed"
    case invalid = "credential.invalid"
    case expired = "credential.expired"
    case revoked = "credential.revoked"
    case clientCertificateRequired = "credential.client_certificate_required"
    case permissionMissing = "credential.permission_missing"
    case environmentMismatch = "credential.environment_mismatch"
    case unknown = "credential.unknown"
    case ended = "credential.ended"
    case rotationPending = "credential.rotation_pending"
    case roleNotAllowed = "credential.role_not_allowed"
    case merchantsInvalid = "credential.merchants_invalid"
    case altered = "custody.credential_altered"

    public var page: ProblemPage {
        switch self {
        case .missing:
            ProblemPage(
                .unauthenticated, cause: "The request carries no credential.",
                fix: "Send Authorization: Bearer with the credential, or X-API-Key and X-API-Secret.")
        case .malformed:
            ProblemPage(
                .unauthenticated, cause: "The credential is not of the form this service gives out.",
                fix: "Send the whole text as it was shown when the credential was made, and only one way of sending it.")
        case .invalid:
            ProblemPage(
                .unauthenticated, cause: "The credential is not known here or its secret is wrong.",
                fix: "Check that the whole credential was copied and belongs to this installation, or ask for a new one.")
        case .expired:
            ProblemPage(.unauthenticated, cause: "The credential has expired.", fix: "Ask the operator for a new credential.")
        case .revoked:
            ProblemPage(.unauthenticated, cause: "The credential was revoked.", fix: "Ask the operator for a new credential.")
        case .clientCertificateRequired:
            ProblemPage(
                .unauthenticated, cause: "This credential works only together with its TLS client certificate.",
                fix: "Connect with the client certificate whose public key the credential is pinned to.")
        case .permissionMissing:
            ProblemPage(
                .forbidden, cause: "The credential's role does not allow this call.", fix: "Use a credential whose role has the permission named here.")
        case .environmentMismatch:
            ProblemPage(
                .forbidden, cause: "The credential belongs to the other environment.",
                fix: "Use a credential of the environment you mean, or name the credential's own environment.")
        case .unknown:
            ProblemPage(.notFound, cause: "There is no such credential among yours.", fix: "List the credentials and use one of the ids shown there.")
        case .ended:
            ProblemPage(.conflict, cause: "The credential was revoked, and a revoked credential gets no new secret.", fix: "Make a new credential.")
        case .rotationPending:
            ProblemPage(
                .conflict, cause: "The credential was rotated a short while ago and its former secret is still live.",
                fix: "Wait until the former secret ends, or rotate with overlap_seconds 0, which ends both former secrets at once.")
        case .roleNotAllowed:
            ProblemPage(
                .forbidden, cause: "A credential of this role can't be made through the API.",
                fix: "Make it on the server with coster credentials create.")
        case .merchantsInvalid:
            ProblemPage(
                .invalid, cause: "The list of merchants does not fit the credential.",
                fix: "Name at least one merchant that exists and is yours; leave the member out for all merchants, which the role merchant does not allow.")
        case .altered:
            ProblemPage(
                .fault, cause: "A stored credential was altered by something other than this service.",
                fix: "Tell the operator at once: run coster verify, revoke the credential and make a new one.")
        }
    }
}

/// What goes wrong with merchants.
public enum MerchantProblem: String, ProblemEntry {
    case unknown = "merchant.unknown"

    public var page: ProblemPage {
        switch self {
        case .unknown:
            ProblemPage(.notFound, cause: "There is no such merchant among yours.", fix: "List the merchants and use one of the ids shown there.")
        }
    }
}

extension Problem {
    public static func credential(_ entry: CredentialProblem, context: [(name: String, value: ContextValue)] = []) -> Problem {
        Problem(entry, context: context)
    }
}
