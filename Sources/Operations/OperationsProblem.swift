public import Problems

/// What goes wrong with a request once it has been read.
public enum OperationsProblem: String, ProblemEntry {
    case idempotencyKeyReused = "request.idempotency_key_reused"
    case valueOutOfRange = "request.value_out_of_range"
    case decryptionUnknown = "decryption.unknown"
    case verificationRunning = "request.verification_running"
    case noCertificateToMintFor = "certificate.none_to_mint_for"

    public var page: ProblemPage {
        switch self {
        case .idempotencyKeyReused:
            ProblemPage(
                .invalid, cause: "This Idempotency-Key was used for a different request.", fix: "Use a fresh Idempotency-Key for each different request.")
        case .valueOutOfRange:
            ProblemPage(.invalid, cause: "A value is outside the range allowed.", fix: "Give a value within the range shown here.")
        case .decryptionUnknown:
            ProblemPage(.notFound, cause: "There is no such decryption among yours.", fix: "Use the id that the answer to the decryption gave.")
        case .verificationRunning:
            ProblemPage(
                .tooMany, cause: "A verification of the audit trail is running already, and one runs at a time.", fix: "Try again when it has ended.")
        case .noCertificateToMintFor:
            ProblemPage(
                .notFound, cause: "This merchant identifier has no certificate that a payment token of this kind could be encrypted to.",
                fix: "Make a certificate signing request, have it issued and upload the certificate first.")
        }
    }
}

extension Problem {
    static func operation(_ entry: OperationsProblem, context: [(name: String, value: ContextValue)] = []) -> Problem {
        Problem(entry, context: context)
    }
}
