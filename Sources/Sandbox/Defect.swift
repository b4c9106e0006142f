public import ApplePay

/// One thing wrong, or merely unusual, about a minted token; the raw value is its name in the API.
///
/// The order of the cases is the order in which a token is made, and the order in which combined defects are applied, whatever order they are asked for in:
/// content, encryption, the signed fields, the CMS, what changes after signing, the JSON around it. Of two that set the same thing, the later wins.
public enum Defect: String, Sendable, CaseIterable {
    // Content
    case contentNotJSON = "content_not_json"
    case contentNotUTF8 = "content_not_utf8"
    case contentNotAnObject = "content_not_an_object"
    case contentDoubledMember = "content_doubled_member"

    // Encryption
    case wrongMerchantIdentifier = "wrong_merchant_identifier"
    case nonceOf12Bytes = "nonce_of_12_bytes"
    case sharedSecretLeadingZero = "shared_secret_leading_zero"
    case tagFlipped = "tag_flipped"
    case tagTruncated = "tag_truncated"

    // The signed fields
    case dataTooShort = "data_too_short"
    case compressedPoint = "compressed_point"
    case pointOffCurve = "point_off_curve"
    case transactionIDLeadingZero = "transaction_id_leading_zero"

    // The signer's certificates
    case leafMarkerMissing = "leaf_marker_missing"
    case intermediateMarkerMissing = "intermediate_marker_missing"
    case leafExpired = "leaf_expired"
    case leafNotYetValid = "leaf_not_yet_valid"
    case leafForged = "leaf_forged"
    case untrustedRoot = "untrusted_root"
    case intermediateMissing = "intermediate_missing"
    case rootIncluded = "root_included"
    case certificatesReversed = "certificates_reversed"

    // The CMS
    case signedOneHourAgo = "signed_one_hour_ago"
    case signedInTheFuture = "signed_in_the_future"
    case signingTimeMissing = "signing_time_missing"
    case signingTimeDoubled = "signing_time_doubled"
    case signedAttributesMissing = "signed_attributes_missing"
    case sha1Digest = "sha1_digest"
    case attachedContent = "attached_content"
    case secondSigner = "second_signer"
    case derEncoding = "der_encoding"
    case signatureFlipped = "signature_flipped"
    case signatureNotCMS = "signature_not_cms"

    // After signing
    case dataFlipped = "data_flipped"
    case transactionIDChanged = "transaction_id_changed"
    case applicationDataChanged = "application_data_changed"

    // The JSON
    case unknownPublicKeyHash = "unknown_public_key_hash"
    case versionUnknown = "version_unknown"
    case versionMissing = "version_missing"
    case headerMissing = "header_missing"
    case dataDoubled = "data_doubled"
    case base64URL = "base64url"
    case unknownMembers = "unknown_members"
}

extension Defect {
    /// What is done to the token, one sentence; it stands in the API's description.
    public var summary: String {
        switch self {
        case .contentNotJSON: "The decrypted content is plain text."
        case .contentNotUTF8: "The decrypted content holds the bytes FF FE inside a string."
        case .contentNotAnObject: "The decrypted content is a JSON array around the usual object."
        case .contentDoubledMember: "The decrypted content names `applicationPrimaryAccountNumber` twice, with different numbers."
        case .wrongMerchantIdentifier: "The content key is derived for another merchant identifier (EC_v1 only: RSA_v1 binds none)."
        case .nonceOf12Bytes: "Encrypted with a nonce of 12 zero bytes instead of Apple's 16."
        case .sharedSecretLeadingZero: "Good: the shared secret begins with a zero byte, which one agreement in 256 does (EC_v1 only)."
        case .tagFlipped: "The last byte of the GCM tag is changed and then signed: only the decryption can notice."
        case .tagTruncated: "The GCM tag is cut to 12 bytes and then signed."
        case .dataTooShort: "`data` is 15 bytes: shorter than a tag."
        case .compressedPoint: "The ephemeral public key is a compressed point (EC_v1 only)."
        case .pointOffCurve: "The ephemeral public key is no point of P-256 (EC_v1 only)."
        case .transactionIDLeadingZero: "Good: the transaction identifier begins with a zero byte."
        case .leafMarkerMissing: "The signer's certificate lacks the marker 1.2.840.113635.100.6.29."
        case .intermediateMarkerMissing: "The signer's issuer lacks the marker 1.2.840.113635.100.6.2.14."
        case .leafExpired: "The signer's certificate ended one day before the signing time."
        case .leafNotYetValid: "The signer's certificate begins one day after the signing time."
        case .leafForged: "The signer's certificate names the right issuer, but another key signed it."
        case .untrustedRoot: "The whole chain looks right and ends in another root of the same name."
        case .intermediateMissing: "The CMS holds the signer's certificate only."
        case .rootIncluded: "Good: the CMS also holds the root."
        case .certificatesReversed: "Good: the CMS holds the issuer before the signer."
        case .signedOneHourAgo: "The signing time is one hour before now."
        case .signedInTheFuture: "The signing time is one hour after now."
        case .signingTimeMissing: "No signing time among the signed attributes."
        case .signingTimeDoubled: "Two signing times among the signed attributes."
        case .signedAttributesMissing: "No signed attributes: the signature is over the content itself."
        case .sha1Digest: "SHA-1 as the digest algorithm, consistent in itself."
        case .attachedContent: "The CMS carries the signed content."
        case .secondSigner: "Two signers, both good."
        case .derEncoding: "Good: the CMS is DER; Apple's is BER with indefinite lengths."
        case .signatureFlipped: "A bit of the signature value is changed."
        case .signatureNotCMS: "`signature` is base64 of something else."
        case .dataFlipped: "A bit of `data` is changed after signing."
        case .transactionIDChanged: "`transactionId` is another one than was signed."
        case .applicationDataChanged: "`applicationData` is another one than was signed."
        case .unknownPublicKeyHash: "`publicKeyHash` names a key that nobody holds."
        case .versionUnknown: "`version` is EC_v2 or RSA_v2."
        case .versionMissing: "No `version`."
        case .headerMissing: "No `header`."
        case .dataDoubled: "`data` stands twice, first with other bytes."
        case .base64URL: "Good: `data` in the URL alphabet without padding."
        case .unknownMembers: "Good: members Apple has not defined, at every level."
        }
    }

    /// The problem that opening a token with this one defect must give; nil where it must open.
    public var expectedCode: String? {
        switch self {
        case .contentNotJSON, .contentNotUTF8, .contentNotAnObject, .contentDoubledMember: "payment_token.content_unexpected"
        case .wrongMerchantIdentifier, .nonceOf12Bytes, .tagFlipped, .tagTruncated: "payment_token.undecryptable"
        case .dataTooShort, .compressedPoint, .pointOffCurve, .versionMissing, .headerMissing, .dataDoubled: "payment_token.malformed"
        case .leafMarkerMissing, .intermediateMarkerMissing: "signature.marker_missing"
        case .leafExpired: "signature.chain_expired"
        case .leafNotYetValid: "signature.chain_not_yet_valid"
        case .leafForged: "signature.chain_invalid"
        case .untrustedRoot: "signature.untrusted_root"
        case .intermediateMissing: "signature.intermediate_missing"
        case .signedOneHourAgo: "signature.too_old"
        case .signedInTheFuture: "signature.in_the_future"
        case .signingTimeMissing, .signedAttributesMissing: "signature.signing_time_missing"
        case .signingTimeDoubled: "signature.signing_time_ambiguous"
        case .sha1Digest: "signature.algorithm_unsupported"
        case .attachedContent, .secondSigner, .signatureNotCMS: "signature.unparseable"
        case .signatureFlipped, .dataFlipped, .transactionIDChanged, .applicationDataChanged: "signature.invalid"
        case .unknownPublicKeyHash: "payment_token.key_unknown"
        case .versionUnknown: "payment_token.version_unsupported"
        case .sharedSecretLeadingZero, .transactionIDLeadingZero, .rootIncluded, .certificatesReversed, .derEncoding, .base64URL, .unknownMembers: nil
        }
    }

    /// Whether the tokens of such a key can have it.
    public func applies(to algorithm: KeyAlgorithm) -> Bool {
        switch self {
        case .wrongMerchantIdentifier, .sharedSecretLeadingZero, .compressedPoint, .pointOffCurve: algorithm == .ecP256
        default: true
        }
    }
}
