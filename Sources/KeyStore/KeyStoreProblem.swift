public import Problems

/// What goes wrong with registrations, certificate records and sealed keys.
public enum KeyStoreProblem: String, ProblemEntry {
    case certificateUnknown = "certificate.unknown"
    case stateConflict = "certificate.state_conflict"
    case inRecentUse = "certificate.in_recent_use"
    case tooManyPending = "certificate.too_many_pending"
    case noRequest = "certificate.no_request"
    case publicKeyHashMismatch = "certificate.public_key_hash_mismatch"
    case registrationUnknown = "merchant_identifier.unknown"
    case caseDiffers = "merchant_identifier.case_differs"
    case ambiguous = "merchant_identifier.ambiguous"
    case alreadyRegistered = "merchant_identifier.already_registered"
    case keyDoesNotOpen = "custody.key_does_not_open"
    case rowAltered = "custody.row_altered"
    case rootKeyMismatch = "custody.root_key_mismatch"
    case rootKeyMissing = "custody.root_key_missing"
    case rootKeyMalformed = "custody.root_key_malformed"
    case keyringIncomplete = "custody.keyring_incomplete"
    case sealed = "custody.sealed"

    public var page: ProblemPage {
        switch self {
        case .certificateUnknown:
            ProblemPage(.notFound, cause: "There is no such certificate among yours.", fix: "List your certificates and use one of the ids shown there.")
        case .stateConflict:
            ProblemPage(
                .conflict, cause: "The certificate's status does not allow this step.",
                fix: "Look at the certificate's status and take a step that leads on from it.")
        case .inRecentUse:
            ProblemPage(
                .conflict, cause: "The key opened a token within the grace period, so payments may still depend on it.",
                fix: "Wait until no token has used the key for the whole grace period, then try again.")
        case .tooManyPending:
            ProblemPage(
                .conflict, cause: "This merchant identifier already has as many open certificate signing requests as are allowed.",
                fix: "Upload the certificates of the open requests, or cancel the requests you no longer need.")
        case .noRequest:
            ProblemPage(
                .notFound, cause: "This certificate came with its key from elsewhere, so there is no certificate signing request for it.",
                fix: "Make a new certificate here if you need a certificate signing request.")
        case .publicKeyHashMismatch:
            ProblemPage(
                .invalid, cause: "The public key hash typed in is not that of this certificate.",
                fix: "Compare the hash with the one shown on the certificate, and make sure this is the key you mean to destroy.")
        case .registrationUnknown:
            ProblemPage(
                .notFound, cause: "This merchant identifier is not registered here for you.",
                fix: "Check the spelling, or register the merchant identifier first.")
        case .caseDiffers:
            ProblemPage(
                .notFound, cause: "This merchant identifier differs from a registered one only in upper and lower case.",
                fix: "Write the merchant identifier exactly as it is registered at Apple, or register this spelling too.")
        case .ambiguous:
            ProblemPage(
                .conflict, cause: "More than one of the registrations you may use fits this request.",
                fix: "Name the one you mean by its id, which begins with mid_.")
        case .alreadyRegistered:
            ProblemPage(
                .conflict, cause: "This merchant already has this merchant identifier registered in this environment.",
                fix: "Use the registration whose id is given here.")
        case .keyDoesNotOpen:
            ProblemPage(
                .fault, cause: "The sealed private key of this certificate does not open or is not the key it should be.",
                fix: "Tell the operator at once: the row must be compared with a backup, and nothing may be overwritten.")
        case .rowAltered:
            ProblemPage(
                .fault, cause: "A stored record was altered by something other than this service.",
                fix: "Tell the operator at once: run coster verify and restore the record from a backup.")
        case .rootKeyMismatch:
            ProblemPage(
                .sealed, cause: "The root key given is not the one that this data directory was made with.",
                fix: "Give the root key whose fingerprint is shown as stored, and start again.")
        case .rootKeyMissing:
            ProblemPage(
                .sealed, cause: "The root key file is not there, so no stored key can be opened.",
                fix: "Put the root key file with the fingerprint shown back in its place, or name its place with --root-key.")
        case .rootKeyMalformed:
            ProblemPage(
                .fault, cause: "The root key file does not hold a root key.", fix: "Restore the file: one line of 64 hexadecimal digits.")
        case .keyringIncomplete:
            ProblemPage(
                .fault, cause: "The data directory's keyring lacks a key that the service needs.",
                fix: "Restore the database from a backup; do not run init over it.")
        case .sealed:
            ProblemPage(
                .sealed, cause: "The service is sealed: the root key is not there.",
                fix: "The operator must put back the root key with the fingerprint shown.")
        }
    }
}

extension Problem {
    static func keyStore(_ entry: KeyStoreProblem, context: [(name: String, value: ContextValue)] = []) -> Problem {
        Problem(entry, context: context)
    }
}
