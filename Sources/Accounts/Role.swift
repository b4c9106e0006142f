/// What a credential is for (`design.md` §4).
public enum Role: String, Sendable, CaseIterable {
    /// A staff program.
    case `operator`
    case merchant
    case paymentService = "payment_service"
    case auditor
}
