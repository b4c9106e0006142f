import Accounts
import Cryptography
import Encodings
import HTTPServer
import Operations
import Problems
import Sandbox

/// One request at its route: what a handler reads from.
struct Exchange: Sendable {
    let request: HTTPRequest
    let route: Route
    /// The values of the path's parts in braces, in order.
    let segments: [String]
    let service: APIService

    /// - Throws: `custody.*` while the service is sealed.
    var operations: Operations {
        get throws(Problem) {
            switch service.state {
            case .open(let operations, _): return operations
            case .sealed(let problem): throw problem
            }
        }
    }

    /// - Throws: `custody.*` while the service is sealed.
    var sandbox: SandboxAuthority {
        get throws(Problem) {
            switch service.state {
            case .open(_, let sandbox): return sandbox
            case .sealed(let problem): throw problem
            }
        }
    }

    var isOnOperatorsListener: Bool { request.listener == APIService.operatorsListener }

    func authenticate() throws(Problem) -> Principal {
        let operations = try operations
        guard let presented = try request.head.presentedCredential() else { throw .credential(.missing) }
        return try operations.authenticate(presented, clientCertificateSPKI: request.clientCertificate?.spkiSHA256)
    }

    /// The first of the path's parts in braces, as an id; a text that is no such id is unknown like any other that nothing answers to.
    func id<Kind: RecordKind>(_ type: RecordID<Kind>.Type, or unknown: Problem) throws(Problem) -> RecordID<Kind> {
        guard let text = segments.first, let id = RecordID<Kind>(text) else { throw unknown }
        return id
    }

    /// The first of the path's parts in braces, as it is.
    var reference: String { segments.first ?? "" }

    /// The query, parameters the route does not know refused. Also where the route knows none.
    func query() throws(Problem) -> QueryString { try QueryString(request.head.query, route.query) }

    /// The JSON body, held against the route's schema.
    func object() throws(Problem) -> RequestObject {
        guard case .json(let schema, _) = route.body else { return try RequestObject(Array("{}".utf8), Schema.object("", nil, [])) }
        if request.body.isEmpty, schema.demandsNothing { return try RequestObject(Array("{}".utf8), schema) }
        try request.head.requireJSON()
        return try RequestObject(request.body, schema)
    }

    /// What the operation must know of this call.
    /// - Parameter content: what the body comes to; nil: the body itself. Two forms with other boundaries hold the same file.
    func call(_ content: [UInt8]? = nil) throws(Problem) -> Call {
        guard route.makes, let key = try request.head.idempotencyKey() else { return Call(requestID: request.id) }
        let digest = SHA256.digest(Array(request.head.method.utf8), [0], Array(request.head.path.utf8), [0], content ?? request.body)
        return Call(requestID: request.id, idempotencyKey: key, requestDigest: digest)
    }
}

extension Schema {
    /// Whether an empty object would do.
    var demandsNothing: Bool {
        guard case .object(let members) = shape else { return false }
        return !members.contains(where: \.isRequired)
    }
}

// What headers say.
extension HTTPRequestHead {
    var carriesCredential: Bool { count(of: "authorization") > 0 || count(of: "x-api-key") > 0 || count(of: "x-api-secret") > 0 }

    /// The credential, from one of the two ways of sending it; nil when there is none.
    /// - Throws: `credential.malformed`.
    func presentedCredential() throws(Problem) -> PresentedCredential? {
        let authorization = header("authorization")
        let key = header("x-api-key")
        let secret = header("x-api-secret")
        switch (authorization, key, secret) {
        case (nil, nil, nil): return nil
        case (let authorization?, nil, nil):
            guard let credential = Bearer.credential(in: authorization), let presented = PresentedCredential(bearer: credential) else {
                throw .credential(.malformed)
            }
            return presented
        case (nil, let key?, let secret?):
            guard let presented = PresentedCredential(apiKey: key, apiSecret: secret) else { throw .credential(.malformed) }
            return presented
        default: throw .credential(.malformed)
        }
    }

    /// - Throws: `request.idempotency_key_malformed`.
    func idempotencyKey() throws(Problem) -> String? {
        guard let key = header("idempotency-key") else { return nil }
        guard count(of: "idempotency-key") == 1, (1...255).contains(key.utf8.count), key.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
            throw .api(.idempotencyKeyMalformed, context: [("limit", 255), ("size", .number(key.utf8.count))])
        }
        return key
    }

    /// - Throws: `request.content_type_unsupported` unless the body says that it is JSON in UTF-8, or says nothing.
    func requireJSON() throws(Problem) {
        guard let contentType = header("content-type") else { return }
        guard let type = HeaderParameters(contentType), type.value == "application/json", type["charset"].map({ $0.lowercased() == "utf-8" }) ?? true else {
            throw .contentTypeUnsupported(contentType, supported: ["application/json"])
        }
    }

    /// Which of two content types the client would rather have: the second only where `Accept` names it, and not below the first.
    func prefers(_ second: String, to first: String) -> Bool {
        var weights: [String: Double] = [:]
        for item in (header("accept") ?? "").split(separator: ",") {
            guard let range = HeaderParameters(Array(item.utf8)[...]) else { continue }
            weights[range.value] = range["q"].flatMap { Double($0) } ?? 1
        }
        guard let wanted = weights[second], wanted > 0 else { return false }
        return wanted >= weights[first] ?? 0
    }
}

extension Problem {
    static func contentTypeUnsupported(_ given: String, supported: [String]) -> Problem {
        .api(
            .contentTypeUnsupported, context: [("content_type", .text(given.clipped)), ("supported", .list(supported.map { .text($0) }))])
    }
}

/// `Bearer`, in letters of either case, blanks, and the credential (RFC 6750, 2.1; RFC 9110, 11.4). Byte by byte: this stands in every request.
private enum Bearer {
    static func credential(in header: String) -> String? {
        let bytes = header.utf8
        var scheme = "bearer".utf8.makeIterator()
        var index = bytes.startIndex
        while let wanted = scheme.next() {
            guard index < bytes.endIndex, bytes[index] | 0x20 == wanted else { return nil }
            index = bytes.index(after: index)
        }
        guard index < bytes.endIndex, bytes[index] == UInt8(ascii: " ") else { return nil }
        while index < bytes.endIndex, bytes[index] == UInt8(ascii: " ") { index = bytes.index(after: index) }
        return String(header[index...])
    }
}
