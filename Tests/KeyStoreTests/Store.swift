import ApplePay
import Cryptography
import Database
import Encodings
import Foundation
import Problems
import SQLite
import TestSupport

@testable import KeyStore

/// A keyring, a key store and one merchant with a registration, in a database of its own that goes with the value.
struct Store {
    let folder: TemporaryFolder
    let database: SQLiteDatabase
    let keyring: Keyring
    let keyStore: KeyStore
    let registration: Registration

    static let now = Timestamp(seconds: 1_793_534_400)  // 2026-11-01T12:00:00Z
    static let merchant = MerchantID(bits: 1)
    static let identifier = try! MerchantIdentifier("merchant.com.example.shop")
    /// Every merchant of the sandbox.
    static let sandbox = TenantScope(environment: .sandbox, merchants: nil)
    static let rsaKey = try! PrivateKey.rsa(RSA.DecryptionKey.generate(bits: 2048))

    init(cachedKeys: Int = 100, maximumPending: Int = 20) throws {
        folder = try TemporaryFolder()
        database = try SQLiteDatabase(path: folder.file("coster.sqlite"), mode: .create)
        try database.migrate(KeyStore.migrations)
        let slot = try RootKeyFile.create(at: URL(filePath: folder.file("root.key")))
        try database.writeBlocking { connection throws(Problem) in try Keyring.create(under: slot, at: Store.now, in: connection) }
        let keyring = try database.read { connection throws(Problem) in try Keyring(opening: connection, with: slot) }
        self.keyring = keyring
        keyStore = KeyStore(keyring: keyring, cachedKeys: cachedKeys, maximumPending: maximumPending)
        registration = Store.registration()
        try insert(registration)
    }

    static func registration(
        merchant: MerchantID = merchant, environment: Environment = .sandbox, identifier: MerchantIdentifier = identifier
    ) -> Registration {
        Registration(
            id: .random(), merchant: merchant, environment: environment, identifier: identifier, displayName: "Shop", replayPolicy: .sameCaller,
            maximumTokenAgeSeconds: 300, provenUntil: now, createdAt: now, updatedAt: now)
    }

    func insert(_ registration: Registration) throws {
        try write { connection throws(Problem) in try keyStore.registrations.insert(registration, in: connection) }
    }

    @discardableResult func write<R: Sendable>(_ body: @escaping @Sendable (any WriteConnection) throws(Problem) -> R) throws(Problem) -> R {
        try database.writeBlocking(body)
    }

    @discardableResult func read<R>(_ body: (any ReadConnection) throws(Problem) -> R) throws(Problem) -> R { try database.read(body) }

    /// What somebody with the file and without the keys does to a row.
    @discardableResult func tamper(_ sql: String, _ parameters: [Parameter] = []) throws(Problem) -> Int {
        try write { connection throws(Problem) in try connection.execute(sql, parameters) }
    }

    /// A record in this status, as a row; it got there by no rule.
    @discardableResult func certificate(
        _ status: CertificateStatus = .staged, key: PrivateKey? = nil, in registration: Registration? = nil, compromised: Bool = false,
        source: KeySource = .certificateSigningRequest, replaces: CertificateID? = nil
    ) throws -> CertificateRecord {
        let key = try key ?? .p256(P256.AgreementKey.generate())
        let registration = registration ?? self.registration
        var record = CertificateRecord(
            id: .random(), registration: registration, displayName: "2026", status: status, source: source, keyAlgorithm: key.algorithm,
            publicKeyHash: key.spkiHash, certificate: try Store.certificate(of: key).der,
            certificateSigningRequest: try CertificationRequest.make(for: key, merchantIdentifier: registration.identifier.text), issuerPinned: true,
            warnings: ["issuer_unknown"], replaces: replaces, createdAt: Store.now)
        let inserted = record
        let store = Certificates(rights: keyring.rights, registrations: keyStore.registrations)
        record.replacedBy = CertificateID(bits: 7)
        record.cancelledAt = Store.now
        if compromised {
            record.compromisedAt = Store.now
            record.compromisedReason = "laptop stolen"
        }
        let whole = record
        try write { [keyStore] connection throws(Problem) in
            try keyStore.insert(inserted, key: key, in: connection)
            try store.update(whole, in: connection)
            if status == .destroyed { try connection.execute("DELETE FROM sealed_keys WHERE certificate = $1", [.text(whole.id.text)]) }
        }
        return record
    }

    func status(_ record: CertificateRecord) throws -> CertificateStatus { try find(record.id).status }
    func find(_ id: CertificateID) throws(Problem) -> CertificateRecord {
        try read { connection throws(Problem) in try keyStore.certificate(id, in: Store.sandbox, connection) }
    }

    @discardableResult func apply(_ verb: CertificateVerb, _ record: CertificateRecord) throws(Problem) -> (record: CertificateRecord, changed: Bool) {
        try write { [keyStore] connection throws(Problem) in try keyStore.apply(verb, to: record.id, by: "cred_1", at: Store.now, in: connection) }
    }

    /// A certificate that says nothing but its key.
    static func certificate(of key: PrivateKey, notAfter: Timestamp = now.adding(seconds: 86_400)) throws -> Certificate {
        let name = DistinguishedName([.init(.commonName, "test")])
        return try CertificateBuilder(
            subject: name, issuer: name, spki: key.spki, notBefore: now, notAfter: notAfter, extensions: []
        ).signed(by: signer)
    }

    private static let signer = try! SigningKey.p256(P256.SigningKey.generate())
}

extension PrivateKey {
    var algorithm: KeyAlgorithm {
        switch self {
        case .p256: .ecP256
        case .rsa: .rsa2048
        }
    }
}
