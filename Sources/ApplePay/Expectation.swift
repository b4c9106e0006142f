import Cryptography
import Encodings
public import Problems

/// What a caller expects of a payment: compared inside, so that a payment for something else never leaves here.
public struct Expectation: Sendable {
    /// Decimal text, as `12.50`; compared in minor units, exactly.
    public let amount: String?
    /// Three letters of ISO 4217.
    public let currency: String?
    /// The payment request's `applicationData`, raw; its SHA-256 must be the token's.
    public let applicationData: [UInt8]?
    /// `3DSecure` or `EMV`.
    public let paymentDataType: String?

    public init(amount: String? = nil, currency: String? = nil, applicationData: [UInt8]? = nil, paymentDataType: String? = nil) {
        self.amount = amount
        self.currency = currency
        self.applicationData = applicationData
        self.paymentDataType = paymentDataType
    }

    /// Whether `text` is an amount that ``amount`` can be: digits, and decimals behind a point.
    public static func isAmount(_ text: String) -> Bool { MinorUnits(decimal: text, exponent: text.utf8.count) != nil }
}

extension PaymentData {
    /// - Throws: `payment_token.expectation_failed`, naming the members that differ and none of their values.
    public func check(_ expected: Expectation) throws(Problem) {
        var failed: [String] = []
        if let amount = expected.amount, !isAmount(amount) { failed.append("amount") }
        if let currency = expected.currency, Currency(code: currency) == nil || Currency(code: currency)?.code != transaction.currency {
            failed.append("currency")
        }
        if let bytes = expected.applicationData, applicationData != SHA256.digest(bytes).bytes { failed.append("application_data") }
        if let type = expected.paymentDataType, type != paymentDataType { failed.append("payment_data_type") }
        guard failed.isEmpty else {
            throw .paymentToken(
                .expectationFailed, cause: "The payment token differs from what was expected in: \(failed.joined(separator: ", ")).",
                context: [("members", .list(failed.map { .text($0) }))])
        }
    }

    private func isAmount(_ expected: String) -> Bool {
        guard let paid = transaction.amountMinor, let exponent = transaction.currencyExponent else { return false }
        return MinorUnits(decimal: expected, exponent: exponent)?.text == paid
    }
}
