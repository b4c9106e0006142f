public import Problems

/// What can be wrong with a payment token, its key or its content. What is wrong with its signature stands in ``SignatureProblem``.
public enum PaymentTokenProblem: String, ProblemEntry {
    case malformed = "payment_token.malformed"
    case encodingUnrecognised = "payment_token.encoding_unrecognised"
    case tooDeep = "request.too_deep"
    case versionUnsupported = "payment_token.version_unsupported"
    case simulator = "payment_token.simulator"
    case algorithmMismatch = "payment_token.algorithm_mismatch"
    case keyUnknown = "payment_token.key_unknown"
    case merchantIdentifierMismatch = "payment_token.merchant_identifier_mismatch"
    case undecryptable = "payment_token.undecryptable"
    case contentUnexpected = "payment_token.content_unexpected"
    case expectationFailed = "payment_token.expectation_failed"
    case replayed = "payment_token.replayed"

    public var page: ProblemPage {
        switch self {
        case .malformed:
            .init(
                .unreadable,
                cause: "The payment token lacks a part, or a part of it cannot be read.",
                fix: "Pass on the paymentData that Apple Pay gave your app or page, byte for byte.")
        case .encodingUnrecognised:
            .init(
                .unreadable,
                cause: "The payment token is neither a JSON object nor JSON text nor base64 of either.",
                fix: "Send the token as a JSON object, or wrapped at most twice as JSON text or base64.")
        case .tooDeep:
            .init(
                .unreadable,
                cause: "The JSON is nested too deeply.",
                fix: "Send the payment token as Apple Pay gave it; a real one is four levels deep.")
        case .versionUnsupported:
            .init(
                .invalid,
                cause: "The payment token has a version that is not supported.",
                fix: "Send a token of version EC_v1 or RSA_v1; if Apple made this one, ask for an update of this service.")
        case .simulator:
            .init(
                .invalid,
                cause: "This payment token was made by the iOS Simulator, which encrypts nothing.",
                fix: "Pay on a real device, with a sandbox card if no money is to move.")
        case .algorithmMismatch:
            .init(
                .invalid,
                cause: "The payment token is for a key of another algorithm than the one held.",
                fix: "Create a certificate of the token's algorithm at Apple: ECC for EC_v1, RSA (China mainland) for RSA_v1.")
        case .keyUnknown:
            .init(
                .invalid,
                cause: "No private key is held for the certificate to which Apple encrypted this payment token.",
                fix: "Create the payment processing certificate from a signing request made here, or upload the .p12 that holds its key.")
        case .merchantIdentifierMismatch:
            .init(
                .invalid,
                cause: "The payment token is encrypted to a key of another merchant identifier than the one named.",
                fix: "Name the merchant identifier that the app or page used for this payment, or leave it out.")
        case .undecryptable:
            .init(
                .invalid,
                cause: "The payment token could not be decrypted with the key that its public key hash names.",
                fix: "Check that the merchant identifier is spelt as registered at Apple and that the token arrived unchanged.")
        case .contentUnexpected:
            .init(
                .invalid,
                cause: "The payment token was decrypted, but its content is not one JSON object in UTF-8 without doubled members.",
                fix: "Ask the customer to pay again; if it happens again, report the decryption's id to the operator of this service.")
        case .expectationFailed:
            .init(
                .invalid,
                cause: "The payment token does not say what was expected of it.",
                fix: "Do not charge this token; compare the order with the payment request that the app or page showed.")
        case .replayed:
            .init(
                .conflict,
                cause: "This payment token was used before.",
                fix: "Look up the earlier decryption before you charge anything; ask for a new payment if it is not yours.")
        }
    }
}

extension Problem {
    public static func paymentToken(
        _ entry: PaymentTokenProblem, cause: String? = nil, fix: String? = nil, context: [(name: String, value: ContextValue)] = []
    ) -> Problem {
        Problem(entry, cause: cause, fix: fix, context: context)
    }
}
