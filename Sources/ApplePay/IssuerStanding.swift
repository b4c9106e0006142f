import Cryptography
public import Problems

/// Who issued a certificate, as far as signatures prove it.
public enum IssuerStanding: Sendable, Equatable {
    /// A pinned Apple authority, by signature, directly or through a given issuer certificate that chains to a pinned Apple root.
    case apple
    /// A trusted authority that is not Apple: the sandbox's own, or a root given for the sandbox.
    case trusted
    /// The issuer's name is one of Apple's for this use, but no certificate of it is at hand: a newer generation, or a claim.
    case namesApple
    /// Anyone else; also who bears the name of a pinned authority and signs with another key.
    case unknown
}

extension Environment {
    /// What an issuer's standing means here: a warning, or none.
    ///
    /// Production takes Apple's issuers, and with a warning those that name Apple; the sandbox takes all.
    /// - Throws: `certificate.not_from_apple`.
    public func admit(_ standing: IssuerStanding, of certificate: PaymentProcessingCertificate) throws(Problem) -> [Warning] {
        let issuer = certificate.certificate.issuer.description
        switch (self, standing) {
        case (_, .apple), (.sandbox, .trusted): return []
        case (.sandbox, _):
            return [Warning(code: "issuer_unknown", detail: "The certificate's issuer, \(issuer), is not known; tokens are opened all the same.")]
        case (.production, .namesApple):
            return [
                Warning(
                    code: "issuer_unknown",
                    detail: "The issuer, \(issuer), names Apple but is not known yet; the operator can add its certificate as issuer_certificates.")
            ]
        case (.production, .trusted), (.production, .unknown): throw .certificate(.notFromApple, context: [("issuer", .text(issuer))])
        }
    }
}
