public import Cryptography
public import Encodings
public import Problems

/// A payment token whose shape is right: every member is there, of its type and readable. Who made it, and whether anyone changed it since, is
/// not known yet; that is ``SignatureVerifier``'s to say.
///
/// Members Apple does not define are ignored at every level, `null` counts as absent, and a doubled member is refused.
/// - Source: Apple, "Payment token format reference".
public struct PaymentToken: Sendable {
    /// What the token's version carries: the first of the signed bytes.
    public enum Version: Sendable {
        /// `EC_v1`, with `header.ephemeralPublicKey`.
        case ecV1(ephemeralPublicKey: P256.PublicKey)
        /// `RSA_v1`, with `header.wrappedKey`, 256 bytes.
        case rsaV1(wrappedKey: [UInt8])

        /// The key that opens such a token.
        public var keyAlgorithm: KeyAlgorithm {
            switch self {
            case .ecV1: .ecP256
            case .rsaV1: .rsa2048
            }
        }
        /// Apple's name: `EC_v1` or `RSA_v1`.
        public var name: String { keyAlgorithm.tokenVersion }
    }

    /// What Apple neither signs nor encrypts: for people to read, not to decide by.
    public struct UnsignedMembers: Sendable, Equatable {
        public let network: String?
        public let displayName: String?
        public let type: String?
        public let transactionIdentifier: String?
    }

    public let version: Version
    /// Ciphertext, then the 16 bytes of the GCM tag.
    public let data: [UInt8]
    /// `signature` as it came, not decoded: what is wrong inside it is the verifier's to say.
    public let signatureText: ArraySlice<UInt8>
    /// SHA-256 of the SubjectPublicKeyInfo in the certificate that Apple encrypted to. Not signed: it picks a key and proves nothing.
    public let publicKeyHash: Digest256
    /// 32 bytes in every token seen; 1…``maximumIdentifierBytes`` are taken.
    public let transactionId: [UInt8]
    /// SHA-256 of the payment request's `applicationData`; nil when the request had none.
    public let applicationData: [UInt8]?
    public let unsigned: UnsignedMembers
    public let dress: TokenDress
    public let warnings: [Warning]
    /// SHA-256 of what Apple signed: key field ‖ `data` ‖ `transactionId` ‖ `applicationData`.
    public let signedContentDigest: Digest256

    /// A bound for `transactionId` and `applicationData`, which Apple calls hexadecimal and gives no length.
    public static let maximumIdentifierBytes = 128
    private static let tagBytes = 16
    /// RSA of 2048 bits, the only size Apple issues.
    private static let wrappedKeyBytes = 256

    /// Reads the `token` member of a request, in any dress (see ``TokenDress``).
    /// - Throws: `payment_token.malformed`, `.encoding_unrecognised`, `.version_unsupported`, `.simulator`; `request.too_deep`.
    public init(parsing value: JSONValue) throws(Problem) {
        var undresser = TokenUndresser()
        let (paymentData, whole) = try undresser.undress(value)
        try self.init(paymentData, whole: whole, dress: undresser.dress)
    }

    /// Reads a whole text: JSON, or base64 of it without quotes.
    /// - Throws: as ``init(parsing:)-(JSONValue)``.
    public init(parsing bytes: [UInt8]) throws(Problem) {
        var undresser = TokenUndresser()
        let (paymentData, whole) = try undresser.undress(bytes)
        try self.init(paymentData, whole: whole, dress: undresser.dress)
    }

    private init(_ paymentData: JSONValue, whole: JSONValue?, dress: TokenDress) throws(Problem) {
        let fields = try TokenFields(of: paymentData)
        let algorithm = try fields.algorithm()

        self.data = try fields.base64(.data)
        guard data.count >= PaymentToken.tagBytes else {
            throw TokenField.data.malformed("has \(data.count) bytes, fewer than its tag of \(PaymentToken.tagBytes)")
        }
        self.signatureText = try fields.text(.signature)
        guard let hash = Digest256(try fields.base64(.publicKeyHash)) else {
            throw TokenField.publicKeyHash.malformed("is not a SHA-256 hash of 32 bytes")
        }
        self.publicKeyHash = hash
        self.transactionId = try fields.hex(.transactionId)
        guard !transactionId.isEmpty else { throw TokenField.transactionId.malformed("is empty") }
        let applicationData = fields[.applicationData] == nil ? [] : try fields.hex(.applicationData)
        self.applicationData = applicationData.isEmpty ? nil : applicationData

        var warnings: [Warning] = []
        let keyField: [UInt8]
        let foreignField: TokenField
        switch algorithm {
        case .ecP256:
            keyField = try fields.base64(.ephemeralPublicKey)
            foreignField = .wrappedKey
            guard let key = try? P256.PublicKey(spki: keyField) else {
                throw TokenField.ephemeralPublicKey.malformed("is not a P-256 public key, uncompressed and on the curve")
            }
            self.version = .ecV1(ephemeralPublicKey: key)
        case .rsa2048:
            keyField = try fields.base64(.wrappedKey)
            foreignField = .ephemeralPublicKey
            guard keyField.count == PaymentToken.wrappedKeyBytes else {
                throw TokenField.wrappedKey.malformed("has \(keyField.count) bytes instead of \(PaymentToken.wrappedKeyBytes)")
            }
            self.version = .rsaV1(wrappedKey: keyField)
        }
        if fields[foreignField] != nil {
            warnings.append(
                Warning(code: "member_of_other_version", detail: "\(foreignField.path) does not belong into \(version.name); it is not signed and was ignored.")
            )
        }

        self.unsigned = UnsignedMembers(whole)
        if let outer = unsigned.transactionIdentifier, Hex.decode(outer) != transactionId {
            warnings.append(
                Warning(
                    code: "transaction_identifier_differs",
                    detail: "The outer transactionIdentifier, which is not signed, differs from header.transactionId, which is and counts."))
        }
        self.dress = dress
        self.warnings = warnings
        // Hashed piece by piece: the signed bytes never exist as one string.
        self.signedContentDigest = SHA256.digest(keyField, data, transactionId, applicationData)
    }
}

extension PaymentToken.UnsignedMembers {
    fileprivate init(_ whole: JSONValue?) {
        let method = whole?.member("paymentMethod")
        func text(_ value: JSONValue?) -> String? { value?.string ?? value?.numberText }
        network = text(method?.member("network"))
        displayName = text(method?.member("displayName"))
        type = text(method?.member("type"))
        transactionIdentifier = text(whole?.member("transactionIdentifier"))
    }
}

/// The members of `paymentData` and of its `header` that Apple defines, spelt as Apple spells them.
private enum TokenField: String {
    case version, data, signature, header
    case ephemeralPublicKey, wrappedKey, publicKeyHash, transactionId, applicationData

    var isInHeader: Bool {
        switch self {
        case .version, .data, .signature, .header: false
        case .ephemeralPublicKey, .wrappedKey, .publicKeyHash, .transactionId, .applicationData: true
        }
    }

    var path: String { isInHeader ? "header." + rawValue : rawValue }

    func malformed(_ what: String) -> Problem {
        .paymentToken(.malformed, cause: "The payment token's \(path) \(what).", context: [("member", .text(path))])
    }
}

/// The values under the names of ``TokenField``; `null` is absent.
private struct TokenFields {
    private let paymentData: JSONValue
    private let header: JSONValue?

    init(of paymentData: JSONValue) throws(Problem) {
        self.paymentData = paymentData
        self.header = paymentData.member("header").flatMap { $0.isNull ? nil : $0 }
        if let header, header.kind != .object { throw TokenField.header.malformed("is not an object") }
    }

    subscript(field: TokenField) -> JSONValue? {
        let value = field.isInHeader ? header?.member(field.rawValue) : paymentData.member(field.rawValue)
        return value.flatMap { $0.isNull ? nil : $0 }
    }

    /// The algorithm that `version` names, once nothing that it demands is missing; all that is missing is told at once.
    func algorithm() throws(Problem) -> KeyAlgorithm {
        var algorithm: KeyAlgorithm?
        if self[.version] != nil {
            let version = try text(.version)
            algorithm = KeyAlgorithm.allCases.first { version.elementsEqual($0.tokenVersion.utf8) }
            if algorithm == nil { throw unsupported(version) }
        }
        let keyFields: [TokenField] =
            switch algorithm {
            case .ecP256: [.ephemeralPublicKey]
            case .rsa2048: [.wrappedKey]
            case nil: [.ephemeralPublicKey, .wrappedKey]
            }
        if let algorithm, [.data, .signature, .header, .publicKeyHash, .transactionId].allSatisfy({ self[$0] != nil }), self[keyFields[0]] != nil {
            return algorithm
        }
        var missing = [TokenField.version, .data, .signature, .header, .publicKeyHash, .transactionId].filter { self[$0] == nil }.map(\.path)
        if !keyFields.contains(where: { self[$0] != nil }) { missing.append(keyFields.map(\.path).joined(separator: " or ")) }
        throw .paymentToken(
            .malformed, cause: "The payment token lacks \(missing.joined(separator: ", ")).",
            context: [("missing", .list(missing.map { .text($0) }))])
    }

    func text(_ field: TokenField) throws(Problem) -> ArraySlice<UInt8> {
        guard let text = self[field]?.stringSlice else { throw field.malformed("is not text") }
        return text
    }

    func base64(_ field: TokenField) throws(Problem) -> [UInt8] {
        guard let bytes = Base64.decode(try text(field)) else { throw field.malformed("is not base64") }
        return bytes
    }

    func hex(_ field: TokenField) throws(Problem) -> [UInt8] {
        guard let bytes = Hex.decode(try text(field)) else { throw field.malformed("is not hexadecimal") }
        guard bytes.count <= PaymentToken.maximumIdentifierBytes else {
            throw field.malformed("has \(bytes.count) bytes; \(PaymentToken.maximumIdentifierBytes) is the limit")
        }
        return bytes
    }

    private func unsupported(_ version: ArraySlice<UInt8>) -> Problem {
        let supported = KeyAlgorithm.allCases.map(\.tokenVersion)
        let name = String(decoding: version.prefix(32), as: UTF8.self)
        return .paymentToken(
            .versionUnsupported, cause: "The payment token has the version \"\(name)\"; supported are \(supported.joined(separator: " and ")).",
            context: [("version", .text(name)), ("supported", .list(supported.map { .text($0) }))])
    }
}
