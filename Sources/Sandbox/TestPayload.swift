import Encodings

/// What stands inside a minted token, before encryption.
public enum TestPayload: Sendable, Equatable {
    /// One of the shapes Apple documents, with fresh cryptograms.
    case preset(Preset)
    /// The caller's own bytes, encrypted as they are; amount and currency of the order are not looked at.
    case verbatim([UInt8])

    /// Shapes of Apple's `PaymentData`; the raw value is the name in the API.
    ///
    /// Recurring, deferred and automatic-reload requests have no members of their own in a token: they show as a merchant token.
    /// - Source: Apple, "Payment token format reference"; `MerchantTokenMetadata`.
    public enum Preset: String, Sendable, CaseIterable {
        /// A Visa device account number, cryptogram of 20 bytes, ECI `7`.
        case threeDSecure = "3ds"
        /// A Mastercard device account number, cryptogram of 19 bytes, no ECI.
        case threeDSecureMastercard = "3ds-mastercard"
        /// An American Express device account number: 15 digits.
        case threeDSecureAmex = "3ds-amex"
        /// As `3ds` without `eciIndicator`.
        case threeDSecureWithoutECI = "3ds-noeci"
        /// As `3ds` with a `cardholderName` outside ASCII.
        case threeDSecureWithName = "3ds-name"
        /// UnionPay, 19 digits, EMV data and an encrypted PIN.
        case emv
        /// As `emv` without a PIN.
        case emvWithoutPIN = "emv-nopin"
        /// A merchant account number with `merchantTokenIdentifier` and `merchantTokenMetadata`.
        case merchantToken = "merchant-token"
        case recurring
        case deferred
        case autoReload = "auto-reload"
        /// One purchase shared by several merchants: `authenticationResponses`.
        case multiToken = "multi-token"
        /// As `3ds`, and members Apple has not defined yet.
        case unknownFields = "unknown-fields"
    }
}

extension TestPayload.Preset {
    /// Account numbers that card networks and processors publish for testing; none can be charged.
    var card: TestCard {
        switch self {
        case .threeDSecureMastercard: TestCard(number: "5555555555554444", network: "MasterCard", type: "credit", manufacturer: "050110030273")
        case .threeDSecureAmex: TestCard(number: "378282246310005", network: "AmEx", type: "credit", manufacturer: "030110030273")
        case .emv, .emvWithoutPIN: TestCard(number: "6205500000000000004", network: "ChinaUnionPay", type: "debit", manufacturer: "062010030273")
        default: TestCard(number: "4111111111111111", network: "Visa", type: "debit", manufacturer: "040010030273")
        }
    }

    /// The whole `PaymentData` as compact JSON, members in Apple's order.
    /// - Parameters:
    ///   - amount: in the currency's minor unit.
    ///   - currency: ISO 4217, three digits.
    ///   - now: the card expires at the end of the fifth December after it.
    func content(amount: Int, currency: String, now: Timestamp) -> [UInt8] {
        let card = card
        let expiry = "\(String(now.year + 5).suffix(2))1231"
        return JSONWriter.object { object in
            object.member("applicationPrimaryAccountNumber", card.number)
            object.member("applicationExpirationDate", expiry)
            object.member("currencyCode", currency)
            object.member("transactionAmount", amount)
            if self == .threeDSecureWithName { object.member("cardholderName", "ZOË O’NEILL 李雷") }
            object.member("deviceManufacturerIdentifier", card.manufacturer)
            object.member("paymentDataType", isEMV ? "EMV" : "3DSecure")
            object.member("paymentData") { $0.object(writeNetworkData) }
            if isMerchantToken { writeMerchantToken(of: card, expiryYear: now.year + 5, into: &object) }
            if self == .multiToken { writeAuthenticationResponses(amount: amount, into: &object) }
            if self == .unknownFields { object.member("somethingNew", raw: #"{"a":[1,2.5,null,true]}"#.utf8) }
        }
    }

    private var isEMV: Bool { self == .emv || self == .emvWithoutPIN }

    private var isMerchantToken: Bool {
        switch self {
        case .merchantToken, .recurring, .deferred, .autoReload: true
        default: false
        }
    }

    /// The inner `paymentData` object.
    private func writeNetworkData(_ object: inout JSONWriter) {
        guard !isEMV else {
            object.member("emvData", Base64.encode(emvData()))
            if self == .emv { object.member("encryptedPINData", Hex.encode(randomBytes(8))) }
            return
        }
        object.member("onlinePaymentCryptogram", Base64.encode(randomBytes(self == .threeDSecureMastercard ? 19 : 20)))
        switch self {
        case .threeDSecureMastercard, .threeDSecureWithoutECI: break
        case .threeDSecureAmex: object.member("eciIndicator", "05")
        default: object.member("eciIndicator", "7")
        }
        if self == .unknownFields { object.member("newThing", "x") }
    }

    /// Application cryptogram (9F26), its information data (9F27), transaction counter (9F36) and unpredictable number (9F37), as EMV TLV.
    private func emvData() -> [UInt8] {
        [0x9f, 0x26, 8] + randomBytes(8) + [0x9f, 0x27, 1, 0x80, 0x9f, 0x36, 2] + randomBytes(2) + [0x9f, 0x37, 4] + randomBytes(4)
    }

    private func writeMerchantToken(of card: TestCard, expiryYear: Int, into object: inout JSONWriter) {
        object.member("merchantTokenIdentifier", "DAPLMC" + Hex.encode(randomBytes(16)).uppercased())
        object.member("merchantTokenMetadata") {
            $0.object { metadata in
                metadata.member("cardMetadata") {
                    $0.object {
                        $0.member("fpanSuffix", card.lastDigits)
                        $0.member("expirationDate", "\(expiryYear)-12")
                        $0.member("cardCountry", "US")
                        $0.member("shortDescription", "Sandbox Card")
                        $0.member("longDescription", "Sandbox card for \(rawValue)")
                    }
                }
                metadata.member("cardArt") {
                    $0.array {
                        $0.object {
                            $0.member("name", "sandbox bank")
                            $0.member("type", "PNG")
                            $0.member("url", "https://sandbox.invalid/card.png")
                        }
                    }
                }
            }
        }
    }

    /// Two submerchants share the amount; here Apple writes amounts as strings.
    private func writeAuthenticationResponses(amount: Int, into object: inout JSONWriter) {
        object.member("authenticationResponses") {
            $0.array { responses in
                for (index, share) in [amount / 2, amount - amount / 2].enumerated() {
                    responses.object {
                        $0.member("merchantIdentifier", "merchant.com.example.sub\(index + 1)")
                        $0.member("authenticationData", Base64.encode(randomBytes(20)))
                        $0.member("transactionAmount", String(share))
                    }
                }
            }
        }
    }
}

/// A card of the sandbox, as `paymentMethod` and `PaymentData` show it.
struct TestCard: Sendable {
    let number: String
    /// Apple's spelling in `paymentMethod.network`.
    let network: String
    let type: String
    /// `deviceManufacturerIdentifier`, hex.
    let manufacturer: String

    var lastDigits: String { String(number.suffix(4)) }
    var displayName: String { "\(network) \(lastDigits)" }
}

/// Filler from the system's generator; no key is ever made of it.
func randomBytes(_ count: Int) -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
}
