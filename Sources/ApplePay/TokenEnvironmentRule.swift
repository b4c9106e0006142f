/// What the environment of a registration asks of a token's signer. Apple signs sandbox and production tokens under one root; only the signer's name
/// tells them apart.
public enum TokenEnvironmentRule: Sendable, Hashable {
    /// A signer whose common name contains `SANDBOX` is refused (`strictSigner`), or gets a warning.
    case production(strictSigner: Bool)
    /// Takes both.
    case sandbox
}
