import Accounts
import Encodings
import Problems
import Sandbox

/// The description of the API (OpenAPI 3.1), made from the route table: it can't say anything else than what is answered.
public enum OpenAPI {
    public static func document(_ table: RouteTable = .all) -> [UInt8] {
        JSONWriter.object { document in
            document.member("openapi", "3.1.0")
            document.member("info") { $0.object(info) }
            document.member("security") { $0.array(security) }
            document.member("paths") { $0.object { paths in writePaths(table, &paths) } }
            document.member("components") { $0.object { components in writeComponents(table, &components) } }
        }
    }

    private static func info(_ object: inout JSONWriter) {
        object.member("title", "Coster")
        object.member("version", "1")
        object.member(
            "description",
            "Keeps Apple Pay payment processing keys for a payment service provider: makes key pairs and certificate signing requests, takes the issued "
                + "certificates or .p12 files, and opens payment tokens.")
    }

    /// Either way of sending a credential.
    private static func security(_ list: inout JSONWriter) {
        list.object { $0.member("bearer", [String]()) }
        list.object { object in
            object.member("apiKey", [String]())
            object.member("apiSecret", [String]())
        }
    }

    // MARK: Paths

    private static func writePaths(_ table: RouteTable, _ paths: inout JSONWriter) {
        var written: Set<PathPattern> = []
        for route in table.routes where written.insert(route.path).inserted {
            paths.member(route.path.text) {
                $0.object { item in
                    for method in HTTPMethod.allCases {
                        guard let route = table.routes.first(where: { $0.path == route.path && $0.method == method }) else { continue }
                        item.member(method.rawValue.lowercased()) { $0.object { operation in write(route, &operation) } }
                    }
                }
            }
        }
    }

    private static func write(_ route: Route, _ operation: inout JSONWriter) {
        operation.member("operationId", operationID(route))
        operation.member("summary", route.summary)
        operation.member("tags", [tag(route)])
        writeAccess(route.access, &operation)
        let parameters = route.path.parameters
        if !parameters.isEmpty || !route.query.isEmpty || route.makes {
            operation.member("parameters") {
                $0.array { list in
                    for name in parameters { parameter(name, in: "path", .text(pathSummary(name)), isRequired: true, &list) }
                    for query in route.query { parameter(query.name, in: "query", query.schema, isRequired: false, &list) }
                    if route.makes { parameter("Idempotency-Key", in: "header", idempotencyKey, isRequired: false, &list) }
                }
            }
        }
        writeBody(route.body, &operation)
        operation.member("responses") {
            $0.object { responses in
                writeAnswer(route.answer, &responses)
                responses.member("default") { $0.object { $0.member("$ref", "#/components/responses/problem") } }
            }
        }
    }

    private static let idempotencyKey = Schema.text(
        "1 to 255 visible ASCII characters. The same key with the same request makes nothing again; kept 24 hours for each caller.", maximum: 255)

    private static func pathSummary(_ name: String) -> String {
        name == "identifier" ? "The Apple merchant identifier itself, or the registration's id (`mid_…`)." : "The record's id."
    }

    private static func parameter(_ name: String, in place: String, _ schema: Schema, isRequired: Bool, _ list: inout JSONWriter) {
        list.object { object in
            object.member("name", name)
            object.member("in", place)
            object.member("required", isRequired)
            object.member("schema") { schema.write(into: &$0) }
        }
    }

    private static func writeAccess(_ access: Route.Access, _ operation: inout JSONWriter) {
        let permission: any Permission.Type
        var isOpen = false
        switch access {
        case .open:
            operation.member("security") { $0.array { _ in } }
            return
        case .permission(let type), .operatorsListener(let type): permission = type
        case .openWithMore(let type):
            permission = type
            isOpen = true
        }
        if isOpen {
            operation.member("security") {
                $0.array { list in
                    list.object { _ in }
                    security(&list)
                }
            }
        }
        operation.member("x-permission", permission.name)
        operation.member("x-roles", permission.roles.map(\.rawValue).sorted())
    }

    private static func writeBody(_ body: Route.Body, _ operation: inout JSONWriter) {
        switch body {
        case .none: return
        case .json(let schema, let maximumBytes):
            operation.member("requestBody") {
                $0.object { request in
                    request.member("required", !schema.demandsNothing)
                    request.member("description", "At most \(maximumBytes) bytes.")
                    request.member("content") { $0.object { content in media("application/json", schema, &content) } }
                }
            }
        case .upload(let maximumBytes):
            operation.member("requestBody") {
                $0.object { request in
                    request.member("required", true)
                    request.member("description", "At most \(maximumBytes) bytes. The file is recognised by its content, whatever its content type says.")
                    request.member("content") {
                        $0.object { content in
                            content.member("application/octet-stream") { $0.object { _ in } }
                            media("multipart/form-data", UploadBody.formSchema, &content)
                            media("application/json", UploadBody.schema, &content)
                        }
                    }
                }
            }
        }
    }

    private static func writeAnswer(_ answer: Route.Answer, _ responses: inout JSONWriter) {
        switch answer {
        case .json(let schema, let statuses):
            for (status, summary) in statuses.sorted(by: { $0.key < $1.key }) {
                responses.member(String(status)) {
                    $0.object { response in
                        response.member("description", summary)
                        response.member("content") { $0.object { content in media("application/json", schema, &content) } }
                    }
                }
            }
        case .other(let types, let summary):
            responses.member("200") {
                $0.object { response in
                    response.member("description", summary)
                    response.member("content") {
                        $0.object { content in
                            for type in types { content.member(type) { $0.object { _ in } } }
                        }
                    }
                }
            }
        }
    }

    private static func media(_ type: String, _ schema: Schema, _ content: inout JSONWriter) {
        content.member(type) { $0.object { $0.member("schema") { schema.write(into: &$0) } } }
    }

    /// `post_merchant_identifiers_identifier_certificates`: unique because method and path are.
    private static func operationID(_ route: Route) -> String {
        let words = route.path.text.split { !$0.isLetter && !$0.isNumber }.drop { $0 == "v1" }
        return ([route.method.rawValue.lowercased()] + words.map(String.init)).joined(separator: "_")
    }

    private static func tag(_ route: Route) -> String {
        let parts = route.path.text.split(separator: "/")
        return parts.first == "v1" ? String(parts.dropFirst().first ?? "") : "state"
    }

    // MARK: Components

    private static func writeComponents(_ table: RouteTable, _ components: inout JSONWriter) {
        components.member("securitySchemes") { $0.object(writeSecuritySchemes) }
        components.member("responses") {
            $0.object {
                $0.member("problem") {
                    $0.object { response in
                        response.member("description", "A problem, with its cause and the next step. `GET /v1/problems` lists all codes.")
                        response.member("content") { $0.object { content in media("application/problem+json", Problem.schema, &content) } }
                    }
                }
            }
        }
        components.member("schemas") {
            $0.object { schemas in
                for schema in named(table) { schemas.member(schema.name ?? "") { schema.writeBody(into: &$0) } }
            }
        }
    }

    /// Every schema with a name, each once, in the order of names.
    private static func named(_ table: RouteTable) -> [Schema] {
        var found: [String: Schema] = [:]
        for schema in [Problem.schema] + table.routes.flatMap(schemas) {
            for named in schema.named { found[named.name ?? ""] = named }
        }
        return found.sorted { $0.key < $1.key }.map(\.value)
    }

    private static func schemas(of route: Route) -> [Schema] {
        var schemas = route.query.map(\.schema)
        switch route.body {
        case .none: break
        case .json(let schema, _): schemas.append(schema)
        case .upload: schemas += [UploadBody.schema, UploadBody.formSchema]
        }
        if case .json(let schema, _) = route.answer { schemas.append(schema) }
        return schemas
    }

    private static func writeSecuritySchemes(_ schemes: inout JSONWriter) {
        schemes.member("bearer") {
            $0.object { scheme in
                scheme.member("type", "http")
                scheme.member("scheme", "bearer")
                scheme.member("description", "The credential: `api_key` + `.` + `api_secret`.")
            }
        }
        for (name, header) in [("apiKey", "X-API-Key"), ("apiSecret", "X-API-Secret")] {
            schemes.member(name) {
                $0.object { scheme in
                    scheme.member("type", "apiKey")
                    scheme.member("in", "header")
                    scheme.member("name", header)
                }
            }
        }
    }
}
