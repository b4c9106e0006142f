public import Problems

/// What can be wrong with the text of a merchant identifier.
public enum MerchantIdentifierProblem: String, ProblemEntry {
    case malformed = "merchant_identifier.malformed"

    public var page: ProblemPage {
        switch self {
        case .malformed:
            .init(
                .invalid,
                cause: "This is no Apple merchant identifier.",
                fix: "Copy the identifier from Certificates, Identifiers & Profiles at Apple; it looks like merchant.com.example.shop.")
        }
    }
}

extension Problem {
    public static func merchantIdentifier(_ entry: MerchantIdentifierProblem, cause: String? = nil, fix: String? = nil) -> Problem {
        Problem(entry, cause: cause, fix: fix)
    }
}
