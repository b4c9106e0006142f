public import Cryptography
public import Encodings
public import Problems

extension OID {
    /// In merchant certificates of both kinds: SHA-256 of the merchant identifier, in hex.
    static let merchantIdentifierHash: OID = "1.2.840.113635.100.6.32"
    /// In Merchant Identity certificates only.
    static let merchantIdentity: OID = "1.2.840.113635.100.6.46"
}

/// The certificate to whose key Apple encrypts a merchant's payment tokens.
///
/// Its existence proves: of that kind, not the Merchant Identity certificate that looks so much like it; a key of one of Apple's two sorts; and one
/// merchant identifier, the same in subject, extension and request. Who issued it is ``IssuerRegister``'s to say; dates are warnings only,
/// because a key goes on opening late tokens after its certificate has ended.
public struct PaymentProcessingCertificate: Sendable, Equatable {
    public let certificate: Certificate
    public let merchantIdentifier: MerchantIdentifier
    public let keyAlgorithm: KeyAlgorithm
    /// SHA-256 of the SubjectPublicKeyInfo: what tokens carry as `publicKeyHash`.
    public let publicKeyHash: Digest256

    /// - Parameter identifier: whom the certificate must belong to; nil takes the one it names.
    /// - Throws: the first that holds of `certificate.not_apple_pay`, `.wrong_kind`, `.wrong_key_type`, `.merchant_extension_malformed`,
    ///   `.merchant_identifier_mismatch`.
    public init(certificate: Certificate, for identifier: MerchantIdentifier? = nil) throws(Problem) {
        let hashes = certificate.extensionValues(.merchantIdentifierHash)
        guard !hashes.isEmpty else { throw .certificate(.notApplePay, context: [("subject", .text(certificate.subject.description))]) }
        try PaymentProcessingCertificate.checkKind(of: certificate)
        self.keyAlgorithm = try PaymentProcessingCertificate.keyAlgorithm(of: certificate)
        let hash = try PaymentProcessingCertificate.merchantHash(hashes)
        self.merchantIdentifier = try PaymentProcessingCertificate.identifier(named: identifier, hash: hash, in: certificate)
        self.publicKeyHash = certificate.spkiHash
        self.certificate = certificate
    }

    /// `expired` or `not_yet_valid`, judged at `now`.
    public func warnings(at now: Timestamp) -> [Warning] {
        if certificate.notAfter < now {
            return [Warning(code: "expired", detail: "The certificate ended on \(certificate.notAfter.rfc3339); its key still opens late tokens.")]
        }
        if now < certificate.notBefore {
            return [Warning(code: "not_yet_valid", detail: "The certificate is valid from \(certificate.notBefore.rfc3339) on.")]
        }
        return []
    }

    /// A Merchant Identity certificate carries the same extension and the same UID: what a certificate may be used for tells them apart, not its
    /// name and not its key.
    private static func checkKind(of certificate: Certificate) throws(Problem) {
        let usage = certificate.keyUsage ?? []
        let extended = certificate.extendedKeyUsage ?? []
        let isIdentity = certificate.hasExtension(.merchantIdentity) || extended.contains(.clientAuthentication) || usage == .digitalSignature
        if isIdentity {
            throw .certificate(
                .wrongKind, cause: "This is a Merchant Identity Certificate; decryption needs the Apple Pay Payment Processing Certificate.",
                context: [("subject", .text(certificate.subject.description))])
        }
        let agreesOrWraps = !usage.isDisjoint(with: [.keyAgreement, .keyEncipherment])
        guard agreesOrWraps, certificate.extendedKeyUsage == nil, !certificate.isCA else {
            throw .certificate(.wrongKind, context: [("subject", .text(certificate.subject.description))])
        }
    }

    private static func keyAlgorithm(of certificate: Certificate) throws(Problem) -> KeyAlgorithm {
        switch certificate.keyKind {
        case .p256: return .ecP256
        case .rsa(bits: 2048): return .rsa2048
        case .rsa(let bits):
            throw .certificate(.wrongKeyType, cause: "The certificate's key is RSA of \(bits) bits; Apple Pay uses P-256, or RSA of 2048 bits.")
        default: throw .certificate(.wrongKeyType)
        }
    }

    /// One string of 64 hex digits and nothing after it, as a UTF8String (Apple's), PrintableString, IA5String or OCTET STRING.
    private static func merchantHash(_ values: [[UInt8]]) throws(Problem) -> Digest256 {
        guard values.count == 1 else {
            throw .certificate(.merchantExtensionMalformed, cause: "The certificate has \(values.count) merchant identifier fields instead of one.")
        }
        let value = values[0]
        // The long length form 81 40 is not DER, but means the same.
        let header = value.count > 1 && value[1] == 0x81 ? [0x81, 0x40] as [UInt8] : [0x40]
        let tags: [DERTag] = [.utf8String, .printableString, .ia5String, .octetString]
        if let tag = value.first, tags.contains(DERTag(rawValue: tag)), value.dropFirst().starts(with: header), value.count == 1 + header.count + 64,
            let hash = Hex.decode(value[(1 + header.count)...]).flatMap({ Digest256($0) })
        {
            return hash
        }
        throw .certificate(
            .merchantExtensionMalformed,
            cause: "The certificate's merchant identifier field is not a text of 64 hexadecimal digits: it has \(value.count) bytes and begins with "
                + "the tag \(Hex.encode(value.prefix(1))).",
            context: [("length", .number(value.count)), ("tag", .text(Hex.encode(value.prefix(1))))])
    }

    /// The one identifier that the request, the subject's UID and the extension agree on.
    private static func identifier(
        named: MerchantIdentifier?, hash: Digest256, in certificate: Certificate
    ) throws(Problem) -> MerchantIdentifier {
        let names = certificate.subject.values(.userID)
        let context = [("certificate_merchant_identifier_sha256", ContextValue.text(hash.hex))]
        guard names.count == 1, let found = try? MerchantIdentifier(names[0]), found.hash == hash else {
            throw .certificate(
                .merchantIdentifierMismatch,
                cause: "The certificate contradicts itself: its subject's UID is not the merchant identifier of its field 1.2.840.113635.100.6.32.",
                fix: "Download the certificate from Apple again; if it stays so, create a new one.",
                context: context + names.prefix(1).map { ("subject_user_id_sha256", .text(SHA256.digest(Array($0.utf8)).hex)) })
        }
        guard let named, named != found else { return found }
        throw .certificate(
            .merchantIdentifierMismatch,
            cause: found.differsOnlyInCase(from: named)
                ? "The certificate belongs to \(found), which differs from \(named) in the case of letters."
                : "The certificate belongs to \(found), not to \(named).",
            context: context + [("merchant_identifier_sha256", .text(named.hash.hex)), ("certificate_merchant_identifier", .text(found.text))])
    }
}
