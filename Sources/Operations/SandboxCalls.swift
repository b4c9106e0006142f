public import Accounts
public import ApplePay
import AuditTrail
import Cryptography
import Database
public import Encodings
import KeyStore
public import Problems

/// Which public key a minted token is to be encrypted to.
public struct MintingTarget: Sendable {
    public let merchantIdentifier: MerchantIdentifier
    /// DER SubjectPublicKeyInfo.
    public let spki: [UInt8]
    public let algorithm: KeyAlgorithm
    public let publicKeyHash: Digest256
}

/// What the sandbox asks of the rest of the house.
extension Operations {
    /// - Parameters:
    ///   - certificate: the one meant; nil: the active one of that algorithm, else the newest staged.
    ///   - algorithm: nil: whatever there is, P-256 first.
    /// - Throws: `credential.environment_mismatch`, `merchant_identifier.*`, `certificate.unknown`, `certificate.none_to_mint_for`.
    public func mintingTarget(
        merchantIdentifier reference: String, certificate: CertificateID?, algorithm: KeyAlgorithm?, under grant: Grant<UseSandbox>
    ) throws(Problem) -> MintingTarget {
        try grant.require(.sandbox)
        let scope = scope(grant)
        let record = try database.read { connection throws(Problem) in
            let registration = try keyStore.registrations.resolve(reference, in: scope, connection)
            let records = try keyStore.certificates(of: registration.id, connection).filter { $0.certificate != nil && $0.status.opensTokens }
            if let certificate {
                guard let named = records.first(where: { $0.id == certificate }) else { throw Problem(KeyStoreProblem.certificateUnknown) }
                return named
            }
            for wanted in algorithm.map({ [$0] }) ?? KeyAlgorithm.allCases {
                let fitting = records.filter { $0.keyAlgorithm == wanted }
                if let best = fitting.last(where: { $0.status == .active }) ?? fitting.last(where: { $0.status == .staged }) { return best }
            }
            throw .operation(.noCertificateToMintFor)
        }
        guard let der = record.certificate else { throw .operation(.noCertificateToMintFor) }
        return MintingTarget(
            merchantIdentifier: record.merchantIdentifier, spki: try Certificate(der: der).spki, algorithm: record.keyAlgorithm,
            publicKeyHash: record.publicKeyHash)
    }

    /// Writes that the sandbox was used.
    public func noteSandboxUse(_ action: String, under grant: Grant<UseSandbox>, _ call: Call) async throws(Problem) {
        let now = clock()
        try grant.require(.sandbox)
        try await database.write { [audit] connection throws(Problem) in
            _ = try audit.append(.action(action, by: grant, call, at: now), in: connection)
        }
    }
}
