/// Which of Apple's worlds a registration, a key and a credential belong to. The two share no key, no replay mark and no credential.
public enum Environment: String, Sendable, CaseIterable, Hashable {
    case sandbox
    case production
}
