public import Problems

/// What can be wrong with a `.p12` file. A merchant reads these sentences, mostly somebody who exported the file from Keychain Access.
///
/// A wrong password, a damaged file and an algorithm we cannot do are never mixed up while the file itself can tell them apart.
public enum PKCS12Problem: String, ProblemEntry {
    case passwordWrong = "pkcs12.password_wrong"
    case passwordEncoding = "pkcs12.password_encoding"
    case keyPasswordDiffers = "pkcs12.key_password_differs"
    case noPrivateKey = "pkcs12.no_private_key"
    case noCertificate = "pkcs12.no_certificate"
    case algorithmUnsupported = "pkcs12.algorithm_unsupported"
    case legacyUnavailable = "pkcs12.legacy_unavailable"
    case iterationsTooHigh = "pkcs12.iterations_too_high"
    case tooExpensive = "pkcs12.too_expensive"
    case tooLarge = "pkcs12.too_large"
    case truncated = "pkcs12.truncated"
    case damaged = "pkcs12.damaged"
    case ambiguous = "pkcs12.ambiguous"
    case structureUnsupported = "pkcs12.structure_unsupported"

    public var page: ProblemPage {
        switch self {
        case .passwordWrong:
            .init(
                .invalid, cause: "The password does not open this .p12 file.",
                fix: "Type the password that was set when the file was exported; if your browser filled the field in, clear it first.")
        case .passwordEncoding:
            .init(
                .invalid, cause: "The password is right, but the program that made this .p12 file wrote its letters outside ASCII in a way we cannot follow.",
                fix: "Export the file again with a password of plain letters, digits and signs (ASCII).")
        case .keyPasswordDiffers:
            .init(
                .invalid, cause: "The password opens this .p12 file, but something inside it is locked with another password.",
                fix: "Give that other password as key_password too, or export the file again with one password for both.")
        case .noPrivateKey:
            .init(
                .invalid, cause: "This .p12 file holds no private key.",
                fix: """
                    In Keychain Access open My Certificates, unfold the certificate, select both rows (the certificate and the private key under it), \
                    and choose Export 2 items as .p12.
                    """)
        case .noCertificate:
            .init(
                .invalid, cause: "This .p12 file holds a private key but no certificate.",
                fix: """
                    In Keychain Access open My Certificates, unfold the certificate, select both rows (the certificate and the private key under it), \
                    and choose Export 2 items as .p12.
                    """)
        case .algorithmUnsupported:
            .init(
                .invalid, cause: "This .p12 file is protected with an algorithm that is not supported here.",
                fix: """
                    Write it anew where it was made, for example with: openssl pkcs12 -in old.p12 -nodes -out all.pem && \
                    openssl pkcs12 -export -in all.pem -keypbe AES-256-CBC -certpbe AES-256-CBC -macalg sha256 -out new.p12, then delete all.pem.
                    """)
        case .legacyUnavailable:
            .init(
                status: 501, cause: "This .p12 file is encrypted with an old algorithm (RC2, RC4 or DES) whose OpenSSL module is missing on this server.",
                fix: "Ask the operator to install OpenSSL's legacy provider (legacy.so) and to run coster doctor.")
        case .iterationsTooHigh:
            .init(
                .invalid, cause: "This .p12 file asks for more password iterations than are allowed.",
                fix: "Export the file again with the usual settings of Keychain Access or OpenSSL (2,048 iterations).")
        case .tooExpensive:
            .init(
                .invalid, cause: "Opening this .p12 file would take more memory or time than is allowed.",
                fix: "Export the file again with the usual settings of Keychain Access or OpenSSL (PBKDF2, 2,048 iterations).")
        case .tooLarge:
            .init(
                .tooLarge, cause: "This .p12 file is larger than is allowed.",
                fix: "Export one certificate with its private key only.")
        case .truncated:
            .init(
                .invalid, cause: "This .p12 file is cut off: its end is missing.",
                fix: "Copy or upload the file again in binary form, and compare its size with the original's.")
        case .damaged:
            .init(
                .invalid, cause: "The password is right, but this .p12 file was changed or damaged after it was made.",
                fix: "Copy or upload the file again in binary form, or export it again.")
        case .ambiguous:
            .init(
                .invalid, cause: "This .p12 file holds several private keys with a payment processing certificate of this merchant identifier.",
                fix: "Export one certificate with its private key, and upload that.")
        case .structureUnsupported:
            .init(
                .invalid, cause: "This .p12 file is damaged, or not built as PKCS#12 (RFC 7292) prescribes.",
                fix: "Copy or upload the file again in binary form, or export it again from Keychain Access or with openssl pkcs12 -export.")
        }
    }
}

extension Problem {
    /// A problem of a `.p12` file.
    public static func pkcs12(
        _ entry: PKCS12Problem, cause: String? = nil, fix: String? = nil, context: [(name: String, value: ContextValue)] = [], underlying: String? = nil
    ) -> Problem {
        Problem(entry, cause: cause, fix: fix, context: context, underlying: underlying)
    }
}
