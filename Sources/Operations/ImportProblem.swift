public import Problems

/// Why a file that was uploaded is not taken, where the file itself is in order.
public enum ImportProblem: String, ProblemEntry {
    case privateKeyExposed = "certificate.private_key_exposed"
    case keyMismatch = "certificate.key_mismatch"
    case noPendingRequest = "certificate.no_pending_request"
    case alreadyHeld = "certificate.already_held"
    case tooLarge = "certificate.too_large"

    public var page: ProblemPage {
        switch self {
        case .privateKeyExposed:
            ProblemPage(
                .invalid, cause: "This file holds a private key that nothing protects; it was not stored, and must count as exposed.",
                fix: "Make a new key here, or put key and certificate into a .p12: openssl pkcs12 -export -inkey key.pem -in certificate.pem -out merchant.p12."
            )
        case .keyMismatch:
            ProblemPage(
                .invalid, cause: "The private key in this .p12 file fits none of the certificates in it.",
                fix: "Export the certificate together with the private key that stands under it.")
        case .noPendingRequest:
            ProblemPage(
                .invalid, cause: "No certificate signing request made here for this merchant identifier has the key of this certificate.",
                fix: "Create the certificate at Apple from a certificate signing request downloaded here, or upload a .p12 that holds the key too.")
        case .alreadyHeld:
            ProblemPage(
                .conflict, cause: "You hold this key already in the other environment, and the two share no key.",
                fix: "Make a key of its own for this environment.")
        case .tooLarge:
            ProblemPage(
                .tooLarge, cause: "The file is larger than a certificate may be.", fix: "Upload the one .cer file that Apple gives out, without anything added."
            )
        }
    }
}
