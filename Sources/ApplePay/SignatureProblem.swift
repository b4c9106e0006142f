public import Problems

/// What can be wrong with the signature of a payment token. The order of the cases is the order of the checks.
public enum SignatureProblem: String, ProblemEntry {
    case unparseable = "signature.unparseable"
    case algorithmUnsupported = "signature.algorithm_unsupported"
    case signingTimeMissing = "signature.signing_time_missing"
    case signingTimeAmbiguous = "signature.signing_time_ambiguous"
    case invalid = "signature.invalid"
    case intermediateMissing = "signature.intermediate_missing"
    case markerMissing = "signature.marker_missing"
    case chainExpired = "signature.chain_expired"
    case chainNotYetValid = "signature.chain_not_yet_valid"
    case chainInvalid = "signature.chain_invalid"
    case untrustedRoot = "signature.untrusted_root"
    case environmentMismatch = "signature.environment_mismatch"
    case tooOld = "signature.too_old"
    case inTheFuture = "signature.in_the_future"

    public var page: ProblemPage {
        switch self {
        case .unparseable:
            .init(
                .invalid,
                cause: "The signature of the payment token cannot be read.",
                fix: "Pass on the signature that Apple Pay gave, whole and unchanged.")
        case .algorithmUnsupported:
            .init(
                .invalid,
                cause: "The payment token is signed with an algorithm that Apple does not use for this version.",
                fix: "Pass on the token that Apple Pay gave; if Apple made this one, ask for an update of this service.")
        case .signingTimeMissing:
            .init(
                .invalid,
                cause: "The signature does not say when it was made.",
                fix: "Pass on the token that Apple Pay gave; one without a signing time cannot be told from a replay.")
        case .signingTimeAmbiguous:
            .init(
                .invalid,
                cause: "The signature names more than one signing time.",
                fix: "Pass on the token that Apple Pay gave, unchanged.")
        case .invalid:
            .init(
                .invalid,
                cause: "The signature does not fit the payment token: something in it was changed after Apple signed it.",
                fix: "Pass on every member of paymentData byte for byte; look for a step that re-encodes or cuts it.")
        case .intermediateMissing:
            .init(
                .invalid,
                cause: "The signature does not carry the signer's certificate together with the certificate of its issuer.",
                fix: "Pass on the signature whole: Apple puts both certificates into it.")
        case .markerMissing:
            .init(
                .invalid,
                cause: "A certificate in the signature lacks the mark by which Apple permits it to sign payment tokens.",
                fix: "Pass on the token that Apple Pay gave; this one was signed by something else.")
        case .chainExpired:
            .init(
                .invalid,
                cause: "A certificate in the signature had ended when the signature was made.",
                fix: "Ask the customer to pay again; if every token fails so, report it to the operator of this service.")
        case .chainNotYetValid:
            .init(
                .invalid,
                cause: "A certificate in the signature was not yet valid when the signature was made.",
                fix: "Ask the customer to pay again; if every token fails so, report it to the operator of this service.")
        case .chainInvalid:
            .init(
                .invalid,
                cause: "The signer's certificate was not issued by the certificate that the signature names as its issuer.",
                fix: "Pass on the token that Apple Pay gave; this one was put together from parts.")
        case .untrustedRoot:
            .init(
                .invalid,
                cause: "The signature's certificates do not lead to a trusted root.",
                fix: "Use tokens made by Apple; a sandbox token of another certificate authority needs its root as a trust anchor.")
        case .environmentMismatch:
            .init(
                .invalid,
                cause: "This is a sandbox payment token, sent for a production registration.",
                fix: "Send it for the sandbox registration, or pay with a real card outside Apple's sandbox.")
        case .tooOld:
            .init(
                .invalid,
                cause: "The payment token was signed too long ago.",
                fix: "Decrypt a token at once when it arrives; for late work ask the operator for a longer max_token_age_seconds.")
        case .inTheFuture:
            .init(
                .invalid,
                cause: "The payment token was signed in the future of this server's clock.",
                fix: "Have the operator check the server's clock against a time service.")
        }
    }
}

extension Problem {
    public static func signature(
        _ entry: SignatureProblem, cause: String? = nil, fix: String? = nil, context: [(name: String, value: ContextValue)] = [],
        underlying: String? = nil
    ) -> Problem {
        Problem(entry, cause: cause, fix: fix, context: context, underlying: underlying)
    }
}
