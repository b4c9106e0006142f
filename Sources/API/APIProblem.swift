public import Problems

/// What a request can get wrong before an operation is asked.
public enum APIProblem: String, ProblemEntry {
    case pathUnknown = "request.path_unknown"
    case methodNotAllowed = "request.method_not_allowed"
    case contentTypeUnsupported = "request.content_type_unsupported"
    case jsonMalformed = "request.json_malformed"
    case multipartMalformed = "request.multipart_malformed"
    case memberUnknown = "request.member_unknown"
    case memberDoubled = "request.member_doubled"
    case memberMissing = "request.member_missing"
    case memberInvalid = "request.member_invalid"
    case parameterMalformed = "request.parameter_malformed"
    case parameterUnknown = "request.parameter_unknown"
    case parameterDoubled = "request.parameter_doubled"
    case parameterInvalid = "request.parameter_invalid"
    case idempotencyKeyMalformed = "request.idempotency_key_malformed"
    case rateLimited = "request.rate_limited"
    case notReady = "service.not_ready"

    public var page: ProblemPage {
        switch self {
        case .pathUnknown:
            .init(.notFound, cause: "There is nothing at this address.", fix: "Take the address from /openapi.json; a slash at its end counts.")
        case .methodNotAllowed:
            .init(status: 405, cause: "This address does not know this method.", fix: "Use one of the methods named in the Allow header.")
        case .contentTypeUnsupported:
            .init(
                .unsupportedMedia, cause: "The body is of a content type that this call does not read.",
                fix: "Send the body as one of the content types shown here, with that name in the Content-Type header.")
        case .jsonMalformed:
            .init(
                .unreadable, cause: "The body is not JSON.",
                fix: "Build the body with a JSON library, in UTF-8, and look at the byte whose offset is given here.")
        case .multipartMalformed:
            .init(
                .unreadable, cause: "The body is not well-formed multipart/form-data.",
                fix: "Let an HTTP library build the form; it sets the boundary in the Content-Type header too.")
        case .memberUnknown:
            .init(
                .invalid, cause: "The request has a member that this call does not know.",
                fix: "Check the member's spelling against /openapi.json, or leave it out.")
        case .memberDoubled:
            .init(
                .unreadable, cause: "The request has the same member twice, so two readers could understand it differently.",
                fix: "Send each member once.")
        case .memberMissing:
            .init(.invalid, cause: "The request lacks a member that this call needs.", fix: "Add the member named here.")
        case .memberInvalid:
            .init(
                .invalid, cause: "A member of the request is not of the form this call needs.",
                fix: "Give the member named here the form that /openapi.json shows.")
        case .parameterMalformed:
            .init(
                .unreadable, cause: "The part of the address after the question mark cannot be read.",
                fix: "Write it as name=value pairs joined by &, each percent-encoded UTF-8.")
        case .parameterUnknown:
            .init(
                .invalid, cause: "The address has a query parameter that this call does not know.",
                fix: "Check the parameter's spelling against /openapi.json, or leave it out.")
        case .parameterDoubled:
            .init(.unreadable, cause: "The address has the same query parameter twice.", fix: "Send each parameter once.")
        case .parameterInvalid:
            .init(
                .invalid, cause: "A query parameter is not of the form this call needs.",
                fix: "Give the parameter named here the form that /openapi.json shows.")
        case .idempotencyKeyMalformed:
            .init(
                .unreadable, cause: "The Idempotency-Key is not one text of 1 to 255 visible ASCII characters.",
                fix: "Send one Idempotency-Key header with a fresh random value, such as a UUID.")
        case .rateLimited:
            .init(
                .tooMany, cause: "This credential has made more calls of this kind than are allowed in the time.",
                fix: "Wait the seconds given in Retry-After, then send the same request again.")
        case .notReady:
            .init(
                .unavailable, cause: "The service cannot serve payments at the moment.",
                fix: "Send requests elsewhere until this answers ready; an operator or auditor credential is told the reasons here.")
        }
    }
}

extension Problem {
    static func api(
        _ entry: APIProblem, cause: String? = nil, fix: String? = nil, context: [(name: String, value: ContextValue)] = [], retryAfterSeconds: Int? = nil
    ) -> Problem {
        Problem(entry, cause: cause, fix: fix, context: context, retryAfterSeconds: retryAfterSeconds)
    }
}
