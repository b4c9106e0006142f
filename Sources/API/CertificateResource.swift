import Accounts
import ApplePay
import Encodings
import HTTPServer
import KeyStore
import Operations
import Problems

/// `/v1/certificates`, and the two calls that make them under a merchant identifier. No call gives out a private key.
enum CertificateResource {
    static let routes = [
        Route(
            .post, "/v1/merchant-identifiers/{identifier}/certificates", ManageCertificates.self, body: .json(draft), answer: .made(record),
            "Makes a key pair and its certificate signing request.", makes: true, rate: .certificateSigningRequests, create),
        Route(
            .post, "/v1/merchant-identifiers/{identifier}/certificates/upload", ManageCertificates.self,
            body: .upload(maximumBytes: UploadBody.maximumBytes),
            answer: .made(record, again: "A request was completed, or the same file had come before."),
            "Takes the issued certificate or a .p12, recognised by content.", makes: true, rate: .uploads, upload),
        Route(
            .get, "/v1/certificates", ReadCertificates.self,
            query: [
                QueryParameter("merchant_identifier", .text("The identifier itself, or the registration's id.")),
                QueryParameter("status", .oneOf(CertificateStatus.self)),
                QueryParameter("expiring_within", .integer("Days from now, those expired included.", 0...36_500)),
                QueryParameter("public_key_hash", .text("SHA-256 in base64, base64url or hexadecimal.")), .limit, .after("a certificate's id"),
            ], answer: .ok(.page(of: record), "A page."), "Lists certificates in the order of making.", list),
        Route(.get, "/v1/certificates/{id}", ReadCertificates.self, answer: .ok(record), "Shows a certificate.", show),
        Route(
            .patch, "/v1/certificates/{id}", ManageCertificates.self, body: .json(changes), answer: .ok(record), "Changes a certificate's display name.", rename
        ),
        Route(
            .get, "/v1/certificates/{id}/certificate-signing-request", ReadCertificates.self,
            answer: .other(types: [pem, der], summary: "The request (PKCS#10), as an attachment: PEM, or DER where Accept names it."),
            "Gives the certificate signing request to upload at Apple.", request),
        Route(
            .post, "/v1/certificates/{id}/activate", ManageCertificates.self, body: .json(nothing), answer: .ok(record),
            "Says that the certificate was activated at Apple; the former active one retires.", activate),
        Route(
            .post, "/v1/certificates/{id}/cancel", ManageCertificates.self, body: .json(nothing), answer: .ok(record),
            "Gives up a request; its key is kept 30 days, as the certificate may still arrive.", cancel),
        Route(
            .post, "/v1/certificates/{id}/retire", RetireCertificates.self, body: .json(nothing), answer: .ok(record),
            "Ends the retiring of a certificate whose key opened nothing within the grace period.", retire),
        Route(
            .post, "/v1/certificates/{id}/reinstate", RetireCertificates.self, body: .json(nothing), answer: .ok(record),
            "Makes a former certificate active again: the recorded activation was wrong.", reinstate),
        Route(
            .post, "/v1/certificates/{id}/compromised", RetireCertificates.self, body: .json(reason), answer: .ok(record),
            "Flags a key as leaked; it opens tokens until it is destroyed.", compromised),
        Route(
            .post, "/v1/certificates/{id}/destroy", RetireCertificates.self, body: .json(confirmation), answer: .ok(record),
            "Removes the private key for good.", destroy),
    ]

    private static let pem = "application/x-pem-file"
    private static let der = "application/pkcs10"

    // MARK: Schemas

    private static let nothing = Schema.object("Nothing", "No members; the body may be left out.", [])
    private static let draft = Schema.object(
        "CertificateDraft", nil,
        [
            .optional("display_name", .text("1 to 255 characters; the registration's when left out.")),
            .optional("key_algorithm", .oneOf(KeyAlgorithm.self, "`ec_p256` when left out; `rsa_2048` is for China mainland.")),
            .optional("replaces", .text("The id of the certificate that this one will replace.")),
        ])
    private static let changes = Schema.object("CertificateChanges", nil, [.required("display_name", .text("1 to 255 characters."))])
    private static let reason = Schema.object("CompromiseReport", nil, [.required("reason", .text("For the audit trail, 1 to 500 characters."))])
    private static let confirmation = Schema.object(
        "DestroyConfirmation", nil, [.required("public_key_hash", .text("The certificate's own, typed in: base64 or hexadecimal."))])
    private static let record = Schema.object(
        "Certificate", "One key pair and what belongs to it; it exists from the moment the key pair does. Never a private key.",
        [
            .required("id", .text("`cert_…`")), .required("merchant", .text("`mer_…`")), .required("registration", .text("`mid_…`")),
            .required("merchant_identifier", .text()), .required("environment", .oneOf(Environment.self)), .required("display_name", .text()),
            .required("status", .oneOf(CertificateStatus.self)),
            .required("flags", .list(of: .oneOf(["expired", "expiring", "compromised", "unproven", "key_made_elsewhere"]))),
            .required("source", .oneOf(KeySource.self)), .required("key_algorithm", .oneOf(KeyAlgorithm.self)),
            .required("public_key_hash", .text("SHA-256 of the SubjectPublicKeyInfo, as Apple writes it: standard base64, 44 characters.")),
            .required("serial_number", .text("Hexadecimal.").orNull), .required("subject", .text().orNull), .required("issuer", .text().orNull),
            .required("fingerprint_sha256", .text("Of the certificate, hexadecimal.").orNull), .required("not_before", .time().orNull),
            .required("expires_at", .time().orNull), .required("days_remaining", .integer("Whole days; negative once it has ended.").orNull),
            .required("replaces", .text("`cert_…`").orNull), .required("replaced_by", .text("`cert_…`").orNull),
            .required("first_used_at", .time("When a token was opened with it first.").orNull), .required("last_used_at", .time().orNull),
            .required("use_count", .integer()), .required("warnings", .list(of: Warning.schema)), .required("created_at", .time()),
            .required("updated_at", .time()),
        ])

    // MARK: Making and reading

    private static func create(_ exchange: Exchange, _ grant: Grant<ManageCertificates>) async throws(Problem) -> HTTPResponse {
        let object = try exchange.object()
        let made = try await exchange.operations.createCertificate(
            for: exchange.reference, displayName: object.text("display_name"),
            algorithm: try object.value("key_algorithm", as: KeyAlgorithm.self) ?? .ecP256, replaces: try object.certificate("replaces"), under: grant,
            try exchange.call())
        return .made(made) { write($0, &$1) }
    }

    private static func upload(_ exchange: Exchange, _ grant: Grant<ManageCertificates>) async throws(Problem) -> HTTPResponse {
        let upload = try UploadBody.read(exchange.request)
        let call = try exchange.call(upload.content)
        return .made(try await exchange.operations.upload(upload, to: exchange.reference, under: grant, call)) { write($0, &$1) }
    }

    private static func list(_ exchange: Exchange, _ grant: Grant<ReadCertificates>) throws(Problem) -> HTTPResponse {
        let query = try exchange.query()
        let wanted = CertificateQuery(
            merchantIdentifier: query.text("merchant_identifier"), status: try query.value("status", as: CertificateStatus.self),
            publicKeyHash: try query.digest("public_key_hash"), expiringWithinDays: try query.integer("expiring_within", in: 0...36_500),
            after: try query.id("after"), limit: try query.limit())
        return .page(try exchange.operations.certificates(wanted, under: grant)) { write($0, &$1) }
    }

    private static func show(_ exchange: Exchange, _ grant: Grant<ReadCertificates>) throws(Problem) -> HTTPResponse {
        .record(try exchange.operations.certificate(try id(exchange), under: grant)) { write($0, &$1) }
    }

    private static func rename(_ exchange: Exchange, _ grant: Grant<ManageCertificates>) async throws(Problem) -> HTTPResponse {
        let name = try exchange.object().demandedText("display_name")
        return .record(try await exchange.operations.rename(try id(exchange), to: name, under: grant, try exchange.call())) { write($0, &$1) }
    }

    private static func request(_ exchange: Exchange, _ grant: Grant<ReadCertificates>) throws(Problem) -> HTTPResponse {
        let request = try exchange.operations.certificateSigningRequest(try id(exchange), under: grant)
        let isDER = exchange.request.head.prefers(der, to: pem)
        // An identifier has no character that a quoted string would have to escape.
        return HTTPResponse(
            status: 200,
            headers: [
                ("Content-Type", isDER ? der : pem), ("Content-Disposition", "attachment; filename=\"\(request.identifier.text).certSigningRequest\""),
                ("Vary", "Accept"), ("Cache-Control", "no-store"), HTTPResponse.noSniff,
            ], body: isDER ? request.der : Array(request.pem.utf8))
    }

    // MARK: The steps of the state machine

    private static func activate(_ exchange: Exchange, _ grant: Grant<ManageCertificates>) async throws(Problem) -> HTTPResponse {
        _ = try exchange.object()
        return .record(try await exchange.operations.activate(try id(exchange), under: grant, try exchange.call())) { write($0, &$1) }
    }

    private static func cancel(_ exchange: Exchange, _ grant: Grant<ManageCertificates>) async throws(Problem) -> HTTPResponse {
        _ = try exchange.object()
        return .record(try await exchange.operations.cancel(try id(exchange), under: grant, try exchange.call())) { write($0, &$1) }
    }

    private static func retire(_ exchange: Exchange, _ grant: Grant<RetireCertificates>) async throws(Problem) -> HTTPResponse {
        _ = try exchange.object()
        return .record(try await exchange.operations.retire(try id(exchange), under: grant, try exchange.call())) { write($0, &$1) }
    }

    private static func reinstate(_ exchange: Exchange, _ grant: Grant<RetireCertificates>) async throws(Problem) -> HTTPResponse {
        _ = try exchange.object()
        return .record(try await exchange.operations.reinstate(try id(exchange), under: grant, try exchange.call())) { write($0, &$1) }
    }

    private static func compromised(_ exchange: Exchange, _ grant: Grant<RetireCertificates>) async throws(Problem) -> HTTPResponse {
        let reason = try exchange.object().demandedText("reason")
        return .record(try await exchange.operations.markCompromised(try id(exchange), reason: reason, under: grant, try exchange.call())) { write($0, &$1) }
    }

    private static func destroy(_ exchange: Exchange, _ grant: Grant<RetireCertificates>) async throws(Problem) -> HTTPResponse {
        let hash = try exchange.object().demandedText("public_key_hash")
        return .record(try await exchange.operations.destroy(try id(exchange), publicKeyHash: hash, under: grant, try exchange.call())) { write($0, &$1) }
    }

    private static func id(_ exchange: Exchange) throws(Problem) -> CertificateID {
        try exchange.id(CertificateID.self, or: Problem(KeyStoreProblem.certificateUnknown))
    }

    private static func write(_ view: CertificateView, _ object: inout JSONWriter) {
        let record = view.record
        object.member("id", record.id.text)
        object.member("merchant", record.merchant.text)
        object.member("registration", record.registration.text)
        object.member("merchant_identifier", record.merchantIdentifier.text)
        object.member("environment", record.environment.rawValue)
        object.member("display_name", record.displayName)
        object.member("status", record.status.rawValue)
        object.member("flags", view.flags)
        object.member("source", record.source.rawValue)
        object.member("key_algorithm", record.keyAlgorithm.rawValue)
        object.member("public_key_hash", record.publicKeyHash.base64)
        object.member("serial_number", view.serialNumber)
        object.member("subject", view.subject)
        object.member("issuer", view.issuer)
        object.member("fingerprint_sha256", view.fingerprint?.hex)
        object.member("not_before", view.notBefore)
        object.member("expires_at", view.expiresAt)
        object.member("days_remaining", view.daysRemaining)
        object.member("replaces", record.replaces?.text)
        object.member("replaced_by", record.replacedBy?.text)
        object.member("first_used_at", record.usage?.firstUsedAt)
        object.member("last_used_at", record.usage?.lastUsedAt)
        object.member("use_count", record.usage?.count ?? 0)
        object.member("warnings", view.warnings)
        object.member("created_at", record.createdAt)
        object.member("updated_at", record.updatedAt)
    }
}

extension RequestObject {
    /// A member that names a certificate; one that can't be an id is as unknown as one that nobody has.
    func certificate(_ name: String) throws(Problem) -> CertificateID? {
        guard let text = text(name) else { return nil }
        guard let id = CertificateID(text) else { throw Problem(KeyStoreProblem.certificateUnknown) }
        return id
    }
}
