internal import CLibcrypto
public import Encodings
public import Problems

/// What can be wrong with a certification request somebody sends us.
public enum CertificationRequestProblem: String, ProblemEntry {
    case malformed = "certificate.request_malformed"
    case signatureInvalid = "certificate.request_signature_invalid"

    public var page: ProblemPage {
        switch self {
        case .malformed:
            .init(
                .invalid, cause: "This is not a readable certification request (PKCS#10, in PEM or DER).",
                fix: "Download the certification request again and send it unchanged.")
        case .signatureInvalid:
            .init(
                .invalid, cause: "This certification request is not signed with the key it names.",
                fix: "Make a new certification request.")
        }
    }
}

/// A certification request (CSR): a public key, a name, and the proof that whoever made it has the private key.
/// - Source: RFC 2986 (PKCS#10), RFC 5480, RFC 3279.
public struct CertificationRequest: Sendable {
    public let der: [UInt8]
    public let subject: DistinguishedName
    /// DER SubjectPublicKeyInfo.
    public let spki: [UInt8]
    public let signatureAlgorithm: OID
    public let signature: [UInt8]
    /// What the signature is over: a range of ``der``.
    private let toBeSigned: Range<Int>

    /// SHA-256 of ``spki``: Apple's `publicKeyHash`.
    public var spkiHash: Digest256 { SHA256.digest(spki) }
    /// PEM, one line end behind the last line.
    public var pem: String { PEM.encode(der, label: "CERTIFICATE REQUEST") }

    /// The request for a payment processing certificate of `merchantIdentifier`: UID, then CN, SHA-256 under ECDSA or RSA PKCS#1.
    ///
    /// Apple puts its own subject into the certificate; ours tells people and portals what the file is. RSA asks for China mainland's certificate.
    public static func make(
        for key: PrivateKey, merchantIdentifier: String, commonName: String = "Apple Pay Payment Processing"
    ) throws(Problem) -> [UInt8] {
        let subject = DistinguishedName([.init(.userID, merchantIdentifier), .init(.commonName, commonName)])
        let body = DERWriter.sequence {
            $0.integer(0)  // v1, the only one
            $0.raw(subject.encoded)
            $0.raw(key.spki)
            $0.constructed(.context(0)) { _ in }  // attributes: must be there, may be empty
        }
        let (algorithm, signature) = try key.proofOfPossession(over: body)
        return DERWriter.sequence {
            $0.raw(body)
            $0.sequence {
                $0.objectIdentifier(algorithm)
                if algorithm != .ecdsaWithSHA256 { $0.null() }  // RFC 3279: NULL for RSA, absent for ECDSA
            }
            $0.bitString(signature)
        }
    }

    /// Reads PEM or DER.
    /// - Throws: `certificate.request_malformed`.
    public init(parsing bytes: [UInt8]) throws(Problem) {
        guard case .certificationRequest(let request) = FileRecognizer.recognise(bytes).kind else { throw Problem(CertificationRequestProblem.malformed) }
        self = request
    }

    /// - Throws: `certificate.request_malformed`.
    public init(der: [UInt8]) throws(Problem) {
        do throws(DERError) {
            try self.init(walking: der)
        } catch {
            throw Problem(CertificationRequestProblem.malformed, context: [("offset", .number(error.offset))], underlying: error.description)
        }
    }

    private init(walking der: [UInt8]) throws(DERError) {
        var reader = DERReader(der)
        var request = try reader.enter(.sequence)
        try reader.finish()
        let body = try request.next(.sequence)
        var info = try request.inside(body)
        guard try info.smallInteger() == 0 else { throw DERError(.value, at: body.content.lowerBound) }
        subject = try DistinguishedName(reading: &info)
        spki = Array(der[try info.next(.sequence).whole])
        // Old tools leave the empty attributes out.
        _ = try info.nextIfPresent(.context(0))
        try info.finish()
        var algorithm = try request.enter(.sequence)
        signatureAlgorithm = try algorithm.objectIdentifier()
        if !algorithm.isAtEnd { try algorithm.null() }
        try algorithm.finish()
        signature = Array(der[try request.bitStringOfBytes()])
        try request.finish()
        toBeSigned = body.whole
        self.der = der
    }

    /// Whether the request is signed with the private key of the public key in it, by ECDSA or RSA PKCS#1 with SHA-256 or a longer SHA-2.
    public func isSelfSigned() -> Bool {
        guard let key = PKey(spki: spki), let (kind, bits) = ChainVerifier.scheme(signatureAlgorithm), unsafe EVP_PKEY_is_a(key.raw, kind) == 1 else {
            return false
        }
        return unsafe key.isValid(signature: signature, over: der[toBeSigned], digest: Algorithms.sha2(bits))
    }

    /// Throws `certificate.request_signature_invalid` unless ``isSelfSigned()``.
    public func requireProofOfPossession() throws(Problem) {
        guard isSelfSigned() else { throw Problem(CertificationRequestProblem.signatureInvalid) }
    }
}
