import ApplePay
import Cryptography
import Encodings
import Problems
import Secrets

/// A sealed private key as it is stored: PKCS#8 under a data-encrypting key of its own, that one wrapped under a key-encrypting key.
public struct SealedPrivateKey: Sendable {
    /// Which key-encrypting key wraps.
    public let keyEncryptingKeyID: String
    /// AES-256-GCM: nonce(12) ‖ ciphertext(32) ‖ tag(16).
    public let wrappedDataEncryptingKey: [UInt8]
    /// AES-256-GCM: nonce(12) ‖ PKCS#8 ‖ tag(16).
    public let sealedPKCS8: [UInt8]
}

/// Seals and opens private keys (`design.md` §8). The associated data ties each layer to its place, so that a row moved to another merchant, identifier
/// or record does not open (PCI DSS 3.7.7).
struct KeySealer: Sendable {
    let keyring: Keyring

    /// The form of the two contexts below; a new form gets a new number.
    static let schemaVersion: Int64 = 1

    func seal(_ key: PrivateKey, for record: CertificateRecord) throws(Problem) -> SealedPrivateKey {
        let dataEncryptingSecret = try SecureRandom.secret(32)
        let dataEncryptingKey = try AEADKey(dataEncryptingSecret)
        let (kekID, kek) = keyring.currentKeyEncryptingKey
        let sealed = SealedPrivateKey(
            keyEncryptingKeyID: kekID,
            wrappedDataEncryptingKey: try kek.seal(dataEncryptingSecret, associatedData: wrapContext(record, kekID: kekID)),
            sealedPKCS8: try dataEncryptingKey.seal(try key.pkcs8(), associatedData: sealContext(record)))
        // Read back before anybody relies on it.
        _ = try open(sealed, for: record)
        return sealed
    }

    /// Opens a sealed key, derives its public key again and compares that with the record's hash.
    /// - Throws: `custody.key_does_not_open`.
    func open(_ sealed: SealedPrivateKey, for record: CertificateRecord) throws(Problem) -> PrivateKey {
        let kek = try keyring.keyEncryptingKey(sealed.keyEncryptingKeyID)
        do throws(Problem) {
            let secret = try kek.open(sealed.wrappedDataEncryptingKey, associatedData: wrapContext(record, kekID: sealed.keyEncryptingKeyID))
            let pkcs8 = try AEADKey(secret).open(sealed.sealedPKCS8, associatedData: sealContext(record))
            let key = try PrivateKey(pkcs8: pkcs8)
            guard key.spkiHash == record.publicKeyHash else { throw Problem.keyStore(.keyDoesNotOpen) }
            return key
        } catch {
            // Want of memory says nothing about the key.
            if error.retryable { throw error }
            throw Problem(
                KeyStoreProblem.keyDoesNotOpen,
                context: [("certificate", .text(record.id.text)), ("public_key_hash", .text(record.publicKeyHash.base64))], underlying: error.description)
        }
    }

    func wrapContext(_ record: CertificateRecord, kekID: String) -> [UInt8] {
        var list = LengthPrefixedList("coster data-encrypting key")
        list.append(KeySealer.schemaVersion)
        list.append("private_key")
        list.append(record.environment.rawValue)
        list.append(record.id.text)
        list.append(kekID)
        return list.bytes
    }

    func sealContext(_ record: CertificateRecord) -> [UInt8] {
        var list = LengthPrefixedList("coster private key")
        list.append(KeySealer.schemaVersion)
        list.append("private_key")
        list.append(record.environment.rawValue)
        list.append(record.merchant.text)
        list.append(record.merchantIdentifier.text)
        list.append(record.id.text)
        list.append(record.keyAlgorithm.rawValue)
        list.append(record.publicKeyHash)
        return list.bytes
    }
}
