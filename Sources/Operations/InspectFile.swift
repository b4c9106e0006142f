public import ApplePay
import Cryptography
public import Encodings
import KeyStore
public import Problems

/// What a file is, what stands in it, and the code it would get. Nothing is stored.
public struct Inspection: Sendable {
    /// `certificate`, `pkcs12`, `payment_token`, …
    public let kind: String
    /// What was taken off to reach the content: `pem`, `base64`, …
    public let wrappers: [String]
    /// In the order in which a reader wants them. No secret, no account data.
    public let facts: [(name: String, value: String)]
    /// Why it would not be taken; nil where it would.
    public let problem: Problem?
    /// Codes of the warnings it would be taken with.
    public let warnings: [String]
}

/// Looks at a file without a store: what `coster inspect` shows.
public struct FileInspector: Sendable {
    private let settings: Settings
    private let issuers: IssuerRegister
    private let verifier: SignatureVerifier

    public init(settings: Settings) throws(Problem) {
        self.settings = settings
        issuers = try IssuerRegister(issuers: settings.issuerCertificates, anchors: settings.sandboxAnchors)
        verifier = try SignatureVerifier(anchors: [try AppleTrustAnchors.rootCAG3.anchor()] + settings.sandboxAnchors)
    }

    /// - Parameter identifier: for whom it would be taken; nil: whomever it names.
    public func inspect(_ upload: Upload, for identifier: MerchantIdentifier?, at now: Timestamp) -> Inspection {
        let file = FileRecognizer.recognise(upload.content)
        var facts: [(name: String, value: String)] = []
        var problem: Problem?
        var warnings: [String] = []
        func attempt(_ body: () throws(Problem) -> Void) {
            do throws(Problem) { try body() } catch { problem = problem ?? error }
        }
        switch file.kind {
        case .paymentTokenJSON(let bytes):
            attempt { () throws(Problem) in
                let token = try PaymentToken(parsing: bytes)
                facts += describe(token)
                let verified = try verifier.verify(token, at: now, maximumAgeSeconds: nil, rule: .sandbox)
                facts += [("signed_at", verified.signedAt.rfc3339), ("signer", verified.signerCommonName)]
                warnings += verified.warnings.map(\.code)
                // What is said of it is there whatever its age; what it would get depends on that too.
                _ = try verifier.verify(token, at: now, maximumAgeSeconds: Registration.defaultMaximumTokenAgeSeconds, rule: .sandbox)
            }
        case .certificationRequest(let request):
            facts += [("subject", request.subject.description), ("public_key_hash", SHA256.digest(request.spki).base64)]
            problem = Problem(CryptographyProblem.notACertificate, context: [("found", .text(file.kind.name))])
        case .pkcs12(let bytes):
            attempt { () throws(Problem) in
                let contents = try PKCS12.open(bytes, password: upload.password, keyPassword: upload.keyPassword)
                facts += [("private_keys", String(contents.keys.count + contents.otherKeyKinds.count)), ("certificates", String(contents.certificates.count))]
                for key in contents.keys.prefix(20) { facts.append(("private_key_public_key_hash", key.spkiHash.base64)) }
                for certificate in contents.certificates.prefix(20) { facts += describe(certificate) }
            }
            attempt { () throws(Problem) in warnings += try judge(upload, for: identifier, at: now) }
        case .publicKey, .json, .javaKeystore, .html, .archive, .damagedAsText, .truncated, .empty, .unknown, .privateKey, .certificate, .pkcs7:
            for certificate in file.certificates.prefix(20) { facts += describe(certificate) }
            attempt { () throws(Problem) in warnings += try judge(upload, for: identifier, at: now) }
        }
        return Inspection(kind: file.kind.name, wrappers: file.wrappers.map(\.rawValue), facts: facts, problem: problem, warnings: warnings)
    }

    private func judge(_ upload: Upload, for identifier: MerchantIdentifier?, at now: Timestamp) throws(Problem) -> [String] {
        let candidate = try ImportReader(settings: settings, issuers: issuers).read(upload, for: identifier, in: .sandbox)
        return candidate.warnings + candidate.certificate.warnings(at: now).map(\.code)
    }

    private func describe(_ certificate: Certificate) -> [(name: String, value: String)] {
        [
            ("subject", certificate.subject.description), ("issuer", certificate.issuer.description), ("serial_number", certificate.serialHex),
            ("not_before", certificate.notBefore.rfc3339), ("expires_at", certificate.notAfter.rfc3339),
            ("public_key_hash", certificate.spkiHash.base64), ("fingerprint_sha256", certificate.fingerprint.hex),
        ]
    }

    private func describe(_ token: PaymentToken) -> [(name: String, value: String)] {
        [
            ("version", token.version.name), ("public_key_hash", token.publicKeyHash.base64), ("transaction_id", Hex.encode(token.transactionId)),
        ]
    }
}
