import Encodings
public import HTTPServer
public import Problems

extension HTTPResponse {
    /// A problem as `application/problem+json` (RFC 9457). What a library said (`underlying`) is left out: it is for the operator's log.
    public init(_ problem: Problem, requestID: String) {
        var headers: [(name: String, value: String)] = [("Content-Type", "application/problem+json"), ("Cache-Control", "no-store"), HTTPResponse.noSniff]
        if let seconds = problem.retryAfterSeconds, problem.retryable { headers.append(("Retry-After", String(seconds))) }
        // RFC 9110 §15.5.2: a 401 names how to authenticate.
        if problem.status == 401 { headers.append(("WWW-Authenticate", "Bearer realm=\"coster\"")) }
        self.init(status: problem.status, headers: headers, body: problem.json(requestID: requestID))
    }

    /// Content types are what we say, never what a browser guesses.
    static let noSniff = (name: "X-Content-Type-Options", value: "nosniff")

    /// An answer with account data or what belongs to it: no cache keeps it.
    static func json(_ body: [UInt8], status: Int = 200) -> HTTPResponse {
        HTTPResponse(status: status, headers: [("Content-Type", "application/json"), ("Cache-Control", "no-store"), noSniff], body: body)
    }
}

extension Problem {
    /// A reference to the entry in the catalogue, relative to the service.
    static func type(of code: String) -> String { "/v1/problems#\(code)" }

    func json(requestID: String) -> [UInt8] {
        JSONWriter.object { object in
            object.member("type", Problem.type(of: code))
            object.member("title", title)
            object.member("detail", detail)
            object.member("status", status)
            object.member("code", code)
            object.member("retryable", retryable)
            object.member("request_id", requestID)
            object.member("context") { $0.object { $0.facts(context) } }
        }
    }

    /// As one of several problems in a list: code and both sentences.
    func summary(_ writer: inout JSONWriter) {
        writer.object { object in
            object.member("code", code)
            object.member("title", title)
            object.member("detail", detail)
            object.member("context") { $0.object { $0.facts(context) } }
        }
    }

    static let schema = Schema.object(
        "Problem", "What went wrong, why, and what to do next (RFC 9457).",
        [
            .required("type", .text("A reference to the catalogue's entry.")),
            .required("title", .text("The cause, one sentence.")),
            .required("detail", .text("The next step, one sentence.")),
            .required("status", .integer("The HTTP status.")),
            .required("code", .text("`area.name`; one code per cause, never reworded, never reused.")),
            .required("retryable", .flag("Whether the same call may succeed later without any change: 429 and 503 only.")),
            .required("request_id", .text("The request's `X-Request-ID`.")),
            .required("context", .anything("Hashes, ids, dates, limits and sizes; never a secret.")),
        ])

    /// A ``summary(_:)``.
    static let summarySchema = Schema.object(
        "Finding", "One of several things that are wrong.",
        [
            .required("code", .text()), .required("title", .text("The cause, one sentence.")), .required("detail", .text("The next step, one sentence.")),
            .required("context", .anything("Hashes, ids, dates, limits and sizes; never a secret.")),
        ])
}

extension JSONWriter {
    /// The facts beside a problem, as members. A name that comes twice is written once, with its last value.
    mutating func facts(_ facts: [(name: String, value: ContextValue)]) {
        for (index, fact) in facts.enumerated() where !facts[(index + 1)...].contains(where: { $0.name == fact.name }) {
            name(fact.name)
            write(fact.value)
        }
    }

    private mutating func write(_ value: ContextValue) {
        switch value {
        case .text(let text): string(text)
        case .number(let number): integer(number)
        case .list(let values): array { writer in for value in values { writer.write(value) } }
        case .record(let members):
            object { writer in
                for (name, value) in members.sorted(by: { $0.key < $1.key }) {
                    writer.name(name)
                    writer.write(value)
                }
            }
        }
    }
}
