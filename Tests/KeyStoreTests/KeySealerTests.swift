import ApplePay
import Cryptography
import Encodings
import Foundation
import Problems
import Secrets
import Testing

@testable import KeyStore

@Suite struct KeySealerTests {
    let store: Store
    let sealer: KeySealer
    let key: PrivateKey
    let record: CertificateRecord

    init() throws {
        store = try Store()
        sealer = KeySealer(keyring: store.keyring)
        key = .p256(try P256.AgreementKey.generate())
        record = Self.record(key.spkiHash)
    }

    static func record(
        _ hash: Digest256, id: CertificateID = CertificateID(bits: 3), registration: Registration = Store.registration(),
        algorithm: KeyAlgorithm = .ecP256
    ) -> CertificateRecord {
        CertificateRecord(
            id: id, registration: registration, displayName: "2026", status: .staged, source: .pkcs12, keyAlgorithm: algorithm, publicKeyHash: hash,
            certificate: nil, certificateSigningRequest: nil, issuerPinned: false, warnings: [], replaces: nil, createdAt: Store.now)
    }

    static let doesNotOpen = Problem(KeyStoreProblem.keyDoesNotOpen)

    @Test func `what was sealed opens, whatever may change about its record`() throws {
        for key in [key, Store.rsaKey] {
            var record = Self.record(key.spkiHash, algorithm: key.algorithm)
            let sealed = try sealer.seal(key, for: record)
            record.displayName = "other"
            record.status = .retired
            record.compromisedAt = Store.now
            #expect(try sealer.open(sealed, for: record).spki == key.spki)
        }
    }

    @Test func `each seal is another, and none shows the key`() throws {
        let first = try sealer.seal(key, for: record)
        let second = try sealer.seal(key, for: record)
        #expect(first.sealedPKCS8 != second.sealedPKCS8 && first.wrappedDataEncryptingKey != second.wrappedDataEncryptingKey)
        let pkcs8 = try key.pkcs8().copyExposed()
        #expect(first.sealedPKCS8.count == 12 + pkcs8.count + 16 && first.wrappedDataEncryptingKey.count == 12 + 32 + 16)
        #expect(Data(first.sealedPKCS8).range(of: Data(pkcs8.suffix(32))) == nil)
        // The data-encrypting key of one opens nothing of the other.
        let mixed = SealedPrivateKey(
            keyEncryptingKeyID: first.keyEncryptingKeyID, wrappedDataEncryptingKey: second.wrappedDataEncryptingKey, sealedPKCS8: first.sealedPKCS8)
        #expect(throws: Self.doesNotOpen) { try sealer.open(mixed, for: record) }
    }

    /// Each field of the associated data in turn (`design.md` §8).
    @Test(arguments: ["certificate", "merchant", "identifier", "environment", "algorithm", "public key hash"])
    func `a sealed key moved to another place does not open`(_ field: String) throws {
        let sealed = try sealer.seal(key, for: record)
        let hash = key.spkiHash
        let moved =
            switch field {
            case "certificate": Self.record(hash, id: CertificateID(bits: 4))
            case "merchant": Self.record(hash, registration: Store.registration(merchant: MerchantID(bits: 2)))
            case "identifier": Self.record(hash, registration: Store.registration(identifier: try MerchantIdentifier("merchant.com.example.shoq")))
            case "environment": Self.record(hash, registration: Store.registration(environment: .production))
            case "algorithm": Self.record(hash, algorithm: .rsa2048)
            default: Self.record(SHA256.digest([1]))
            }
        let problem = #expect(throws: Self.doesNotOpen) { try sealer.open(sealed, for: moved) }
        #expect(problem?.context.first?.value == .text(moved.id.text))
    }

    /// Only the seal of the PKCS#8 binds these, so a data-encrypting key wrapped anew for the other place must not help.
    @Test(arguments: ["merchant", "identifier", "algorithm"])
    func `the inner layer alone refuses another merchant, identifier and algorithm`(_ field: String) throws {
        let sealed = try sealer.seal(key, for: record)
        let moved =
            switch field {
            case "merchant": Self.record(key.spkiHash, registration: Store.registration(merchant: MerchantID(bits: 2)))
            case "identifier": Self.record(key.spkiHash, registration: Store.registration(identifier: try MerchantIdentifier("merchant.com.example.shoq")))
            default: Self.record(key.spkiHash, algorithm: .rsa2048)
            }
        let problem = #expect(throws: Self.doesNotOpen) { try sealer.open(sealed, for: moved) }
        #expect(problem?.underlying?.contains("seal_broken") == true)
    }

    @Test func `a wrap under another key-encrypting key's id does not open`() throws {
        let sealed = try sealer.seal(key, for: record)
        let renamed = SealedPrivateKey(
            keyEncryptingKeyID: "key_encryption_2", wrappedDataEncryptingKey: sealed.wrappedDataEncryptingKey, sealedPKCS8: sealed.sealedPKCS8)
        #expect(throws: Self.doesNotOpen) { try sealer.open(renamed, for: record) }
        // Another installation's key of the same name.
        #expect(throws: Self.doesNotOpen) { try KeySealer(keyring: try Store().keyring).open(sealed, for: record) }
    }

    @Test func `another valid key under this record's seal is caught by deriving its public key`() throws {
        // As only someone who holds the keyring could: everything authentic but the key.
        let other = PrivateKey.p256(try P256.AgreementKey.generate())
        let dek = try SecureRandom.secret(32)
        let (kekID, kek) = store.keyring.currentKeyEncryptingKey
        let forged = SealedPrivateKey(
            keyEncryptingKeyID: kekID, wrappedDataEncryptingKey: try kek.seal(dek, associatedData: sealer.wrapContext(record, kekID: kekID)),
            sealedPKCS8: try AEADKey(dek).seal(try other.pkcs8(), associatedData: sealer.sealContext(record)))
        #expect(throws: Self.doesNotOpen) { try sealer.open(forged, for: record) }
        // Sealing another key than the record's is refused at once.
        #expect(throws: Self.doesNotOpen) { try sealer.seal(other, for: record) }
    }
}
