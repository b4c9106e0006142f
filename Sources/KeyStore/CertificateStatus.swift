/// Where a certificate record stands. The raw values are what is stored and shown.
///
/// *Active* says what Apple encrypts to, as far as we know; it never switches our decryption. A key is chosen by `publicKeyHash`, by nothing else.
public enum CertificateStatus: String, Sendable, CaseIterable {
    case awaitingCertificate = "awaiting_certificate"
    case staged
    case active
    case retiring
    case retired
    case destroyed
    case cancelled

    /// Whether a token to this key is opened: the certificate is held and the key is not destroyed.
    public var opensTokens: Bool {
        switch self {
        case .staged, .active, .retiring, .retired: true
        case .awaitingCertificate, .cancelled, .destroyed: false
        }
    }
}

/// What can be done to a certificate record. These are all the ways its status changes.
public enum CertificateVerb: String, Sendable, CaseIterable {
    case upload
    case cancel
    case activate
    case reinstate
    case retire
    case destroy
    /// Not for callers: another certificate of the same algorithm became active.
    case supersede
    /// Not for callers: the certificate of a cancelled request can no longer be expected.
    case expire
}

/// What a verb does to a status.
public enum CertificateTransition: Sendable, Equatable {
    case becomes(CertificateStatus)
    /// The verb has been done already: answered with the record, nothing changes.
    case alreadyDone
    case refused
}

extension CertificateStatus {
    /// The whole state machine.
    /// - Parameter compromised: whether the key is flagged so; it opens the way from every status to `destroyed`.
    public func transition(_ verb: CertificateVerb, compromised: Bool) -> CertificateTransition {
        switch (verb, self) {
        case (.upload, .awaitingCertificate), (.upload, .cancelled): .becomes(.staged)
        case (.upload, .staged), (.upload, .active), (.upload, .retiring), (.upload, .retired): .alreadyDone
        case (.cancel, .awaitingCertificate): .becomes(.cancelled)
        case (.cancel, .cancelled): .alreadyDone
        case (.activate, .staged): .becomes(.active)
        case (.activate, .active), (.reinstate, .active): .alreadyDone
        case (.reinstate, .retiring), (.reinstate, .retired): .becomes(.active)
        case (.supersede, .active): .becomes(.retiring)
        case (.retire, .retiring): .becomes(.retired)
        case (.retire, .retired): .alreadyDone
        case (.destroy, .destroyed): .alreadyDone
        case (.destroy, .retired), (.expire, .cancelled): .becomes(.destroyed)
        case (.destroy, _): compromised ? .becomes(.destroyed) : .refused
        default: .refused
        }
    }
}
