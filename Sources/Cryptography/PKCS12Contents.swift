internal import Encodings
public import Problems

/// What a `.p12` file held, in the file's order, each thing once.
public struct PKCS12Contents: Sendable {
    /// The private keys of the kinds this house uses: P-256 and RSA.
    public internal(set) var keys: [PrivateKey] = []
    /// What kinds the other private keys are of ("P-384", "DSA", …).
    public internal(set) var otherKeyKinds: [String] = []
    /// The X.509 certificates. Order, friendlyName and localKeyID mean nothing: see ``identities``.
    public internal(set) var certificates: [Certificate] = []
    /// Certificates that cannot be read.
    public internal(set) var unreadableCertificates = 0
    /// The file's parts, counted.
    public internal(set) var bagSummary = PKCS12BagSummary()
    public internal(set) var warnings: [PKCS12Warning] = []

    /// Each private key with the certificates made for it, matched by public key.
    public var identities: [(key: PrivateKey, certificates: [Certificate])] {
        keys.map { key in (key, certificates.filter { $0.spkiHash == key.spkiHash }) }
    }

    /// Throws where the file holds no private key at all, or no certificate: one row too few was selected when it was exported.
    public func requireKeyAndCertificate() throws(Problem) {
        let found: [(name: String, value: ContextValue)] = [
            ("private_keys", .number(keys.count + otherKeyKinds.count)), ("certificates", .number(certificates.count + unreadableCertificates)),
        ]
        if keys.isEmpty && otherKeyKinds.isEmpty {
            let isEmpty = certificates.isEmpty && unreadableCertificates == 0
            let subjects = certificates.prefix(5).map { ContextValue.text($0.subject.description) }
            throw .pkcs12(
                .noPrivateKey, cause: isEmpty ? "This .p12 file holds neither a private key nor a certificate." : nil,
                context: found + (subjects.isEmpty ? [] : [("certificate_subjects", .list(subjects))]))
        }
        if certificates.isEmpty && unreadableCertificates == 0 {
            let hashes = keys.prefix(5).map { ContextValue.text($0.spkiHash.base64) }
            throw .pkcs12(.noCertificate, context: found + (hashes.isEmpty ? [] : [("public_key_hashes", .list(hashes))]))
        }
    }
}

/// How many of what a `.p12` file is made of.
public struct PKCS12BagSummary: Sendable, Equatable {
    public internal(set) var safes = 0
    public internal(set) var plainKeys = 0
    public internal(set) var shroudedKeys = 0
    public internal(set) var certificates = 0
    /// Revocation lists, secrets, and kinds unknown.
    public internal(set) var others = 0
}

/// What is odd about a file that opens all the same.
public enum PKCS12Warning: String, Sendable, CaseIterable {
    case noIntegrityProtection = "no_integrity_protection"

    /// One sentence for the reader.
    public var detail: String {
        switch self {
        case .noIntegrityProtection: "The .p12 file carries no integrity check (MAC), so a change made to it on its way here could not be seen."
        }
    }
}
