/// What kind of key pair a payment processing certificate stands for, and with it which tokens Apple makes for it.
public enum KeyAlgorithm: String, Sendable, CaseIterable, Hashable {
    /// P-256: `EC_v1` tokens, most of the world.
    case ecP256 = "ec_p256"
    /// RSA of 2048 bits: `RSA_v1` tokens, China mainland.
    case rsa2048 = "rsa_2048"

    /// Apple's name for the tokens that such a key opens.
    public var tokenVersion: String {
        switch self {
        case .ecP256: "EC_v1"
        case .rsa2048: "RSA_v1"
        }
    }
}
