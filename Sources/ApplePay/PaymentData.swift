import Encodings
import Problems
public import Secrets

/// The content of a payment token: Apple's own bytes, and what can be read from them for certain.
///
/// Nothing is defaulted: what the content does not say is nil, and a warning stands beside it where it should have said it. The texts in here are
/// account data; they live as long as the answer they are made for.
/// - Source: Apple, "Payment token format reference".
public struct PaymentData: Sendable {
    /// What stands for the card.
    public struct NetworkToken: Sendable {
        public enum Kind: String, Sendable {
            /// A device account number.
            case dpan
            /// A merchant token's number: it outlives the device.
            case mpan
        }

        /// `applicationPrimaryAccountNumber` as it came.
        public let number: String?
        /// 1…12.
        public let expiryMonth: Int?
        /// Four digits.
        public let expiryYear: Int?
        /// `onlinePaymentCryptogram`, base64 as it came.
        public let cryptogram: String?
        /// The electronic commerce indicator with two digits: `05`.
        public let eci: String?
        /// `eciIndicator` as it came.
        public let eciRaw: String?
        /// The first six digits of the number.
        public let bin: String?
        /// The last four digits of the number.
        public let last4: String?
        /// From the number, not from what the device says.
        public let network: CardNetwork?
        public let kind: Kind
    }

    /// What the customer agreed to pay.
    public struct Transaction: Sendable {
        /// As people write it: `1.00`.
        public let amount: String?
        /// In the minor unit: `100`.
        public let amountMinor: String?
        /// Three letters: `USD`.
        public let currency: String?
        /// Three digits as they came: `840`.
        public let currencyNumeric: String?
        /// Decimals of the currency.
        public let currencyExponent: Int?
    }

    /// Apple's bytes, untouched: order, number text and unknown members as Apple wrote them.
    public let plaintext: SecretBytes
    public let networkToken: NetworkToken
    public let transaction: Transaction
    /// `3DSecure`, `EMV`, or what else it says.
    public let paymentDataType: String?
    /// The token's `header.applicationData`: SHA-256 of what the payment request carried.
    public let applicationData: [UInt8]?
    public let warnings: [Warning]

    /// How deep Apple's content may be nested; a real one is four levels deep.
    private static let maximumDepth = 32

    /// - Throws: `payment_token.content_unexpected` unless `plaintext` is UTF-8, one JSON object, without a doubled member at any depth. All else is
    ///   a warning: a schema that has moved on loses no payment.
    init(plaintext: SecretBytes, applicationData: [UInt8]?) throws(Problem) {
        // The copy is the reader's, and goes when this returns.
        guard let document = try? JSONDocument(plaintext.copyExposed(), maximumDepth: PaymentData.maximumDepth) else {
            throw .paymentToken(.contentUnexpected)
        }
        let content = document.root
        guard content.kind == .object, content.doubledMember == nil else { throw .paymentToken(.contentUnexpected) }
        var reader = ContentReader(content)
        self.plaintext = plaintext
        self.applicationData = applicationData
        self.paymentDataType = reader.paymentDataType()
        self.networkToken = reader.networkToken()
        self.transaction = reader.transaction()
        self.warnings = reader.finished(paymentDataType)
    }
}

/// Reads one content, collecting what is odd about it.
private struct ContentReader {
    private let content: JSONValue
    private let details: JSONValue?
    private var missing: [String] = []
    private var warnings: [Warning] = []

    init(_ content: JSONValue) {
        self.content = content
        self.details = content.member("paymentData")
    }

    mutating func paymentDataType() -> String? { demanded("paymentDataType")?.string }

    mutating func networkToken() -> PaymentData.NetworkToken {
        let number = demanded("applicationPrimaryAccountNumber")?.string
        let isUsual = number.map { (12...19).contains($0.utf8.count) && $0.utf8.allSatisfy(ContentReader.isDigit) } ?? false
        if !isUsual, content.member("applicationPrimaryAccountNumber") != nil {
            warn("number_unusual", "applicationPrimaryAccountNumber is not a text of 12 to 19 digits.")
        }
        let date = demanded("applicationExpirationDate")
        let expiry = date.flatMap { expiryDate($0) }
        let (eci, eciRaw) = indicator()
        let digits = isUsual ? number : nil
        let merchantToken = content.member("merchantTokenIdentifier")
        return PaymentData.NetworkToken(
            number: number, expiryMonth: expiry?.month, expiryYear: expiry?.year, cryptogram: details?.member("onlinePaymentCryptogram")?.string,
            eci: eci, eciRaw: eciRaw, bin: digits.map { String($0.prefix(6)) }, last4: digits.map { String($0.suffix(4)) },
            network: digits.flatMap { CardNetwork(number: $0) }, kind: merchantToken == nil || merchantToken?.isNull == true ? .dpan : .mpan)
    }

    mutating func transaction() -> PaymentData.Transaction {
        let numeric = currencyNumeric()
        let currency = numeric.flatMap { Currency(numeric: $0) }
        if let numeric, currency == nil { warn("currency_unknown", "The currency code \(numeric.prefix(8)) is not in ISO 4217.") }
        let written = demanded("transactionAmount")
        let amount = written?.numberText.flatMap { MinorUnits(jsonNumber: $0) }
        if written != nil, amount == nil {
            warn("amount_not_integer", "transactionAmount is not an integer number of the currency's minor unit; see payment_data for what it is.")
        }
        return PaymentData.Transaction(
            amount: amount.flatMap { amount in currency.map { amount.decimal(exponent: $0.exponent) } }, amountMinor: amount?.text,
            currency: currency?.code, currencyNumeric: numeric, currencyExponent: currency?.exponent)
    }

    /// The warnings, once the demands of the type are known.
    mutating func finished(_ type: String?) -> [Warning] {
        if details == nil { missing.append("paymentData") }
        switch type {
        case "3DSecure": if details?.member("onlinePaymentCryptogram") == nil { missing.append("paymentData.onlinePaymentCryptogram") }
        case "EMV": if details?.member("emvData") == nil { missing.append("paymentData.emvData") }
        default:
            if content.member("paymentDataType") != nil {
                warn("payment_data_type_unknown", "paymentDataType is neither 3DSecure nor EMV; what it brings stands in payment_data.")
            }
        }
        if !missing.isEmpty { warn("members_missing", "The content lacks \(missing.joined(separator: ", ")).") }
        return warnings
    }

    private mutating func demanded(_ name: String) -> JSONValue? {
        guard let value = content.member(name) else {
            missing.append(name)
            return nil
        }
        return value
    }

    private mutating func warn(_ code: String, _ detail: String) { warnings.append(Warning(code: code, detail: detail)) }

    /// `YYMMDD`, a day of the calendar in 20YY.
    private mutating func expiryDate(_ value: JSONValue) -> (month: Int, year: Int)? {
        if let digits = value.stringSlice, digits.count == 6, digits.allSatisfy(ContentReader.isDigit) {
            let pairs = digits.map { Int($0 - UInt8(ascii: "0")) }
            let (year, month, day) = (2000 + pairs[0] * 10 + pairs[1], pairs[2] * 10 + pairs[3], pairs[4] * 10 + pairs[5])
            if Timestamp(year: year, month: month, day: day) != nil { return (month, year) }
        }
        warn("expiry_malformed", "applicationExpirationDate is not a date of the form YYMMDD.")
        return nil
    }

    /// Two digits, and the text as it came. A number is read as its text.
    private mutating func indicator() -> (eci: String?, raw: String?) {
        guard let value = details?.member("eciIndicator"), !value.isNull else { return (nil, nil) }
        let raw = value.string ?? value.numberText
        if value.kind != .string { warn("eci_malformed", "eciIndicator is not a text.") }
        guard let raw, (1...2).contains(raw.utf8.count), raw.utf8.allSatisfy(ContentReader.isDigit) else {
            if value.kind == .string { warn("eci_malformed", "eciIndicator is not one or two digits.") }
            return (nil, raw)
        }
        return (raw.utf8.count == 1 ? "0" + raw : raw, raw)
    }

    /// A text is kept as it is; a number has lost its leading zeros and gets them back.
    private mutating func currencyNumeric() -> String? {
        guard let value = demanded("currencyCode") else { return nil }
        if let text = value.string { return text }
        warn("currency_not_text", "currencyCode is not a text, so its leading zeros may be lost.")
        guard let number = value.integer, (0...999).contains(number) else { return nil }
        let digits = String(number)
        return String(repeating: "0", count: 3 - digits.utf8.count) + digits
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }
}
