public import Problems

/// What can be wrong with keys, certificates and the library below them.
public enum CryptographyProblem: String, ProblemEntry {
    case publicKeyInvalid = "cryptography.public_key_invalid"
    case privateKeyInvalid = "cryptography.private_key_invalid"
    case privateKeyUnsupported = "cryptography.private_key_unsupported"
    case keyLength = "cryptography.key_length"
    case sealBroken = "cryptography.seal_broken"
    case randomUnavailable = "cryptography.random_unavailable"
    case secureHeapExhausted = "cryptography.secure_heap_exhausted"
    case memoryUnprotected = "cryptography.memory_unprotected"
    case libraryFailure = "cryptography.library_failure"
    case notACertificate = "certificate.not_a_certificate"

    public var page: ProblemPage {
        switch self {
        case .publicKeyInvalid:
            .init(
                .invalid, cause: "This public key is not one we take: a P-256 key in named-curve form with an uncompressed point on the curve, or an RSA key.",
                fix: "Send the SubjectPublicKeyInfo (DER) as the key's own tool exports it.")
        case .privateKeyInvalid:
            .init(
                .invalid, cause: "This private key is damaged: its parts do not fit each other or are not PKCS#8.",
                fix: "Export the key again from where it was made.")
        case .privateKeyUnsupported:
            .init(
                .invalid, cause: "This private key is neither an EC key on P-256 nor a plain RSA key of 2048 to 4096 bits.",
                fix: "Use a P-256 key, or RSA 2048 for China mainland.")
        case .keyLength:
            .init(.fault, cause: "A symmetric key has the wrong length.", fix: "Report this with the request id: it is a mistake of this program.")
        case .sealBroken:
            .init(
                .fault, cause: "Sealed bytes do not open: they were changed, moved to another place, or sealed under another key.",
                fix: "Run `coster verify` and restore the last good backup.")
        case .randomUnavailable:
            .init(.unavailable, cause: "The system gives no random bytes.", fix: "Check the machine's entropy source, then try again.")
        case .secureHeapExhausted:
            .init(
                .unavailable, cause: "The protected memory for keys is full.",
                fix: "Try again in a moment; if it lasts, give the secure heap more bytes and raise the memory lock limit.")
        case .memoryUnprotected:
            .init(
                .fault, cause: "The protected memory for keys could not be set up.",
                fix: "Raise the memory lock limit (`ulimit -l`) and start again.")
        case .libraryFailure:
            .init(
                .fault, cause: "The cryptographic library refused an operation that should always work.",
                fix: "See the operator's log for what it said, and run `coster doctor`.")
        case .notACertificate:
            .init(
                .invalid, cause: "This file is not a readable X.509 certificate.",
                fix: "Download the .cer file again from Apple's developer portal and upload it unchanged.")
        }
    }
}

extension Problem {
    public static func cryptography(_ entry: CryptographyProblem, cause: String? = nil, underlying: String? = nil) -> Problem {
        Problem(entry, cause: cause, underlying: underlying)
    }

    /// An OpenSSL call that fails only for want of memory or through a mistake of ours; takes the thread's error queue along.
    static func libraryFailure(_ call: StaticString) -> Problem {
        .cryptography(.libraryFailure, underlying: "\(call): \(OpenSSLErrors.drain())")
    }
}
