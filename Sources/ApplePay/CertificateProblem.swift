public import Problems

/// What reading a certificate as a payment processing certificate can find wrong with it. Keys and states are the key store's.
public enum CertificateProblem: String, ProblemEntry {
    case notApplePay = "certificate.not_apple_pay"
    case wrongKind = "certificate.wrong_kind"
    case wrongKeyType = "certificate.wrong_key_type"
    case merchantExtensionMalformed = "certificate.merchant_extension_malformed"
    case merchantIdentifierMismatch = "certificate.merchant_identifier_mismatch"
    case notFromApple = "certificate.not_from_apple"

    public var page: ProblemPage {
        switch self {
        case .notApplePay:
            .init(
                .invalid,
                cause: "This certificate has nothing to do with Apple Pay.",
                fix: "Download the Apple Pay Payment Processing Certificate of your merchant identifier from Apple and upload that.")
        case .wrongKind:
            .init(
                .invalid,
                cause: "This is not an Apple Pay Payment Processing Certificate.",
                fix: "In the merchant identifier's page at Apple take the Payment Processing Certificate, not the Merchant Identity Certificate.")
        case .wrongKeyType:
            .init(
                .invalid,
                cause: "The certificate's key is neither P-256 nor RSA of 2048 bits.",
                fix: "Create the certificate at Apple from a signing request made here.")
        case .merchantExtensionMalformed:
            .init(
                .invalid,
                cause: "The certificate's merchant identifier field (1.2.840.113635.100.6.32) cannot be read.",
                fix: "Download the certificate from Apple again and upload that file unchanged.")
        case .merchantIdentifierMismatch:
            .init(
                .invalid,
                cause: "The certificate belongs to another merchant identifier.",
                fix: "Upload it under the identifier it was made for, or correct the registered identifier's spelling, case included.")
        case .notFromApple:
            .init(
                .invalid,
                cause: "The certificate was not issued by Apple.",
                fix: "Create the certificate at Apple from a signing request made here; certificates of other authorities work in the sandbox only.")
        }
    }
}

extension Problem {
    public static func certificate(
        _ entry: CertificateProblem, cause: String? = nil, fix: String? = nil, context: [(name: String, value: ContextValue)] = []
    ) -> Problem {
        Problem(entry, cause: cause, fix: fix, context: context)
    }
}
