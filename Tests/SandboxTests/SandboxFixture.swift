import ApplePay
import Cryptography
import Encodings
import Foundation
import Problems
import Sandbox
import Secrets
import Testing

/// One authority, one merchant with a key of each algorithm, one moment: shared by the tests of this room.
enum Fixture {
    static let now = Timestamp(seconds: 1_793_534_400)  // 2026-11-01T12:00:00Z
    static let authority = try! SandboxAuthority.generate(now: now)
    static let merchant = try! MerchantIdentifier("merchant.com.example.shop")
    static let ecKey = try! PrivateKey.p256(P256.AgreementKey.generate())
    static let rsaKey = try! PrivateKey.rsa(RSA.DecryptionKey.generate(bits: 2048))
    static let verifier = try! SignatureVerifier(anchors: [AppleTrustAnchors.rootCAG3.anchor(), TrustAnchor(certificate: authority.rootCertificate)])

    static func key(_ algorithm: KeyAlgorithm) -> PrivateKey { algorithm == .ecP256 ? ecKey : rsaKey }

    static func order(_ algorithm: KeyAlgorithm, payload: TestPayload = .preset(.threeDSecure), defects: Set<Defect> = []) -> MintOrder {
        MintOrder(recipient: key(algorithm).spki, merchantIdentifier: merchant, payload: payload, now: now, defects: defects)
    }

    /// The way of a token through the house, as `design.md` §5 orders it, without storage.
    static func open(_ json: [UInt8], with key: PrivateKey, verifier: SignatureVerifier = verifier) throws(Problem) -> PaymentData {
        let token = try PaymentToken(parsing: json)
        guard token.publicKeyHash == key.spkiHash else { throw Problem.paymentToken(.keyUnknown) }
        let verified = try verifier.verify(token, at: now, maximumAgeSeconds: 300, rule: .sandbox)
        return try verified.decrypt(with: key, merchantIdentifier: merchant)
    }

    /// The code that opening gives; nil where it opens.
    static func code(_ json: [UInt8], with key: PrivateKey, verifier: SignatureVerifier = verifier) -> String? {
        do throws(Problem) {
            _ = try open(json, with: key, verifier: verifier)
            return nil
        } catch {
            return error.code
        }
    }
}

/// Runs `openssl`, an implementation that is not ours, in a folder of its own that holds `files`.
/// - Returns: whether it succeeded, and what it printed.
func openssl(_ arguments: [String], files: [String: [UInt8]]) throws -> (succeeded: Bool, output: String) {
    let folder = FileManager.default.temporaryDirectory.appending(path: "coster-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    for (name, bytes) in files { try Data(bytes).write(to: folder.appending(path: name)) }
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["openssl"] + arguments
    process.currentDirectoryURL = folder
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (process.terminationStatus == 0, String(decoding: output, as: UTF8.self))
}

/// A certificate as PEM.
func pem(_ certificate: Certificate) -> [UInt8] {
    Array("-----BEGIN CERTIFICATE-----\n\(Data(certificate.der).base64EncodedString(options: .lineLength64Characters))\n-----END CERTIFICATE-----\n".utf8)
}
