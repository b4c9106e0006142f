import ApplePay
import Encodings
import Cryptography
import KeyStore
import Testing

@Suite struct CertificateRecordTests {
    @Test func `a record takes owner, environment and identifier from its registration, and its digest from its certificate`() throws {
        var record = CertificateRecord(
            id: .random(), registration: Store.registration(), displayName: "2026", status: .awaitingCertificate, source: .certificateSigningRequest,
            keyAlgorithm: .ecP256, publicKeyHash: SHA256.digest([1]), certificate: nil, certificateSigningRequest: [1], issuerPinned: false, warnings: [],
            replaces: nil, createdAt: Store.now)
        #expect(record.merchant == Store.merchant && record.environment == .sandbox && record.merchantIdentifier == Store.identifier)
        #expect(record.certificateDigest == nil && record.updatedAt == Store.now)
        record.certificate = [1, 2, 3]
        #expect(record.certificateDigest == SHA256.digest([1, 2, 3]))
        record.certificate = nil
        #expect(record.certificateDigest == nil)
    }

    @Test func `the texts that are stored and shown stay`() {
        #expect(KeySource.allCases.map(\.rawValue) == ["certificate_signing_request", "pkcs12"])
    }
}
