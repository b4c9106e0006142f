import Accounts
import Encodings
import Sandbox
import Testing

@testable import API

@Suite struct OpenAPITests {
    private static let document = Result { try JSONDocument(OpenAPI.document()).root }
    private let root: JSONValue

    init() throws { root = try Self.document.get() }

    @Test func `is OpenAPI 3.1 and says each thing once`() {
        #expect(root.member("openapi")?.string == "3.1.0")
        #expect(root.doubledMember == nil)
    }

    @Test func `every route is there, with its access and answers`() throws {
        for route in RouteTable.all.routes {
            let operation = try #require(root.member("paths")?.member(route.path.text)?.member(route.method.rawValue.lowercased()), "\(route.path.text)")
            let responses = try #require(operation.member("responses"))
            #expect(responses.member("default")?.member("$ref")?.string == "#/components/responses/problem")
            #expect(responses.members.count >= 2)
            switch route.access {
            case .open: #expect(operation.member("security")?.elements.isEmpty == true)
            case .permission(let permission), .operatorsListener(let permission), .openWithMore(let permission):
                #expect(operation.member("x-permission")?.string == permission.name)
                #expect(operation.member("x-roles")?.elements.count == permission.roles.count)
            }
            let names = operation.member("parameters")?.elements.compactMap { $0.member("name")?.string } ?? []
            #expect(names == route.path.parameters + route.query.map(\.name) + (route.makes ? ["Idempotency-Key"] : []))
        }
    }

    @Test func `operation ids are unique`() {
        let ids = root.member("paths")?.members.flatMap { $0.value.members.compactMap { $0.value.member("operationId")?.string } } ?? []
        #expect(ids.count == RouteTable.all.routes.count && Set(ids).count == ids.count)
    }

    @Test func `every reference leads somewhere, and no name stands for two schemas`() throws {
        let components = try #require(root.member("components"))
        let schemas = Set(components.member("schemas")?.members.map(\.name) ?? [])
        var references: [String] = []
        func walk(_ value: JSONValue) {
            if let reference = value.member("$ref")?.string { references.append(reference) }
            for (_, item) in value.members { walk(item) }
            for item in value.elements { walk(item) }
        }
        walk(root)
        for reference in Set(references) where reference != "#/components/responses/problem" {
            #expect(schemas.contains(String(reference.dropFirst("#/components/schemas/".count))), "\(reference)")
        }
        #expect(components.member("responses")?.member("problem") != nil)
        #expect(components.member("securitySchemes")?.members.map(\.name) == ["bearer", "apiKey", "apiSecret"])
    }

    @Test func `tells the names of the sandbox's defects`() throws {
        let order = try #require(root.member("components")?.member("schemas")?.member("SandboxPaymentTokenRequest"))
        let names = order.member("properties")?.member("defects")?.member("items")?.member("enum")?.elements.compactMap(\.string)
        #expect(names == Defect.allCases.map(\.rawValue))
    }
}
