import Accounts
import ApplePay
import Encodings
import Foundation
import Testing

@testable import API

/// Who may do what to whose things: every route of the table, by each role, on its own, a foreign and an absent object.
///
/// Default is deny: a route without a row here fails.
@Suite struct AccessTableTests {
    /// What one caller is answered on one object.
    enum Verdict: Sendable, Equatable {
        /// Anything but a refusal for want of right.
        case allowed
        /// 403 `credential.permission_missing`.
        case forbidden
        /// 404: nobody's, or somebody else's.
        case notFound
    }

    /// Verdicts for an object of the caller's merchants, of another merchant, and for one that is not there.
    struct Row: Sendable {
        let own: Verdict
        let foreign: Verdict
        let absent: Verdict

        static let all = Row(own: .allowed, foreign: .allowed, absent: .notFound)
        static let ownOnly = Row(own: .allowed, foreign: .notFound, absent: .notFound)
        static let never = Row(own: .forbidden, foreign: .forbidden, absent: .forbidden)
        /// Calls that name no object, or none that could be another's.
        static let open = Row(own: .allowed, foreign: .allowed, absent: .allowed)
    }

    struct Rule: Sendable {
        let operatorRow: Row
        let merchant: Row
        let paymentService: Row
        let auditor: Row

        subscript(role: Role) -> Row {
            switch role {
            case .operator: operatorRow
            case .merchant: merchant
            case .paymentService: paymentService
            case .auditor: auditor
            }
        }
    }

    /// The permission table of `design.md` §4, route by route.
    static let rules: [String: Rule] = [
        "POST /v1/merchants": Rule(operatorRow: .open, merchant: .never, paymentService: .never, auditor: .never),
        "GET /v1/merchants": Rule(operatorRow: .open, merchant: .open, paymentService: .never, auditor: .open),
        "GET /v1/merchants/{id}": Rule(operatorRow: .all, merchant: .ownOnly, paymentService: .never, auditor: .all),
        "PATCH /v1/merchants/{id}": Rule(operatorRow: .all, merchant: .never, paymentService: .never, auditor: .never),
        "POST /v1/merchant-identifiers": Rule(operatorRow: .all, merchant: .ownOnly, paymentService: .never, auditor: .never),
        "GET /v1/merchant-identifiers": Rule(operatorRow: .open, merchant: .open, paymentService: .never, auditor: .open),
        "GET /v1/merchant-identifiers/{identifier}": Rule(operatorRow: .all, merchant: .ownOnly, paymentService: .never, auditor: .all),
        "PATCH /v1/merchant-identifiers/{identifier}": Rule(operatorRow: .all, merchant: .ownOnly, paymentService: .never, auditor: .never),
        "POST /v1/merchant-identifiers/{identifier}/certificates": Rule(operatorRow: .all, merchant: .ownOnly, paymentService: .never, auditor: .never),
        "POST /v1/merchant-identifiers/{identifier}/certificates/upload": Rule(
            operatorRow: .all, merchant: .ownOnly, paymentService: .never, auditor: .never),
        "GET /v1/certificates": Rule(operatorRow: .open, merchant: .open, paymentService: .never, auditor: .open),
        "GET /v1/certificates/{id}": Rule(operatorRow: .all, merchant: .ownOnly, paymentService: .never, auditor: .all),
        "PATCH /v1/certificates/{id}": Rule(operatorRow: .all, merchant: .ownOnly, paymentService: .never, auditor: .never),
        "GET /v1/certificates/{id}/certificate-signing-request": Rule(operatorRow: .all, merchant: .ownOnly, paymentService: .never, auditor: .all),
        "POST /v1/certificates/{id}/activate": Rule(operatorRow: .all, merchant: .ownOnly, paymentService: .never, auditor: .never),
        "POST /v1/certificates/{id}/cancel": Rule(operatorRow: .all, merchant: .ownOnly, paymentService: .never, auditor: .never),
        "POST /v1/certificates/{id}/retire": Rule(operatorRow: .all, merchant: .never, paymentService: .never, auditor: .never),
        "POST /v1/certificates/{id}/reinstate": Rule(operatorRow: .all, merchant: .never, paymentService: .never, auditor: .never),
        "POST /v1/certificates/{id}/compromised": Rule(operatorRow: .all, merchant: .never, paymentService: .never, auditor: .never),
        "POST /v1/certificates/{id}/destroy": Rule(operatorRow: .all, merchant: .never, paymentService: .never, auditor: .never),
        "POST /v1/decryptions": Rule(operatorRow: .never, merchant: .never, paymentService: .ownOnly, auditor: .never),
        "GET /v1/decryptions/{id}": Rule(operatorRow: .all, merchant: .ownOnly, paymentService: .ownOnly, auditor: .all),
        "POST /v1/credentials": Rule(operatorRow: .all, merchant: .never, paymentService: .never, auditor: .never),
        "GET /v1/credentials": Rule(operatorRow: .open, merchant: .never, paymentService: .never, auditor: .open),
        "GET /v1/credentials/{id}": Rule(operatorRow: .all, merchant: .never, paymentService: .never, auditor: .all),
        "DELETE /v1/credentials/{id}": Rule(operatorRow: .all, merchant: .never, paymentService: .never, auditor: .never),
        "POST /v1/credentials/{id}/rotate": Rule(operatorRow: .all, merchant: .never, paymentService: .never, auditor: .never),
        "GET /v1/audit-entries": Rule(operatorRow: .open, merchant: .open, paymentService: .never, auditor: .open),
        "GET /v1/audit-entries/verify": Rule(operatorRow: .never, merchant: .never, paymentService: .never, auditor: .open),
        "GET /v1/problems": Rule(operatorRow: .open, merchant: .open, paymentService: .open, auditor: .open),
        "POST /v1/sandbox/certificates": Rule(operatorRow: .all, merchant: .ownOnly, paymentService: .ownOnly, auditor: .never),
        "POST /v1/sandbox/payment-tokens": Rule(operatorRow: .all, merchant: .ownOnly, paymentService: .ownOnly, auditor: .never),
        "GET /healthz": Rule(operatorRow: .open, merchant: .open, paymentService: .open, auditor: .open),
        "GET /openapi.json": Rule(operatorRow: .open, merchant: .open, paymentService: .open, auditor: .open),
        "GET /readyz": Rule(operatorRow: .open, merchant: .open, paymentService: .open, auditor: .open),
        "GET /metrics": Rule(operatorRow: .open, merchant: .never, paymentService: .never, auditor: .open),
    ]

    /// Those that answer without a credential.
    static let openRoutes: Set<String> = ["GET /healthz", "GET /openapi.json", "GET /readyz"]

    /// What takes an object away comes last.
    static let routes = RouteTable.all.routes.map { "\($0.method.rawValue) \($0.path.text)" }.sorted { !$0.hasPrefix("DELETE") && $1.hasPrefix("DELETE") }

    @Test func `every route has a row, and no row is without a route`() {
        #expect(Set(Self.routes) == Set(Self.rules.keys))
        #expect(Self.routes.count == Set(Self.routes).count)
    }

    @Test(arguments: Role.allCases)
    func `each role is answered as the table says`(_ role: Role) async throws {
        let world = try await World()
        let caller = try world.caller(role)
        for name in Self.routes {
            let row = try #require(Self.rules[name], "a row for \(name)")[role]
            for (whose, verdict) in [(World.Whose.own, row.own), (.foreign, row.foreign), (.absent, row.absent)] {
                let (method, path, body) = world.request(name, whose)
                let answer = try await world.service.call(method, path, as: caller, body)
                let isRefused = answer.code == "credential.permission_missing"
                switch verdict {
                case .allowed:
                    #expect(answer.status != 404 && answer.status != 401 && answer.status != 403, "\(role) \(name) \(whose): \(answer.text)")
                case .forbidden: #expect(isRefused, "\(role) \(name) \(whose): \(answer.status) \(answer.text)")
                case .notFound:
                    #expect(answer.status == 404 || answer.code == "payment_token.key_unknown", "\(role) \(name) \(whose): \(answer.status) \(answer.text)")
                }
            }
        }
    }

    /// Foreign and absent ids answer alike, word for word.
    @Test func `foreign is like absent`() async throws {
        let world = try await World()
        for role in [Role.merchant, .paymentService] {
            let caller = try world.caller(role)
            for name in Self.routes where Self.rules[name]?[role].foreign == .notFound {
                let foreign = world.request(name, .foreign)
                let absent = world.request(name, .absent)
                let first = try await world.service.call(foreign.0, foreign.1, as: caller, foreign.2)
                let second = try await world.service.call(absent.0, absent.1, as: caller, absent.2)
                #expect(first.code == second.code, "\(role) \(name)")
                #expect(first["title"] == second["title"] && first["detail"] == second["detail"], "\(role) \(name)")
            }
        }
    }

    @Test(arguments: routes)
    func `a stranger is asked for a credential`(_ name: String) async throws {
        let world = try await World()
        let (method, path, body) = world.request(name, .own)
        let answer = try await world.service.call(method, path, body)
        if Self.openRoutes.contains(name) {
            #expect(answer.status == 200)
        } else {
            #expect(answer.status == 401)
            #expect(answer.code == "credential.missing")
            #expect(answer.header("WWW-Authenticate") == "Bearer realm=\"coster\"")
        }
    }

    @Test(arguments: Role.allCases)
    func `the other environment's objects are not there`(_ role: Role) async throws {
        let world = try await World()
        let caller = try world.caller(role, environment: .production)
        for name in Self.routes where Self.rules[name]?[role].own == .allowed && (name.contains("{id}") || name.contains("{identifier}")) {
            // A merchant belongs to no environment.
            guard !name.contains("/merchants/") else { continue }
            let (method, path, body) = world.request(name, .own)
            let answer = try await world.service.call(method, path, as: caller, body)
            #expect(answer.status == 404, "\(role) \(name): \(answer.status) \(answer.text)")
        }
    }
}

/// Two merchants with the same kinds of things, and ids that nobody has.
private struct World {
    enum Whose { case own, foreign, absent }

    struct Things {
        let merchant: String
        let identifier: String
        let certificate: String
        let credential: String
        let decryption: String
        let token: String
        let request: String
    }

    let service: TestService
    let own: Things
    let foreign: Things
    let absent: Things
    /// The payment service that opened the own merchant's token: only it may see that decryption.
    private let opener: String

    init() async throws {
        service = try TestService()
        let staff = try service.credential(.operator)
        let (own, opener) = try await World.things(service, staff, "merchant.com.example.own")
        self.own = own
        self.opener = opener
        foreign = try await World.things(service, staff, "merchant.com.example.foreign").0
        let zero = String(repeating: "0", count: 32)
        absent = Things(
            merchant: "mer_\(zero)", identifier: "merchant.com.example.absent", certificate: "cert_\(zero)", credential: "cred_\(zero)",
            decryption: "dec_\(zero)", token: foreign.token, request: own.request)
    }

    private static func things(_ service: TestService, _ staff: String, _ identifier: String) async throws -> (Things, String) {
        let shop = try await Shop(service, identifier: identifier, staff: staff)
        let certificate = try await shop.issuedCertificate()
        let opener = try service.credential(.paymentService, merchants: [shop.merchantID])
        let opened = try await service.call("POST", "/v1/decryptions", as: opener, .json(#"{"token":\#(try await shop.token())}"#))
        let credential = try await service.call(
            "POST", "/v1/credentials", as: staff, .json(#"{"role":"payment_service","merchants":["\#(shop.merchant)"]}"#))
        return (
            Things(
                merchant: shop.merchant, identifier: identifier, certificate: certificate, credential: try #require(credential["id"]),
                decryption: try #require(opened["id"]), token: try await shop.token(), request: try await shop.request(certificate)), opener
        )
    }

    func caller(_ role: Role, environment: Environment = .sandbox) throws -> String {
        switch role {
        case .operator, .auditor: return try service.credential(role, environment: environment)
        case .merchant: return try service.credential(role, merchants: [try #require(MerchantID(own.merchant))], environment: environment)
        case .paymentService:
            return environment == .sandbox
                ? opener : try service.credential(role, merchants: [try #require(MerchantID(own.merchant))], environment: environment)
        }
    }

    /// A request to the route on such an object: right in all but, perhaps, the state of the object.
    func request(_ name: String, _ whose: Whose) -> (method: String, path: String, body: TestService.Body) {
        let things =
            switch whose {
            case .own: own
            case .foreign: foreign
            case .absent: absent
            }
        let parts = name.split(separator: " ")
        let (method, pattern) = (String(parts[0]), String(parts[1]))
        let id =
            if pattern.contains("/merchants/") {
                things.merchant
            } else if pattern.contains("/certificates/") {
                things.certificate
            } else if pattern.contains("/credentials/") {
                things.credential
            } else {
                things.decryption
            }
        let path = pattern.replacing("{id}", with: id).replacing("{identifier}", with: things.identifier)
        return (method, path, body(name, things))
    }

    private func body(_ name: String, _ things: Things) -> TestService.Body {
        switch name {
        case "POST /v1/merchants", "PATCH /v1/merchants/{id}": .json(#"{"name":"Shop"}"#)
        case "POST /v1/merchant-identifiers":
            .json(#"{"identifier":"merchant.com.example.new\#(UInt32.random(in: 0...UInt32.max))","merchant":"\#(things.merchant)"}"#)
        case "PATCH /v1/merchant-identifiers/{identifier}", "PATCH /v1/certificates/{id}": .json(#"{"display_name":"New name"}"#)
        case "POST /v1/merchant-identifiers/{identifier}/certificates/upload": .raw(Array("not a certificate".utf8), type: nil)
        case "POST /v1/certificates/{id}/compromised": .json(#"{"reason":"lost"}"#)
        case "POST /v1/certificates/{id}/destroy": .json(#"{"public_key_hash":"AAAA"}"#)
        case "POST /v1/decryptions": .json(#"{"token":\#(things.token)}"#)
        case "POST /v1/credentials": .json(#"{"role":"payment_service","merchants":["\#(things.merchant)"]}"#)
        case "POST /v1/sandbox/certificates":
            .json(#"{"certificate_signing_request":\#(quoted(things.request)),"identifier":"\#(things.identifier)"}"#)
        case "POST /v1/sandbox/payment-tokens": .json(#"{"merchant_identifier":"\#(things.identifier)"}"#)
        default: name.hasPrefix("POST") && !name.hasSuffix("/certificates") ? .json("{}") : .none
        }
    }
}
