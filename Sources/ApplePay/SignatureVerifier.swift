public import Cryptography
public import Encodings
public import Problems
import Synchronization

extension OID {
    /// In the certificate of a token's signer.
    static let tokenSigner: OID = "1.2.840.113635.100.6.29"
    /// In the certificate of the authority that issues token signers.
    static let tokenSignerIssuer: OID = "1.2.840.113635.100.6.2.14"
}

/// A payment token that a trusted signer signed, whole and lately. Only ``SignatureVerifier`` makes one, and only from one a key is used.
public struct VerifiedPaymentToken: Sendable {
    public let token: PaymentToken
    /// The signed signing time.
    public let signedAt: Timestamp
    /// The common name of the signer's certificate.
    public let signerCommonName: String
    /// Apple's sandbox signer.
    public let isSandboxSigner: Bool
    /// Where the signer's chain ends, by its place among the verifier's anchors.
    public let anchor: Int
    /// The token's own and the verifier's.
    public let warnings: [Warning]

    fileprivate init(token: PaymentToken, signedAt: Timestamp, signer: TokenSigner, anchor: Int, warnings: [Warning]) {
        self.token = token
        self.signedAt = signedAt
        self.signerCommonName = signer.commonName
        self.isSandboxSigner = signer.isSandbox
        self.anchor = anchor
        self.warnings = warnings
    }
}

/// Checks that a payment token was signed by a trusted signer, in the order that decides which problem is told first.
///
/// The first token of a signer costs a whole chain (1.3 ms, most of it the root's P-384 signature); the accepted pair of signer and issuer is
/// remembered with the time it was judged for, and each further token costs one signature. Only accepted pairs are remembered, at most
/// ``maximumRemembered``, so nothing that a stranger sends takes room. A forged signer falls before the root's signature is looked at.
///
/// Chains are judged at the signing time, not at the present: Apple's signers end, and their late tokens do not. That is safe because the signing
/// time is signed and held to the token's age.
/// - Source: Apple, "Payment token format reference"; RFC 5652, 5.4 and 5.6.
public final class SignatureVerifier: Sendable {
    private let chains: ChainVerifier
    private let remembered = Mutex<[AcceptedSigner]>([])

    /// Apple has had one signer for each algorithm and environment at a time.
    public static let maximumRemembered = 32

    /// - Parameter anchors: the roots that count: Apple's alone in production; in the sandbox also the installation's own and given ones.
    public init(anchors: [TrustAnchor]) throws(Problem) {
        self.chains = try ChainVerifier(anchors: anchors)
    }

    /// - Parameters:
    ///   - maximumAgeSeconds: how far the signing time may lie from `now`, on either side; nil: anywhere.
    /// - Throws: the first `signature.*` that holds, in the order of ``SignatureProblem``.
    public func verify(
        _ token: PaymentToken, at now: Timestamp, maximumAgeSeconds: Int?, rule: TokenEnvironmentRule
    ) throws(Problem) -> VerifiedPaymentToken {
        let signedData = try parse(token.signatureText)
        try checkAlgorithms(of: signedData, for: token.version.keyAlgorithm)
        let signedAt = try signingTime(of: signedData)
        try checkContent(of: signedData, is: token.signedContentDigest)

        let signer: TokenSigner
        let anchor: Int
        if let known = recall(signedData, at: signedAt), known.signer.algorithm == token.version.keyAlgorithm {
            signer = known.signer
            anchor = known.anchor
            try checkSignature(of: signedData, by: signer)
        } else {
            let chain = try SignerChain(in: signedData, for: token.version.keyAlgorithm)
            try chain.checkMarkers()
            try chain.checkDates(at: signedAt)
            signer = try TokenSigner(chain.leaf, chain.algorithm)
            try checkSignature(of: signedData, by: signer)
            anchor = try check(chain, at: signedAt)
            try remember(chain, signer, anchor: anchor)
        }

        var warnings = token.warnings
        if signer.isSandbox, case .production(let isStrict) = rule {
            guard !isStrict else {
                throw .signature(.environmentMismatch, context: [("signer", .text(signer.commonName))])
            }
            warnings.append(Warning(code: "sandbox_signer", detail: "The token was signed by Apple's sandbox, \(signer.commonName)."))
        }
        if let maximumAgeSeconds { try checkAge(signedAt, at: now, maximumAgeSeconds) }
        return VerifiedPaymentToken(token: token, signedAt: signedAt, signer: signer, anchor: anchor, warnings: warnings)
    }

    // MARK: - The steps

    private func parse(_ text: ArraySlice<UInt8>) throws(Problem) -> CMSSignedData {
        guard let bytes = Base64.decode(text) else { throw .signature(.unparseable, cause: "The signature of the payment token is not base64.") }
        guard !bytes.isEmpty else { throw .signature(.unparseable, cause: "The signature of the payment token is empty.") }
        if bytes.starts(with: "-----BEGIN".utf8) {
            throw .signature(.unparseable, cause: "The signature of the payment token is base64 of PEM text instead of the CMS itself.")
        }
        do {
            return try CMSSignedData(parsing: bytes)
        } catch {
            let what =
                switch error {
                case .malformed(let error) where error.reason == .truncated: "is cut off at byte \(error.offset)"
                case .malformed(let error): "is not a CMS SignedData: it breaks the form at byte \(error.offset)"
                case .notSignedData: "is a CMS of another type than SignedData"
                case .attachedContent: "carries content of its own"
                case .noCertificates: "carries no certificate"
                case .signers(let count): "has \(count) signers instead of one"
                case .attributesNotDER: "has signed attributes that are not in DER"
                case .trailingBytes(let offset): "has bytes after its end, from byte \(offset) on"
                }
            // The certificates' absence has a code of its own, whether one of the two is missing or both.
            if error == .noCertificates { throw .signature(.intermediateMissing, cause: "The signature carries no certificate.") }
            throw .signature(.unparseable, cause: "The signature of the payment token \(what).", underlying: "\(error)")
        }
    }

    /// SHA-256, and the signature that belongs to the token's version. `rsaEncryption` is the older name for RSA under any digest (RFC 3370, 3.2).
    private func checkAlgorithms(of signedData: CMSSignedData, for algorithm: KeyAlgorithm) throws(Problem) {
        let accepted: [OID] =
            switch algorithm {
            case .ecP256: [.ecdsaWithSHA256]
            case .rsa2048: [.sha256WithRSA, .rsaEncryption]
            }
        let (digest, signature) = (signedData.digestAlgorithm, signedData.signatureAlgorithm)
        guard digest.oid == .sha256, digest.isPlain, accepted.contains(signature.oid), signature.isPlain else {
            throw .signature(
                .algorithmUnsupported,
                context: [
                    ("digest", .text(digest.oid.description)), ("signature", .text(signature.oid.description)), ("version", .text(algorithm.tokenVersion)),
                ])
        }
    }

    private func signingTime(of signedData: CMSSignedData) throws(Problem) -> Timestamp {
        guard signedData.signedAttributes != nil else {
            throw .signature(.signingTimeMissing, cause: "The signature has no signed attributes, and so does not say when it was made.")
        }
        switch signedData.signingTime {
        case .absent: throw .signature(.signingTimeMissing)
        case .several: throw .signature(.signingTimeAmbiguous)
        case .one(let time): return time
        }
    }

    private func checkContent(of signedData: CMSSignedData, is digest: Digest256) throws(Problem) {
        guard signedData.contentType == .one(.data), signedData.protectsAlgorithms == .absent || signedData.protectsAlgorithms == .one(true),
            case .one(let range) = signedData.messageDigest, Digest256(signedData.bytes[range]) == digest
        else { throw .signature(.invalid) }
    }

    private func checkSignature(of signedData: CMSSignedData, by signer: TokenSigner) throws(Problem) {
        guard let digest = signedData.signedAttributesDigest, signer.isValid(signature: signedData.signature, over: digest) else {
            throw .signature(.invalid, cause: "The signature was not made with the key of the signer's certificate.")
        }
    }

    /// The issuer's signature on the leaf first: whoever forges a signer is told so without the cost of the root's.
    private func check(_ chain: SignerChain, at time: Timestamp) throws(Problem) -> Int {
        guard chains.isSigned(chain.leaf, by: chain.issuer.spki) else { throw .signature(.chainInvalid) }
        switch chains.verify(leaf: chain.leaf, intermediates: [chain.issuer], at: time) {
        case .trusted(let anchor): return anchor
        case .expired: throw .signature(.chainExpired)
        case .notYetValid: throw .signature(.chainNotYetValid)
        // The leaf's signature is known to be good, so it is the issuer's own that no root of ours made.
        case .untrustedRoot, .badSignature: throw .signature(.untrustedRoot, context: [("root", .text(chain.issuer.issuer.description))])
        case .unreadable: throw .signature(.chainInvalid, cause: "A certificate in the signature cannot be read.")
        case .refused(let reason):
            throw .signature(.chainInvalid, cause: "The certificates in the signature break a rule of certificate chains.", underlying: reason)
        }
    }

    private func checkAge(_ signedAt: Timestamp, at now: Timestamp, _ maximumAgeSeconds: Int) throws(Problem) {
        let age = now.milliseconds - signedAt.milliseconds
        guard abs(age) > Int64(clamping: maximumAgeSeconds) * 1000 else { return }
        throw .signature(
            age > 0 ? .tooOld : .inTheFuture,
            context: [
                ("signed_at", .text(signedAt.rfc3339)), ("server_time", .text(now.rfc3339)), ("max_token_age_seconds", .number(maximumAgeSeconds)),
            ])
    }

    // MARK: - Accepted signers

    private func recall(_ signedData: CMSSignedData, at time: Timestamp) -> AcceptedSigner? {
        remembered.withLock { remembered in
            guard let index = remembered.firstIndex(where: { $0.isPair(in: signedData, at: time) }) else { return nil }
            let found = remembered[index]
            if index > 0 { remembered.swapAt(index, index - 1) }
            return found
        }
    }

    private func remember(_ chain: SignerChain, _ signer: TokenSigner, anchor: Int) throws(Problem) {
        let root = chains.anchors[anchor].certificate
        let fresh = AcceptedSigner(chain, signer, root: root, anchor: anchor)
        let isFirst = remembered.withLock { remembered in
            guard !remembered.contains(where: { $0.leaf == fresh.leaf && $0.issuer == fresh.issuer }) else { return false }
            // What is used moves forward, so the last is the one least used.
            if remembered.count == SignatureVerifier.maximumRemembered { remembered.removeLast() }
            remembered.append(fresh)
            return true
        }
        guard isFirst else { return }
        // Tabling takes 30 ms: outside the lock, and by the one thread that came first.
        let tabled = AcceptedSigner(chain, try signer.tabled(), root: root, anchor: anchor)
        remembered.withLock { remembered in
            if let index = remembered.firstIndex(where: { $0 === fresh }) { remembered[index] = tabled }
        }
    }
}

/// A signer's name and key, ready to check signatures.
private struct TokenSigner: Sendable {
    private enum Key {
        case p256(P256.VerificationKey)
        case rsa(RSA.VerificationKey)
    }

    private let key: Key
    let commonName: String
    let isSandbox: Bool
    let algorithm: KeyAlgorithm

    /// - Throws: `signature.algorithm_unsupported` when the certificate's key is no key of its kind: a point off the curve, an odd RSA exponent.
    init(_ certificate: Certificate, _ algorithm: KeyAlgorithm) throws(Problem) {
        do throws(Problem) {
            self.key =
                switch algorithm {
                case .ecP256: .p256(try P256.VerificationKey(spki: certificate.spki))
                case .rsa2048: .rsa(try RSA.VerificationKey(spki: certificate.spki))
                }
        } catch {
            throw error.retryable ? error : .signature(.algorithmUnsupported, cause: "The signer's certificate holds no usable key.")
        }
        self.algorithm = algorithm
        self.commonName = certificate.subject.commonName ?? certificate.subject.description
        self.isSandbox = commonName.uppercased().contains("SANDBOX")
    }

    private init(_ other: TokenSigner, key: Key) {
        self.key = key
        self.algorithm = other.algorithm
        self.commonName = other.commonName
        self.isSandbox = other.isSandbox
    }

    /// The same signer with its key's multiples at hand, where that helps.
    func tabled() throws(Problem) -> TokenSigner {
        guard case .p256(let key) = key else { return self }
        return TokenSigner(self, key: .p256(try P256.VerificationKey(spki: key.publicKey.spki, tabled: true)))
    }

    func isValid(signature: ArraySlice<UInt8>, over digest: Digest256) -> Bool {
        switch key {
        case .p256(let key): key.isValid(signature: signature, over: digest)
        case .rsa(let key): key.isValid(signature: signature, over: digest)
        }
    }
}

/// The signer's certificate and its issuer's, as a signature carries them: named, and not believed yet.
private struct SignerChain {
    let leaf: Certificate
    let issuer: Certificate
    let algorithm: KeyAlgorithm

    /// - Throws: `signature.intermediate_missing`; `.algorithm_unsupported` when the signer's key is not of the token's algorithm.
    init(in signedData: CMSSignedData, for algorithm: KeyAlgorithm) throws(Problem) {
        var certificates: [Certificate] = []
        for range in signedData.certificates {
            guard let certificate = try? Certificate(der: Array(signedData.bytes[range])) else {
                throw .signature(.unparseable, cause: "A certificate in the signature cannot be read.")
            }
            certificates.append(certificate)
        }
        guard let leaf = certificates.first(where: signedData.isSigner) else {
            throw .signature(.intermediateMissing, cause: "The signature does not carry the certificate of its signer.")
        }
        switch (algorithm, leaf.keyKind) {
        case (.ecP256, .p256), (.rsa2048, .rsa(bits: 2048)): break
        default: throw .signature(.algorithmUnsupported, cause: "The signer's key is not of the algorithm that signs \(algorithm.tokenVersion) tokens.")
        }
        // By name, and never the leaf as its own issuer. Among several of the name, the one with the marker is meant.
        let issuers = certificates.filter { $0.subject == leaf.issuer && $0 != leaf }
        guard let issuer = issuers.first(where: { $0.hasExtension(.tokenSignerIssuer) }) ?? issuers.first else {
            throw .signature(
                .intermediateMissing, cause: "The signature does not carry the certificate of its signer's issuer.",
                context: [("issuer", .text(leaf.issuer.description))])
        }
        self.leaf = leaf
        self.issuer = issuer
        self.algorithm = algorithm
    }

    /// On the signer's own certificate and on its issuer's: that some certificate carries them says nothing.
    func checkMarkers() throws(Problem) {
        for (certificate, marker) in [(leaf, OID.tokenSigner), (issuer, OID.tokenSignerIssuer)] where !certificate.hasExtension(marker) {
            throw .signature(
                .markerMissing, context: [("certificate", .text(certificate.subject.description)), ("marker", .text(marker.description))])
        }
    }

    func checkDates(at time: Timestamp) throws(Problem) {
        for certificate in [leaf, issuer] where time < certificate.notBefore || certificate.notAfter < time {
            throw .signature(
                time < certificate.notBefore ? .chainNotYetValid : .chainExpired,
                context: [
                    ("certificate", .text(certificate.subject.description)), ("not_before", .text(certificate.notBefore.rfc3339)),
                    ("not_after", .text(certificate.notAfter.rfc3339)), ("signed_at", .text(time.rfc3339)),
                ])
        }
    }
}

/// A pair of certificates that was accepted: what it was, and for which signing times.
private final class AcceptedSigner: Sendable {
    let leaf: Certificate
    let issuer: Certificate
    let signer: TokenSigner
    let anchor: Int
    private let validity: ClosedRange<Timestamp>

    /// All three certificates have been valid at one time, so that the range is never empty.
    init(_ chain: SignerChain, _ signer: TokenSigner, root: Certificate, anchor: Int) {
        leaf = chain.leaf
        issuer = chain.issuer
        self.signer = signer
        self.anchor = anchor
        let start = max(leaf.notBefore, issuer.notBefore, root.notBefore)
        validity = start...max(start, min(leaf.notAfter, issuer.notAfter, root.notAfter))
    }

    /// Whether `signedData` carries exactly this pair, names this leaf as its signer, and was signed while all of the chain was valid.
    func isPair(in signedData: CMSSignedData, at time: Timestamp) -> Bool {
        validity.contains(time) && carries(signedData, leaf) && carries(signedData, issuer) && signedData.isSigner(leaf)
    }

    private func carries(_ signedData: CMSSignedData, _ certificate: Certificate) -> Bool {
        signedData.certificates.contains { range in
            range.count == certificate.der.count && signedData.bytes[range].elementsEqual(certificate.der)
        }
    }
}
