import Accounts
import ApplePay
import Encodings
import HTTPServer
import Operations
import Problems

/// `/v1/credentials`: who may call. A secret is shown once, in the answer that made it.
enum CredentialResource {
    static let routes = [
        Route(
            .post, "/v1/credentials", ManageCredentials.self, body: .json(draft),
            answer: .made(fresh, again: "The same call had made it already; the secret is not shown again."), "Makes a credential.", makes: true, create),
        Route(
            .get, "/v1/credentials", ReadCredentials.self, query: [.limit, .after("a credential's id")], answer: .ok(.page(of: record), "A page."),
            "Lists credentials of the caller's environment in the order of making.", list),
        Route(.get, "/v1/credentials/{id}", ReadCredentials.self, answer: .ok(record), "Shows a credential.", show),
        Route(
            .delete, "/v1/credentials/{id}", ManageCredentials.self, answer: .ok(record), "Revokes a credential; it ends with the next request.", revoke),
        Route(
            .post, "/v1/credentials/{id}/rotate", ManageCredentials.self, body: .json(rotation),
            answer: .made(fresh, again: "The same call had rotated it already; the secret is not shown again."),
            "Gives a new secret under the same api_key.", makes: true, rotate),
    ]

    private static let record = Schema.object(
        "Credential", "An API credential; never its secret.",
        [
            .required("id", .text("`cred_…`")), .required("api_key", .text("The public half.")), .required("role", .oneOf(Role.self)),
            .required("name", .text()), .required("environment", .oneOf(Environment.self)),
            .required("merchants", .list(of: .text(), "Null: every merchant's registrations in the environment.").orNull),
            .required("client_certificate_spki_sha256", .text("Hexadecimal.").orNull), .required("created_at", .time()), .required("expires_at", .time()),
            .required("revoked_at", .time().orNull),
            .required("former_secret_ends_at", .time("When the secret before the last rotation ends.").orNull),
        ])
    private static let fresh = record.extended(
        "FreshCredential", "A credential, with its secret where it has just been made.",
        [
            .optional("api_secret", .text("Shown this once.")),
            .optional("credential", .text("`api_key` + `.` + `api_secret`, for the Authorization header; shown this once.")),
        ])
    private static let draft = Schema.object(
        "CredentialDraft", nil,
        [
            .required("role", .oneOf(Role.self, "`merchant` or `payment_service`; the other roles are made on the server by command.")),
            .optional("name", .text("1 to 200 characters; the role when left out.")),
            .optional(
                "merchants", .list(of: .text(), "Ids; left out or null: every merchant's registrations in the environment. The role `merchant` needs it.")),
            .optional("environment", .oneOf(Environment.self, "The caller's own when left out; no other is allowed.")),
            .optional("expires_at", .time("In one year when left out.")),
            .optional(
                "client_certificate_spki_sha256",
                .text("SHA-256 of the SubjectPublicKeyInfo of the TLS client certificate that must come with it; base64 or hexadecimal.")),
        ])
    private static let rotation = Schema.object(
        "Rotation", nil,
        [.optional("overlap_seconds", .integer("How long the former secret lives on; 86,400 when left out, 0 for a leak."))])

    private static func create(_ exchange: Exchange, _ grant: Grant<ManageCredentials>) async throws(Problem) -> HTTPResponse {
        let object = try exchange.object()
        guard let role = try object.value("role", as: Role.self) else { throw .memberMissing("role", at: JSONPointer()) }
        var merchants: [MerchantID]?
        if let texts = object.texts("merchants") {
            var ids: [MerchantID] = []
            for text in texts {
                guard let id = MerchantID(text) else { throw Problem(MerchantProblem.unknown) }
                ids.append(id)
            }
            merchants = ids
        }
        let draft = CredentialDraft(
            role: role, name: object.text("name") ?? role.rawValue, merchants: merchants, environment: try object.value("environment", as: Environment.self),
            expiresAt: try object.time("expires_at"), clientCertificateSPKI: try object.digest("client_certificate_spki_sha256"))
        return .made(try await exchange.operations.createCredential(draft, under: grant, try exchange.call())) { write($0, &$1) }
    }

    private static func list(_ exchange: Exchange, _ grant: Grant<ReadCredentials>) throws(Problem) -> HTTPResponse {
        let query = try exchange.query()
        return .page(try exchange.operations.credentials(after: try query.id("after"), limit: try query.limit(), under: grant)) { write($0, &$1) }
    }

    private static func show(_ exchange: Exchange, _ grant: Grant<ReadCredentials>) throws(Problem) -> HTTPResponse {
        .record(try exchange.operations.credential(try id(exchange), under: grant)) { write($0, &$1) }
    }

    private static func revoke(_ exchange: Exchange, _ grant: Grant<ManageCredentials>) async throws(Problem) -> HTTPResponse {
        .record(try await exchange.operations.revokeCredential(try id(exchange), under: grant, try exchange.call())) { write($0, &$1) }
    }

    private static func rotate(_ exchange: Exchange, _ grant: Grant<ManageCredentials>) async throws(Problem) -> HTTPResponse {
        let overlap = try exchange.object().integer("overlap_seconds") ?? 86_400
        let made = try await exchange.operations.rotateCredential(try id(exchange), overlapSeconds: overlap, under: grant, try exchange.call())
        return .made(made) { write($0, &$1) }
    }

    private static func id(_ exchange: Exchange) throws(Problem) -> CredentialID {
        try exchange.id(CredentialID.self, or: .credential(.unknown))
    }

    private static func write(_ credential: Credential, _ object: inout JSONWriter) {
        object.member("id", credential.id.text)
        object.member("api_key", credential.apiKey)
        object.member("role", credential.role.rawValue)
        object.member("name", credential.name)
        object.member("environment", credential.environment.rawValue)
        if let merchants = credential.merchants {
            object.member("merchants", merchants.map(\.text))
        } else {
            object.member("merchants", nil as String?)
        }
        object.member("client_certificate_spki_sha256", credential.clientCertificateSPKI?.hex)
        object.member("created_at", credential.createdAt)
        object.member("expires_at", credential.expiresAt)
        object.member("revoked_at", credential.revokedAt)
        object.member("former_secret_ends_at", credential.formerSecretEndsAt)
    }

    private static func write(_ made: CredentialSecret, _ object: inout JSONWriter) {
        write(made.credential, &object)
        guard let secret = made.secret else { return }
        object.member("api_secret", secret)
        object.member("credential", "\(made.credential.apiKey).\(secret)")
    }
}
