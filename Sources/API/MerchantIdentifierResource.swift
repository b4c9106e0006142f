import Accounts
import ApplePay
import Encodings
import HTTPServer
import KeyStore
import Operations
import Problems

/// `/v1/merchant-identifiers`: registrations of Apple merchant identifiers.
enum MerchantIdentifierResource {
    static let routes = [
        Route(
            .post, "/v1/merchant-identifiers", ManageRegistrations.self, body: .json(draft), answer: .made(record), "Registers an Apple merchant identifier.",
            makes: true, create),
        Route(
            .get, "/v1/merchant-identifiers", ReadRegistrations.self,
            query: [QueryParameter("merchant", .text("A merchant's id: its registrations only.")), .limit, .after("a registration's id")],
            answer: .ok(.page(of: record), "A page."), "Lists registrations of the credential's environment in the order of making.", list),
        Route(.get, "/v1/merchant-identifiers/{identifier}", ReadRegistrations.self, answer: .ok(record), "Shows a registration.", show),
        Route(
            .patch, "/v1/merchant-identifiers/{identifier}", ManageRegistrations.self, body: .json(changes), answer: .ok(record),
            "Changes a registration; the two policies are for operators only.", change),
    ]

    private static let age = Schema.integer(
        "How old a token may be, and how far in the future; 300 when never set. Null: no limit, in the sandbox only.", 1...86_400
    ).orNull
    private static let policy = Schema.oneOf(ReplayPolicy.self, "What happens when a token is opened a second time.")
    private static let policyMembers: [Schema.Member] = [
        .optional("display_name", .text("1 to 255 characters.")), .optional("replay_policy", policy), .optional("max_token_age_seconds", age),
    ]
    private static let unknownHash = Schema.object(
        "UnknownPublicKeyHash", "A publicKeyHash that came in tokens and that no key held answers to. It is unsigned: anyone can write one.",
        [
            .required("public_key_hash", .text("Standard base64.")), .required("count", .integer()), .required("first_seen_at", .time()),
            .required("last_seen_at", .time()),
        ])
    private static let record = Schema.object(
        "MerchantIdentifier", "One merchant, environment and Apple merchant identifier.",
        [
            .required("id", .text("`mid_…`")), .required("identifier", .text("As registered at Apple, case included.")),
            .required("merchant", .text("`mer_…`")),
            .required("environment", .oneOf(Environment.self)), .required("display_name", .text()), .required("replay_policy", policy),
            .required("max_token_age_seconds", age), .required("flags", .list(of: .oneOf(["unproven"]))),
            .required("unknown_public_key_hashes", .list(of: unknownHash)), .required("warnings", .list(of: Warning.schema)),
            .required("created_at", .time()), .required("updated_at", .time()),
        ])
    private static let draft = Schema.object(
        "MerchantIdentifierDraft", nil,
        [
            .required("identifier", .text("As registered at Apple, case included.")), .required("merchant", .text("`mer_…`")),
            .optional("environment", .oneOf(Environment.self, "The credential's own when left out; no other is allowed.")),
        ] + policyMembers)
    private static let changes = Schema.object("MerchantIdentifierChanges", "What is left out stays.", policyMembers)

    private static func create(_ exchange: Exchange, _ grant: Grant<ManageRegistrations>) async throws(Problem) -> HTTPResponse {
        let object = try exchange.object()
        let draft = RegistrationDraft(
            identifier: try object.demandedText("identifier"), merchant: try object.merchant("merchant"),
            environment: try object.value("environment", as: Environment.self) ?? grant.environment, displayName: object.text("display_name"),
            policies: try policies(object))
        return .made(try await exchange.operations.createRegistration(draft, under: grant, try exchange.call())) { write($0, &$1) }
    }

    private static func list(_ exchange: Exchange, _ grant: Grant<ReadRegistrations>) throws(Problem) -> HTTPResponse {
        let query = try exchange.query()
        let page = try exchange.operations.registrations(
            merchant: try query.id("merchant"), after: try query.id("after"), limit: try query.limit(), under: grant)
        return .page(page) { write($0, &$1) }
    }

    private static func show(_ exchange: Exchange, _ grant: Grant<ReadRegistrations>) throws(Problem) -> HTTPResponse {
        .record(try exchange.operations.registration(exchange.reference, under: grant)) { write($0, &$1) }
    }

    private static func change(_ exchange: Exchange, _ grant: Grant<ManageRegistrations>) async throws(Problem) -> HTTPResponse {
        let object = try exchange.object()
        let view = try await exchange.operations.changeRegistration(
            exchange.reference, displayName: object.text("display_name"), policies: try policies(object), under: grant, try exchange.call())
        return .record(view) { write($0, &$1) }
    }

    private static func policies(_ object: RequestObject) throws(Problem) -> TokenPolicies {
        // Null is a value of its own here: no limit.
        let age: Int?? = object.mentions("max_token_age_seconds") ? .some(object.integer("max_token_age_seconds")) : .none
        return TokenPolicies(replayPolicy: try object.value("replay_policy", as: ReplayPolicy.self), maximumTokenAgeSeconds: age)
    }

    private static func write(_ view: RegistrationView, _ object: inout JSONWriter) {
        let registration = view.registration
        object.member("id", registration.id.text)
        object.member("identifier", registration.identifier.text)
        object.member("merchant", registration.merchant.text)
        object.member("environment", registration.environment.rawValue)
        object.member("display_name", registration.displayName)
        object.member("replay_policy", registration.replayPolicy.rawValue)
        object.member("max_token_age_seconds", registration.maximumTokenAgeSeconds)
        object.member("flags", view.flags)
        object.member("unknown_public_key_hashes") {
            $0.array { list in
                for unknown in view.unknownPublicKeyHashes {
                    list.object { object in
                        object.member("public_key_hash", unknown.publicKeyHash.base64)
                        object.member("count", unknown.count)
                        object.member("first_seen_at", unknown.firstSeenAt)
                        object.member("last_seen_at", unknown.lastSeenAt)
                    }
                }
            }
        }
        object.member("warnings", view.warnings)
        object.member("created_at", registration.createdAt)
        object.member("updated_at", registration.updatedAt)
    }
}
