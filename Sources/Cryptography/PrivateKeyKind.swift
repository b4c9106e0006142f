internal import Encodings
internal import Secrets

/// What kind of private key a PrivateKeyInfo holds, for the sentence that refuses it.
enum PrivateKeyKind: Equatable, CustomStringConvertible {
    case rsa(bits: Int)
    case ec(curve: OID?)
    case other(OID)
    case unreadable

    /// - Source: RFC 5958 §2, RFC 5915, RFC 8017 appendix A.1.2.
    init(pkcs8: SecretBytes) {
        var bytes = pkcs8.copyExposed()  // wiped below
        defer { wipe(&bytes) }
        self = (try? Self.read(bytes)) ?? .unreadable
    }

    private static func read(_ bytes: [UInt8]) throws(DERError) -> PrivateKeyKind {
        var outer = DERReader(bytes, rules: .ber)
        var info = try outer.enter(.sequence)
        _ = try info.smallInteger()
        var algorithm = try info.enter(.sequence)
        switch try algorithm.objectIdentifier() {
        case .ecPublicKey: return .ec(curve: algorithm.nextTag == .objectIdentifier ? try algorithm.objectIdentifier() : nil)
        case .rsaEncryption:
            let content = try info.octetString()
            var wrapped = DERReader(bytes, in: content, rules: .ber)
            var key = try wrapped.enter(.sequence)
            _ = try key.smallInteger()
            let modulus = try key.unsignedInteger()
            return .rsa(bits: modulus.count * 8 - (bytes[modulus].first?.leadingZeroBitCount ?? 0))
        case let name: return .other(name)
        }
    }

    var description: String {
        switch self {
        case .rsa(let bits): "RSA \(bits)"
        case .ec(.some(.p256)): "P-256"
        case .ec(.some(.p384)): "P-384"
        case .ec(.some(.p521)): "P-521"
        case .ec(.some(let curve)): "EC on curve \(curve)"
        case .ec(nil): "EC on an unnamed curve"
        case .other("1.2.840.10040.4.1"): "DSA"
        case .other("1.2.840.113549.1.3.1"): "Diffie-Hellman"
        case .other("1.3.101.110"): "X25519"
        case .other("1.3.101.112"): "Ed25519"
        case .other("1.3.101.113"): "Ed448"
        case .other("1.2.840.113549.1.1.10"): "RSA-PSS"
        case .other(let name): "of algorithm \(name)"
        case .unreadable: "unreadable"
        }
    }
}
