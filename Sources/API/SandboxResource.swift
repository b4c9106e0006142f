import Accounts
import ApplePay
import Cryptography
import Encodings
import HTTPServer
import Operations
import Problems
import Sandbox

/// `/v1/sandbox`: plays Apple, for credentials of the sandbox alone.
enum SandboxResource {
    static let routes = [
        Route(
            .post, "/v1/sandbox/certificates", UseSandbox.self, body: .json(certificateOrder), answer: .ok(certificate, "The certificate."),
            "Plays Apple's portal: issues a payment processing certificate for a certificate signing request.", makeCertificate),
        Route(
            .post, "/v1/sandbox/payment-tokens", UseSandbox.self, body: .json(tokenOrder, maximumBytes: 131_072), answer: .ok(token, "The token."),
            "Plays a device: mints a payment token, good or with defects.", makeToken),
    ]

    private static let certificateOrder = Schema.object(
        "SandboxCertificateRequest", nil,
        [
            .required("certificate_signing_request", .text("PEM, or base64 of DER.")),
            .required("identifier", .text("The merchant identifier the certificate is for; one that the caller may use.")),
        ])
    private static let certificate = Schema.object("SandboxCertificate", nil, [.required("certificate", .text("PEM."))])
    private static let tokenOrder = Schema.object(
        "SandboxPaymentTokenRequest", nil,
        [
            .required("merchant_identifier", .text("The identifier itself, or the registration's id.")),
            .optional("certificate", .text("The certificate to encrypt to; left out: the active one of the algorithm, else the newest staged.")),
            .optional("version", .oneOf(KeyAlgorithm.allCases.map(\.tokenVersion))),
            .optional(
                "payload",
                .either(
                    .oneOf(TestPayload.Preset.self), .anything("An object: encrypted as it is written here."),
                    summary: "What stands inside: the name of a shape, `3ds` when left out, or the whole content.")),
            .optional("amount", .text("Decimal: `12.50`; `19.99` when left out.")),
            .optional("currency", .text("Three letters of ISO 4217; `USD` when left out.")),
            .optional("application_data", .text("The payment request's applicationData, base64 of the raw bytes.", format: "byte")),
            .optional(
                "defects",
                .list(
                    of: .oneOf(Defect.self),
                    "What is wrong, or merely unusual, about the token. " + Defect.allCases.map { "`\($0.rawValue)`: \($0.summary)" }.joined(separator: " "))),
        ])
    private static let token = Schema.object("SandboxPaymentToken", nil, [.required("token", .anything("The whole PKPaymentToken."))])

    private static func makeCertificate(_ exchange: Exchange, _ grant: Grant<UseSandbox>) async throws(Problem) -> HTTPResponse {
        let object = try exchange.object()
        let request = try CertificationRequest(parsing: Array(try object.demandedText("certificate_signing_request").utf8))
        let identifier = try MerchantIdentifier.reading(try object.demandedText("identifier")).identifier
        try requireRegistered(identifier, exchange, grant)
        let certificate = try exchange.sandbox.issue(forRequest: request.der, merchantIdentifier: identifier, now: exchange.service.clock())
        try await exchange.operations.noteSandboxUse("sandbox.certificate", under: grant, try exchange.call())
        return .json(JSONWriter.object { $0.member("certificate", PEM.encode(certificate.der, label: "CERTIFICATE")) })
    }

    private static func makeToken(_ exchange: Exchange, _ grant: Grant<UseSandbox>) async throws(Problem) -> HTTPResponse {
        let object = try exchange.object()
        let algorithm = object.text("version").flatMap { version in KeyAlgorithm.allCases.first { $0.tokenVersion == version } }
        let target = try exchange.operations.mintingTarget(
            merchantIdentifier: try object.demandedText("merchant_identifier"), certificate: try object.certificate("certificate"), algorithm: algorithm,
            under: grant)
        let currency = try currency(object)
        let order = MintOrder(
            recipient: target.spki, merchantIdentifier: target.merchantIdentifier, algorithm: algorithm, payload: try payload(object),
            amount: try amount(object, currency), currency: currency.numeric, applicationData: try object.base64("application_data"),
            now: exchange.service.clock(), defects: Set((object.texts("defects") ?? []).compactMap { Defect(rawValue: $0) }))
        let token = try exchange.sandbox.mint(order)
        try await exchange.operations.noteSandboxUse("sandbox.payment_token", under: grant, try exchange.call())
        return .json(JSONWriter.object { $0.member("token", raw: token) })
    }

    private static func payload(_ object: RequestObject) throws(Problem) -> TestPayload {
        guard let value = object.given("payload") else { return .preset(.threeDSecure) }
        if value.kind == .object { return .verbatim(Array(value.source)) }
        guard let preset = value.string.flatMap({ TestPayload.Preset(rawValue: $0) }) else {
            throw .memberInvalid(
                "payload", "is neither an object nor the name of a shape",
                context: [("allowed", .list(TestPayload.Preset.allCases.map { .text($0.rawValue) }))])
        }
        return .preset(preset)
    }

    private static func currency(_ object: RequestObject) throws(Problem) -> Currency {
        guard let currency = Currency(code: object.text("currency") ?? "USD") else {
            throw .memberInvalid("currency", "is not a currency of ISO 4217, in three letters")
        }
        return currency
    }

    /// In the currency's minor unit.
    private static func amount(_ object: RequestObject, _ currency: Currency) throws(Problem) -> Int {
        guard let text = object.text("amount") else { return 1999 }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let decimals = parts.count > 1 ? parts[1] : ""
        let isDecimal = parts.count <= 2 && parts.allSatisfy { part in !part.isEmpty && part.utf8.allSatisfy { (0x30...0x39).contains($0) } }
        guard isDecimal, decimals.utf8.count <= currency.exponent,
            let minor = Int(parts[0] + decimals + String(repeating: "0", count: currency.exponent - decimals.utf8.count))
        else { throw .memberInvalid("amount", "is not a decimal number with at most \(currency.exponent) decimals") }
        return minor
    }

    /// Looking for a key to mint for begins with finding the registration; that there is no key yet is no matter here.
    private static func requireRegistered(_ identifier: MerchantIdentifier, _ exchange: Exchange, _ grant: Grant<UseSandbox>) throws(Problem) {
        do throws(Problem) {
            _ = try exchange.operations.mintingTarget(merchantIdentifier: identifier.text, certificate: nil, algorithm: nil, under: grant)
        } catch {
            guard error == Problem(OperationsProblem.noCertificateToMintFor) else { throw error }
        }
    }
}
