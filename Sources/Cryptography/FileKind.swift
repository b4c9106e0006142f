/// What a file is, by its content. Names and extensions are not asked: `.cer` may be PEM and `.pem` DER.
public enum FileKind: Sendable {
    /// An X.509 certificate; where the file holds several, the first that is no CA's.
    case certificate(Certificate)
    /// A PKCS#7 bundle (SignedData) and the certificates in it.
    case pkcs7([Certificate])
    /// A `.p12`, in DER or BER, maybe cut off: ``PKCS12/open(_:password:keyPassword:limits:)`` says so.
    case pkcs12([UInt8])
    case certificationRequest(CertificationRequest)
    /// A private key that no `.p12` protects. Whatever else the file holds, this is said first; the key itself is not handed on.
    case privateKey(form: PrivateKeyForm, isEncrypted: Bool)
    case publicKey
    /// A payment token, or JSON that carries one: UTF-8 text.
    case paymentTokenJSON([UInt8])
    /// Other JSON.
    case json
    /// JKS or JCEKS. (Java's PKCS#12 keystores are ``pkcs12(_:)``.)
    case javaKeystore
    /// HTML or other markup, often a portal's error page saved under the certificate's name.
    case html
    /// ZIP, gzip and the like.
    case archive
    /// Binary that was read and written as text: its bytes are replaced (`EF BF BD`) and cannot be got back.
    case damagedAsText
    /// Begins as a certificate or key file does, and ends too early.
    case truncated
    /// No bytes, or blanks only.
    case empty
    case unknown

    /// For machines: snake_case, never reworded.
    public var name: String {
        switch self {
        case .certificate: "certificate"
        case .pkcs7: "pkcs7"
        case .pkcs12: "pkcs12"
        case .certificationRequest: "certificate_signing_request"
        case .privateKey: "private_key"
        case .publicKey: "public_key"
        case .paymentTokenJSON: "payment_token"
        case .json: "json"
        case .javaKeystore: "java_keystore"
        case .html: "html"
        case .archive: "archive"
        case .damagedAsText: "damaged_as_text"
        case .truncated: "truncated"
        case .empty: "empty"
        case .unknown: "unknown"
        }
    }
}

/// How a private key outside a `.p12` is written.
public enum PrivateKeyForm: String, Sendable {
    case pkcs8, sec1, pkcs1, dsa, openssh, putty, jwk
    /// Armour that says PRIVATE KEY around something else.
    case other
}

/// What was taken off before the content was reached, in order.
public enum FileWrapper: String, Sendable {
    case byteOrderMark = "byte_order_mark"
    case utf16
    case pem
    /// Text before, between or after the armour.
    case surroundingText = "surrounding_text"
    case carriageReturns = "carriage_returns"
    case base64
    /// The quotes of a JSON string.
    case quotes
}

/// A file, recognised.
public struct RecognisedFile: Sendable {
    public let kind: FileKind
    public let wrappers: [FileWrapper]
    /// Every certificate in the file, whatever its kind, in order (those inside a `.p12` excepted).
    public let certificates: [Certificate]
}
