/// All routes of the service: what is answered, and what `openapi.json` shows. What stands here in no line is not there.
public struct RouteTable: Sendable {
    public let routes: [Route]
    /// Paths without braces, found at once.
    private let literal: [String: [Route]]
    private let patterns: [(path: PathPattern, routes: [Route])]

    /// What a request's method and path come to.
    enum Match {
        case route(Route, segments: [String])
        /// The path is there; these are its methods.
        case methodNotAllowed([HTTPMethod])
        case unknown
    }

    public init(_ routes: [Route]) {
        self.routes = routes
        var literal: [String: [Route]] = [:]
        var patterns: [(path: PathPattern, routes: [Route])] = []
        for route in routes {
            if route.path.parameters.isEmpty {
                literal[route.path.text, default: []].append(route)
            } else if let index = patterns.firstIndex(where: { $0.path == route.path }) {
                patterns[index].routes.append(route)
            } else {
                patterns.append((route.path, [route]))
            }
        }
        self.literal = literal
        self.patterns = patterns
    }

    /// The service's own.
    public static let all = RouteTable(
        MerchantResource.routes + MerchantIdentifierResource.routes + CertificateResource.routes + DecryptionResource.routes + CredentialResource.routes
            + AuditEntryResource.routes + ProblemResource.routes + SandboxResource.routes + StateResource.routes)

    /// A literal path goes before one with braces.
    func match(method: String, path: String) -> Match {
        if let routes = literal[path] { return choose(among: routes, method: method, segments: []) }
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        for (pattern, routes) in patterns {
            if let segments = pattern.match(Array(parts)) { return choose(among: routes, method: method, segments: segments) }
        }
        return .unknown
    }

    private func choose(among routes: [Route], method: String, segments: [String]) -> Match {
        let wanted = method == "HEAD" ? HTTPMethod.get.rawValue : method
        if let route = routes.first(where: { $0.method.rawValue == wanted }) { return .route(route, segments: segments) }
        return .methodNotAllowed(HTTPMethod.allCases.filter { method in routes.contains { $0.method == method } })
    }
}
