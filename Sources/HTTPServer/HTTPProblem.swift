public import Problems

/// What the codec and the server refuse on their own, before any route is asked.
public enum HTTPProblem: String, ProblemEntry {
    case malformed = "request.malformed"
    case lengthAmbiguous = "request.length_ambiguous"
    case hostMissing = "request.host_missing"
    case tlsRequired = "request.tls_required"
    case timeout = "request.timeout"
    case bodyTooLarge = "request.body_too_large"
    case expectationUnsupported = "request.expectation_unsupported"
    case headTooLarge = "request.head_too_large"
    case tooManyHeaders = "request.too_many_headers"
    case transferEncodingUnsupported = "request.transfer_encoding_unsupported"
    case versionUnsupported = "request.version_unsupported"
    case tooBusy = "request.too_busy"

    public var page: ProblemPage {
        switch self {
        case .malformed:
            .init(
                .unreadable, cause: "The request breaks the syntax of HTTP/1.1.",
                fix: "Send it with an HTTP client library instead of writing the bytes by hand, and check any proxy in between.")
        case .lengthAmbiguous:
            .init(
                .unreadable, cause: "The request states the length of its body in a way that two readers could understand differently.",
                fix: "Send either one Content-Length in plain digits or Transfer-Encoding: chunked, never both.")
        case .hostMissing:
            .init(.unreadable, cause: "The request does not name exactly one host.", fix: "Send one Host header with the name you connect to.")
        case .tlsRequired:
            .init(.unreadable, cause: "This port speaks HTTPS and the request came as plain HTTP.", fix: "Use https:// in the address.")
        case .timeout:
            .init(
                status: 408, cause: "The request did not arrive completely in the time allowed.",
                fix: "Send head and body without a pause, and look for a slow or lossy network in between.")
        case .bodyTooLarge:
            .init(
                .tooLarge, cause: "The body is larger than this call takes.",
                fix: "Send at most the number of bytes given as limit, and check that this is the file you meant.")
        case .expectationUnsupported:
            .init(status: 417, cause: "The request expects something other than 100-continue.", fix: "Leave the Expect header out.")
        case .headTooLarge:
            .init(
                status: 431, cause: "Request line and headers together are larger than the server takes.",
                fix: "Shorten the address, and leave out cookies and headers that this service does not need.")
        case .tooManyHeaders:
            .init(status: 431, cause: "The request has more header lines than the server takes.", fix: "Leave out headers that this service does not need.")
        case .transferEncodingUnsupported:
            .init(
                status: 501, cause: "The body is sent in a transfer encoding other than chunked.",
                fix: "Send the body with a Content-Length, or with Transfer-Encoding: chunked alone.")
        case .versionUnsupported:
            .init(status: 505, cause: "The request is written in a version of HTTP that this port does not speak.", fix: "Use HTTP/1.1.")
        case .tooBusy:
            .init(
                .unavailable, cause: "The server has as many requests of this kind at hand as it can hold.",
                fix: "Send the same request again after the time in Retry-After.")
        }
    }
}

/// What stops a server from starting.
public enum ListenerProblem: String, ProblemEntry {
    case addressUnusable = "configuration.listen_address_unusable"
    case addressInUse = "configuration.listen_address_in_use"
    case plainBeyondLoopback = "configuration.plain_http_beyond_loopback"
    case certificateUnreadable = "configuration.tls_certificate_unreadable"
    case privateKeyUnreadable = "configuration.tls_private_key_unreadable"
    case keyMismatch = "configuration.tls_key_mismatch"
    case resources = "configuration.server_resources"

    public var page: ProblemPage {
        switch self {
        case .addressUnusable:
            .init(
                .invalid, cause: "The server cannot listen on the address it was given.",
                fix: "Give an address of this machine as ADDRESS:PORT, such as 127.0.0.1:8443.")
        case .addressInUse:
            .init(.conflict, cause: "Another program already listens on this address and port.", fix: "Stop that program, or give another port.")
        case .plainBeyondLoopback:
            .init(
                .invalid, cause: "Plain HTTP was asked for on an address that other machines can reach.",
                fix: "Listen on 127.0.0.1 or ::1, or give this listener a TLS certificate.")
        case .certificateUnreadable:
            .init(
                .invalid, cause: "The TLS certificate of the server cannot be read.",
                fix: "Give a PEM file with the server's certificate first and its intermediates after it.")
        case .privateKeyUnreadable:
            .init(.invalid, cause: "The TLS private key of the server cannot be read.", fix: "Give the key as an unencrypted PEM file.")
        case .keyMismatch:
            .init(
                .invalid, cause: "The TLS private key does not belong to the TLS certificate.",
                fix: "Give the certificate and the key that were made for each other.")
        case .resources:
            .init(
                .fault, cause: "The operating system did not give the server what it needs to start.",
                fix: "Raise the limits on open files, threads and memory for this service.")
        }
    }
}

extension Problem {
    /// A refusal of the codec or the server; `cause` says the case at hand more exactly.
    public static func http(_ entry: HTTPProblem, cause: String? = nil, context: [(name: String, value: ContextValue)] = []) -> Problem {
        Problem(entry, cause: cause, context: context)
    }

    /// A reason not to start.
    public static func listener(_ entry: ListenerProblem, context: [(name: String, value: ContextValue)] = [], underlying: String? = nil) -> Problem {
        Problem(entry, context: context, underlying: underlying)
    }
}
