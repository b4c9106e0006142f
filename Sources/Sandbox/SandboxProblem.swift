public import Problems

/// What the throw-away CA refuses.
public enum SandboxProblem: String, ProblemEntry {
    case authorityUnreadable = "sandbox.authority_unreadable"
    case requestKeyUnsupported = "sandbox.request_key_unsupported"
    case recipientKeyUnsupported = "sandbox.recipient_key_unsupported"
    case versionMismatch = "sandbox.version_mismatch"
    case defectNotApplicable = "sandbox.defect_not_applicable"

    public var page: ProblemPage {
        switch self {
        case .authorityUnreadable:
            ProblemPage(
                .fault, cause: "The sealed keys of the sandbox authority are not in a form this version reads.",
                fix: "Run the version of Coster that wrote them, or restore the data directory from a backup.")
        case .requestKeyUnsupported:
            ProblemPage(
                .invalid, cause: "The key in this certificate signing request is neither P-256 nor RSA with 2048 bits, and Apple's portal takes no other.",
                fix: "Make the key pair and the request in Coster and send that request.")
        case .recipientKeyUnsupported:
            ProblemPage(
                .invalid, cause: "A payment token can't be encrypted to this public key: it is neither P-256 nor RSA with 2048 bits.",
                fix: "Name a payment processing certificate whose key Coster made.")
        case .versionMismatch:
            ProblemPage(
                .invalid, cause: "The token version asked for doesn't fit the key of the certificate: EC_v1 goes with P-256, RSA_v1 with RSA.",
                fix: "Leave the version out, or name a certificate of the other key algorithm.")
        case .defectNotApplicable:
            ProblemPage(
                .invalid, cause: "One of the defects asked for doesn't exist for this token version.",
                fix: "Leave it out, or ask for a token of the other version.")
        }
    }
}

extension Problem {
    public static func sandbox(_ entry: SandboxProblem, cause: String? = nil, underlying: String? = nil) -> Problem {
        Problem(entry, cause: cause, underlying: underlying)
    }
}
