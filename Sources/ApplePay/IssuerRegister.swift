public import Cryptography
public import Problems

/// Judges issuers of payment processing certificates.
public final class IssuerRegister: Sendable {
    private let apple: ChainVerifier
    private let others: ChainVerifier?
    private let intermediates: [Certificate]

    /// - Parameters:
    ///   - issuers: Apple's issuer certificates that are newer than this program; one counts only if it chains to a pinned Apple root itself.
    ///   - anchors: authorities that are trusted beside Apple: in the sandbox only.
    public init(issuers: [Certificate] = [], anchors: [TrustAnchor] = []) throws(Problem) {
        self.apple = try ChainVerifier(anchors: [AppleTrustAnchors.rootCAG3.anchor(), AppleTrustAnchors.developerRelationsCAG2.anchor()])
        self.others = anchors.isEmpty ? nil : try ChainVerifier(anchors: anchors)
        self.intermediates = issuers
    }

    /// Judged at the certificate's own beginning: whether it is still valid is not the question.
    public func standing(of certificate: PaymentProcessingCertificate) -> IssuerStanding {
        let leaf = certificate.certificate
        if case .trusted = apple.verify(leaf: leaf, intermediates: intermediates, at: leaf.notBefore) { return .apple }
        if let others, case .trusted = others.verify(leaf: leaf, intermediates: intermediates, at: leaf.notBefore) { return .trusted }
        let isPinnedName = leaf.issuer == AppleTrustAnchors.developerRelationsCAG2.subject
        let namesApple = leaf.issuer.organization == "Apple Inc." && leaf.issuer.commonName?.hasPrefix("Apple ") == true
        return namesApple && !isPinnedName ? .namesApple : .unknown
    }
}
