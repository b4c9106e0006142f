import Accounts
import ApplePay
import AuditTrail
import Encodings
import HTTPServer
import KeyStore
import Operations
import Problems
import Secrets

/// `/v1/decryptions`: opening payment tokens, and who opened what.
enum DecryptionResource {
    static let routes = [
        Route(
            .post, "/v1/decryptions", DecryptTokens.self, lane: .payments, body: .json(order, maximumBytes: 1_048_576),
            answer: .ok(decryption, "The content of the token."), "Opens a payment token.", makes: true, rate: .decryptions, create),
        Route(
            .get, "/v1/decryptions/{id}", ReadDecryptions.self, answer: .ok(record), "Says who opened a token, when, with which key, and what came of it.",
            show),
    ]

    // MARK: Schemas

    private static let order = Schema.object(
        "DecryptionRequest", nil,
        [
            .required(
                "token",
                .anything(
                    "The whole PKPaymentToken or its paymentData alone, each as an object, as JSON text, or as base64 of either. Members that Apple does not "
                        + "define are ignored at every level.")),
            .optional("merchant_identifier", .text("The identifier itself or the registration's id; left out, the publicKeyHash decides.")),
            .optional(
                "expected",
                .object(
                    "Expectation", "Compared inside; a token that differs is refused.",
                    [
                        .optional("amount", .text("Decimal: `12.50`.")), .optional("currency", .text("Three letters of ISO 4217.")),
                        .optional("application_data", .text("The payment request's applicationData, base64 of the raw bytes.", format: "byte")),
                        .optional("payment_data_type", .text("`3DSecure` or `EMV`.")),
                    ])),
            .optional("reference", .text("Your own text, kept in the audit trail. No account data.", maximum: 128)),
        ])
    private static let networkToken = Schema.object(
        "NetworkToken", "What stands for the card. Members that the content does not have are absent.",
        [
            .optional("number", .text("The account number as it came.")), .optional("expiry_month", .integer(nil, 1...12)),
            .optional("expiry_year", .integer()),
            .optional("cryptogram", .text("Base64.")), .optional("eci", .text("Two digits.")), .optional("eci_raw", .text("As it came.")),
            .optional("bin", .text("The first six digits.")), .optional("last4", .text()),
            .optional("network", .oneOf(CardNetwork.self, "From the number, not from what the device says.")),
            .required("type", .oneOf(["dpan", "mpan"], "A device account number, or a merchant token's.")),
        ])
    private static let transaction = Schema.object(
        "Transaction", "What the customer agreed to pay.",
        [
            .optional("amount", .text("Decimal: `1.00`.")), .optional("amount_minor", .text("In the minor unit: `100`.")),
            .optional("currency", .text("Three letters.")), .optional("currency_numeric", .text("Three digits, as they came.")),
            .optional("currency_exponent", .integer("Decimals of the currency.")),
        ])
    private static let unsigned = Schema.object(
        "UnsignedMembers", "What Apple neither signs nor encrypts: to be shown, not to decide by.",
        [
            .optional("network", .text()), .optional("display_name", .text()), .optional("type", .text()), .optional("transaction_identifier", .text()),
        ])
    private static let decryption = Schema.object(
        "Decryption", nil,
        [
            .required("id", .text("`dec_…`")), .required("registration", .text("`mid_…`")), .required("merchant_identifier", .text()),
            .required("environment", .oneOf(Environment.self)), .required("certificate", .text("`cert_…`")),
            .required("certificate_status", .text("The status of the certificate whose key opened the token.")), .required("public_key_hash", .text()),
            .required("version", .oneOf(KeyAlgorithm.allCases.map(\.tokenVersion))), .required("transaction_id", .text("Hexadecimal.")),
            .required("signed_at", .time()), .required("decrypted_at", .time()), .required("replayed", .flag()),
            .required("warnings", .list(of: Warning.schema)),
            .required("network_token", networkToken), .required("transaction", transaction),
            .optional("application_data", .text("Hexadecimal: SHA-256 of the payment request's applicationData.")), .required("unsigned", unsigned),
            .required("payment_data", .anything("Apple's own bytes, untouched: order, number text and unknown members survive.")),
        ])
    private static let record = Schema.object(
        "DecryptionRecord", "The audit entry of a decryption; never content.",
        [
            .required("id", .text("`dec_…`")), .required("at", .time()), .required("caller", .text("`cred_…`")),
            .required("outcome", .text("`success`, or the code of the problem answered.")), .required("environment", .oneOf(Environment.self)),
            .required("merchant", .text("`mer_…`").orNull), .required("registration", .text("`mid_…`").orNull),
            .required("certificate", .text("`cert_…`").orNull), .required("public_key_hash", .text().orNull), .required("replayed", .flag()),
            .required("reference", .text().orNull), .required("request_id", .text().orNull),
        ])

    // MARK: Handlers

    private static func create(_ exchange: Exchange, _ grant: Grant<DecryptTokens>) async throws(Problem) -> HTTPResponse {
        let object = try exchange.object()
        guard let token = object.value.member("token") else { throw .memberMissing("token", at: JSONPointer()) }
        let order = DecryptionOrder(
            token: token, merchantIdentifier: object.text("merchant_identifier"), expected: try expectation(object.given("expected")),
            reference: object.text("reference"))
        return answer(try await exchange.operations.decrypt(order, under: grant, try exchange.call()))
    }

    private static func expectation(_ value: JSONValue?) throws(Problem) -> Expectation? {
        guard let value else { return nil }
        let object = RequestObject(checked: value)
        let pointer = JSONPointer().adding("expected")
        let amount = object.text("amount")
        if let amount, !Expectation.isAmount(amount) {
            throw .memberInvalid("amount", at: pointer.adding("amount"), "is not a decimal number such as 12.50")
        }
        var applicationData: [UInt8]?
        if let text = object.given("application_data")?.stringSlice {
            guard let bytes = Base64.decode(text) else { throw .memberInvalid("application_data", at: pointer.adding("application_data"), "is not base64") }
            applicationData = bytes
        }
        return Expectation(
            amount: amount, currency: object.text("currency"), applicationData: applicationData, paymentDataType: object.text("payment_data_type"))
    }

    private static func show(_ exchange: Exchange, _ grant: Grant<ReadDecryptions>) throws(Problem) -> HTTPResponse {
        let id = try exchange.id(DecryptionID.self, or: Problem(OperationsProblem.decryptionUnknown))
        let entry = try exchange.operations.decryption(id, under: grant)
        return .json(
            JSONWriter.object { object in
                let content = entry.content
                object.member("id", entry.decryptionID.text)
                object.member("at", content.at)
                object.member("caller", content.actor.id)
                object.member("outcome", content.outcome)
                object.member("environment", content.environment)
                object.member("merchant", content.merchant?.text)
                object.member("registration", content.registration?.text)
                object.member("certificate", content.certificate?.text)
                object.member("public_key_hash", content.publicKeyHash?.base64)
                object.member("replayed", content.replayed)
                object.member("reference", content.reference)
                object.member("request_id", content.requestID)
            })
    }

    // MARK: The answer

    /// One buffer, large enough from the start: account data lies in it until the answer is sent, and a buffer that grows would leave copies.
    private static func answer(_ decryption: Decryption) -> HTTPResponse {
        // Exposed: spliced into the answer, freed with this call.
        let content = decryption.paymentData.plaintext.copyExposed()
        var writer = JSONWriter(reserving: content.count + 2048 + decryption.warnings.count * 256)
        writer.object { object in
            object.member("id", decryption.id.text)
            object.member("registration", decryption.registration.text)
            object.member("merchant_identifier", decryption.merchantIdentifier.text)
            object.member("environment", decryption.environment.rawValue)
            object.member("certificate", decryption.certificate.text)
            object.member("certificate_status", decryption.certificateStatus.rawValue)
            object.member("public_key_hash", decryption.token.publicKeyHash.base64)
            object.member("version", decryption.token.version.name)
            object.member("transaction_id", Hex.encode(decryption.token.transactionId))
            object.member("signed_at", decryption.signedAt)
            object.member("decrypted_at", decryption.decryptedAt)
            object.member("replayed", decryption.replayed)
            object.member("warnings", decryption.warnings)
            object.member("network_token") { $0.object { write(decryption.paymentData.networkToken, &$0) } }
            object.member("transaction") { $0.object { write(decryption.paymentData.transaction, &$0) } }
            object.given("application_data", decryption.token.applicationData.map { Hex.encode($0) })
            object.member("unsigned") { $0.object { write(decryption.token.unsigned, &$0) } }
            object.member("payment_data", raw: content)
        }
        return .json(writer.bytes)
    }

    private static func write(_ token: PaymentData.NetworkToken, _ object: inout JSONWriter) {
        object.given("number", token.number)
        object.given("expiry_month", token.expiryMonth)
        object.given("expiry_year", token.expiryYear)
        object.given("cryptogram", token.cryptogram)
        object.given("eci", token.eci)
        object.given("eci_raw", token.eciRaw)
        object.given("bin", token.bin)
        object.given("last4", token.last4)
        object.given("network", token.network?.rawValue)
        object.member("type", token.kind.rawValue)
    }

    private static func write(_ transaction: PaymentData.Transaction, _ object: inout JSONWriter) {
        object.given("amount", transaction.amount)
        object.given("amount_minor", transaction.amountMinor)
        object.given("currency", transaction.currency)
        object.given("currency_numeric", transaction.currencyNumeric)
        object.given("currency_exponent", transaction.currencyExponent)
    }

    private static func write(_ unsigned: PaymentToken.UnsignedMembers, _ object: inout JSONWriter) {
        object.given("network", unsigned.network)
        object.given("display_name", unsigned.displayName)
        object.given("type", unsigned.type)
        object.given("transaction_identifier", unsigned.transactionIdentifier)
    }
}

extension JSONWriter {
    /// Absent stays absent.
    mutating func given(_ name: String, _ value: String?) {
        if let value { member(name, value) }
    }

    mutating func given(_ name: String, _ value: Int?) {
        if let value { member(name, value) }
    }
}
