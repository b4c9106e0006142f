import ApplePay
import AuditTrail
import Cryptography
import Database
import Encodings
import Foundation
import Glibc
import KeyStore
import Operations
import Problems
import SQLite
import Sandbox
import Secrets

/// The library's part of `scripts/bench`: prints one JSON object of figures, in microseconds of this process's CPU time.
///
/// `bench library` measures; `bench fill DIR COUNT` puts that many certificates into a data directory made by `coster init`.
@main enum Bench {
    static func main() async throws {
        try CryptographicMemory.install(secureHeapBytes: 8 << 20)
        let words = CommandLine.arguments.dropFirst()
        switch words.first {
        case "library": try await library()
        case "fill": try await fill(URL(filePath: words[words.startIndex + 1]), Int(words[words.startIndex + 2]) ?? 0)
        default: print("usage: bench library | bench fill DIR COUNT")
        }
    }

    // MARK: One token, and one audit row

    private static func library() async throws {
        let now = Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
        let authority = try SandboxAuthority.generate(now: now)
        let identifier = try MerchantIdentifier("merchant.com.example.bench")
        let verifier = try SignatureVerifier(anchors: [TrustAnchor(certificate: authority.rootCertificate)])
        let ec = PrivateKey.p256(try P256.AgreementKey.generate())
        let rsa = PrivateKey.rsa(try RSA.DecryptionKey.generate(bits: 2048))

        func tokens(_ key: PrivateKey, _ count: Int) throws -> [[UInt8]] {
            try (0..<count).map { _ in try authority.mint(MintOrder(recipient: key.spki, merchantIdentifier: identifier, now: now)) }
        }
        func open(_ bytes: [UInt8], _ key: PrivateKey) throws {
            let token = try PaymentToken(parsing: bytes)
            let verified = try verifier.verify(token, at: now, maximumAgeSeconds: 300, rule: .sandbox)
            _ = try verified.decrypt(with: key, merchantIdentifier: identifier)
        }
        let ecTokens = try tokens(ec, 64)
        let rsaTokens = try tokens(rsa, 16)
        let parsed = try ecTokens.map { try PaymentToken(parsing: $0) }
        let floor = try BareOpenSSL()
        // Once around, so that signers are remembered and contexts are there.
        for token in ecTokens { try open(token, ec) }
        for token in rsaTokens { try open(token, rsa) }

        // Paired rounds: the machine's speed drifts, the ratio inside a round does not.
        var (bare, whole, judged, parsing, rsaWhole) = ([Double](), [Double](), [Double](), [Double](), [Double]())
        var (bareDerive, bareVerify) = ([Double](), [Double]())
        for _ in 0..<9 {
            bareDerive.append(try cpu(256) { _ in try floor.derive() })
            bareVerify.append(try cpu(256) { _ in try floor.verify() })
            bare.append((bareDerive.last ?? 0) + (bareVerify.last ?? 0))
            whole.append(try cpu(256) { try open(ecTokens[$0 % ecTokens.count], ec) })
            judged.append(
                try cpu(256) {
                    _ = try verifier.verify(parsed[$0 % parsed.count], at: now, maximumAgeSeconds: 300, rule: .sandbox)
                        .decrypt(with: ec, merchantIdentifier: identifier)
                })
            parsing.append(try cpu(256) { _ = try PaymentToken(parsing: ecTokens[$0 % ecTokens.count]) })
            rsaWhole.append(try cpu(64) { try open(rsaTokens[$0 % rsaTokens.count], rsa) })
        }
        let tabled = try P256.VerificationKey(spki: floor.signerSPKI, tabled: true)
        let untabled = try P256.VerificationKey(spki: floor.signerSPKI)
        let tabledCost = cpu(512) { _ in _ = tabled.isValid(signature: floor.signature, over: floor.digest) }
        let untabledCost = cpu(512) { _ in _ = untabled.isValid(signature: floor.signature, over: floor.digest) }
        let (rowCost, commitWall) = try await auditRow(now)
        let ratios = zip(judged, bare).map { $0 / $1 }

        print(
            String(
                decoding: JSONWriter.object { object in
                    func figure(_ name: String, _ value: Double) { object.member(name, raw: Array(String(format: "%.3f", value).utf8)) }
                    figure("bare", median(bare))
                    figure("bare_derive", median(bareDerive))
                    figure("bare_verify", median(bareVerify))
                    figure("verify_and_decrypt", median(judged))
                    figure("verify_and_decrypt_ratio", median(ratios))
                    figure("parse", median(parsing))
                    figure("library", median(whole))
                    figure("library_rsa", median(rsaWhole))
                    figure("signature_tabled", tabledCost)
                    figure("signature_untabled", untabledCost)
                    figure("audit_row", rowCost)
                    figure("commit_wall", commitWall)
                }, as: UTF8.self))
    }

    /// CPU of one durable audit row in batches of 32, and the wall time of one commit alone.
    private static func auditRow(_ now: Timestamp) async throws -> (cpu: Double, wall: Double) {
        let folder = FileManager.default.temporaryDirectory.appending(path: "coster-bench-\(getpid())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let database = try SQLiteDatabase(path: folder.appending(path: "audit.db").path, mode: .create)
        defer { database.close() }
        try database.migrate(AuditTrail.migrations)
        let trail = AuditTrail(macKey: try MACKey.generate(), idKey: try BlockPermutationKey(try SecureRandom.secret(32)))
        let draft = AuditDraft(
            action: "decryption", actor: .credential(CredentialID.random()), at: now, environment: "sandbox", merchant: .random(), registration: .random(),
            certificate: .random(), requestID: "bench-0123456789abcdef", publicKeyHash: SHA256.digest([1]), transactionDigest: SHA256.digest([2]))
        var rounds: [Double] = []
        for _ in 0..<7 {
            let began = processSeconds()
            for _ in 0..<32 {
                try await database.write { connection throws(Problem) in
                    for _ in 0..<32 { try trail.append(draft, in: connection) }
                }
            }
            rounds.append((processSeconds() - began) * 1e6 / 1024)
        }
        var walls: [Double] = []
        for _ in 0..<50 {
            let began = DispatchTime.now().uptimeNanoseconds
            try await database.write { connection throws(Problem) in _ = try trail.append(draft, in: connection) }
            walls.append(Double(DispatchTime.now().uptimeNanoseconds - began) / 1000)
        }
        return (median(rounds), median(walls))
    }

    // MARK: Many certificates

    /// Real rows: each with a key of its own, sealed, in batches of 200 a transaction, all under one merchant and a hundred identifiers.
    private static func fill(_ data: URL, _ count: Int) async throws {
        let now = Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
        let database = try SQLiteDatabase(path: data.appending(path: "coster.db").path, mode: .readWrite)
        defer { database.close() }
        try database.migrate(Operations.migrations)
        let slot = try RootKeyFile(reading: data.appending(path: "root.key"))
        let keyring = try database.read { connection throws(Problem) in try Keyring(opening: connection, with: slot) }
        let store = KeyStore(keyring: keyring, cachedKeys: 16, maximumPending: .max)
        var registrations: [Registration] = []
        for number in 0..<max(1, min(100, count / 1000)) {
            registrations.append(
                Registration(
                    id: .random(), merchant: .random(), environment: .sandbox, identifier: try MerchantIdentifier("merchant.com.example.fill\(number)"),
                    displayName: "fill", replayPolicy: .observe, maximumTokenAgeSeconds: nil, provenUntil: nil, createdAt: now, updatedAt: now))
        }
        let made = registrations
        try await database.write { connection throws(Problem) in
            for registration in made { try store.registrations.insert(registration, in: connection) }
        }
        var done = 0
        while done < count {
            let size = min(200, count - done)
            let first = done
            try await database.write { connection throws(Problem) in
                for number in first..<first + size {
                    let key = PrivateKey.p256(try P256.AgreementKey.generate())
                    let record = CertificateRecord(
                        id: .random(), registration: made[number % made.count], displayName: "fill", status: .staged, source: .pkcs12,
                        keyAlgorithm: .ecP256, publicKeyHash: key.spkiHash, certificate: nil, certificateSigningRequest: nil, issuerPinned: false,
                        warnings: [], replaces: nil, createdAt: now)
                    try store.insert(record, key: key, in: connection)
                }
            }
            done += size
        }
    }

    // MARK: Measuring

    private static func processSeconds() -> Double {
        var time = timespec()
        unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Microseconds of CPU of one call.
    private static func cpu(_ count: Int, _ body: (Int) throws -> Void) rethrows -> Double {
        let began = processSeconds()
        for index in 0..<count { try body(index) }
        return (processSeconds() - began) * 1e6 / Double(count)
    }

    private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
}
