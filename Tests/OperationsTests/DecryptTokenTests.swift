import ApplePay
import AuditTrail
import Cryptography
import Database
import Encodings
import Foundation
import KeyStore
import Problems
import SQLite
import Sandbox
import TestSupport
import Testing

@testable import Accounts
@testable import Operations

@Suite struct DecryptTokenTests {
    let house: House
    init() throws { house = try House() }

    private var unknownKey: [UInt8] {
        get throws {
            try House.authority.mint(
                MintOrder(recipient: P256.AgreementKey.generate().publicKey.spki, merchantIdentifier: MerchantIdentifier(House.shop), now: house.now))
        }
    }

    // MARK: The good way

    @Test(arguments: KeyAlgorithm.allCases)
    func `a token comes open, and says which key opened it`(_ algorithm: KeyAlgorithm) async throws {
        let registration = try await house.registration()
        let certificate = try await house.staged(registration, algorithm)
        let opened = try await house.decrypt(try house.token(certificate), for: House.shop, reference: "order 1")
        #expect(opened.paymentData.networkToken.number == "4111111111111111" && opened.paymentData.transaction.amount == "19.99")
        #expect(opened.registration == registration.id && opened.certificate == certificate.id && opened.environment == .sandbox)
        #expect(opened.certificateStatus == .active && !opened.replayed && opened.signedAt == house.now && opened.decryptedAt == house.now)
        #expect(try house.status(certificate) == .active)
        let usage = try #require(try house.record(certificate.id).usage)
        #expect(usage.firstUsedAt == house.now && usage.lastUsedAt == house.now && usage.count == 1)

        let entry = try house.operations.decryption(opened.id, under: house.grant(ReadDecryptions.self, .paymentService))
        let content = entry.content
        #expect(content.outcome == "success" && content.actor == .credential(CredentialID(bits: 1)) && content.reference == "order 1")
        #expect(content.registration == registration.id && content.merchant == registration.merchant && content.certificate == certificate.id)
        #expect(content.publicKeyHash == certificate.publicKeyHash && content.requestID == "req-1" && content.details["first_use"] == .flag(true))
        #expect(content.transactionDigest == SHA256.digest(opened.token.transactionId))
    }

    @Test func `the hash decides where no identifier is named`() async throws {
        let shop = try await house.staged(try await house.registration())
        let other = try await house.staged(try await house.registration("merchant.com.example.other"))
        #expect(try await house.decrypt(try house.token(shop)).certificate == shop.id)
        #expect(try await house.decrypt(try house.token(other)).certificate == other.id)
    }

    @Test func `every key held opens, in whatever state its certificate is; an older one moves nothing back`() async throws {
        let registration = try await house.registration()
        let old = try await house.staged(registration)
        let middle = try await house.staged(registration)
        let new = try await house.staged(registration)
        for record in [old, middle, new] { _ = try await house.decrypt(try house.token(record)) }
        house.wait(8 * 86_400)
        _ = try await house.operations.retire(old.id, under: house.grant(RetireCertificates.self), house.call())
        #expect(try [old, middle, new].map { try house.status($0) } == [.retired, .retiring, .active])
        for (record, status) in [(old, CertificateStatus.retired), (middle, .retiring), (new, .active)] {
            #expect(try await house.decrypt(try house.token(record)).certificateStatus == status)
        }
        #expect(try [old, middle, new].map { try house.status($0) } == [.retired, .retiring, .active])
    }

    // MARK: One first use

    @Test func `twenty at once make one first use and twenty uses`() async throws {
        let registration = try await house.registration()
        let former = try await house.staged(registration)
        _ = try await house.decrypt(try house.token(former))
        let certificate = try await house.staged(registration)
        let token = try house.token(certificate)
        let replays = await withTaskGroup(of: Bool?.self) { group in
            for _ in 0..<20 { group.addTask { [house] in try? await house.decrypt(token).replayed } }
            return await group.reduce(into: [Bool?]()) { $0.append($1) }
        }
        #expect(replays.filter { $0 == false }.count == 1 && replays.filter { $0 == true }.count == 19)
        #expect(try house.status(certificate) == .active && house.status(former) == .retiring)
        #expect(try house.record(certificate.id).usage?.count == 20)
        let entries = try house.entries(AuditFilter(certificate: certificate.id, action: "decryption"))
        #expect(entries.count == 20 && entries.filter { $0.content.details["first_use"] == .flag(true) }.count == 1)
        #expect(entries.filter { $0.content.replayed }.count == 19)
    }

    @Test func `twenty different tokens at once to two staged keys lose no payment`() async throws {
        let registration = try await house.registration()
        let keys = [try await house.staged(registration), try await house.staged(registration)]
        let tokens = try (0..<20).map { try house.token(keys[$0 % 2]) }
        let opened = await withTaskGroup(of: String.self) { group in
            for token in tokens { group.addTask { [house] in await house.outcome(token) } }
            return await group.reduce(into: [String]()) { $0.append($1) }
        }
        #expect(opened.allSatisfy { $0 == "success" })
        #expect(Set(try keys.map { try house.status($0) }) == [.active, .retiring])
        #expect(try keys.map { try house.record($0.id).usage?.count } == [10, 10])
    }

    // MARK: Order

    /// What is wrong, in the order of `design.md` §5; each prepares a call that also has everything wrong that comes later.
    @Test func `the first thing wrong gives the code, whatever else is wrong`() async throws {
        let merchant = try await house.merchant()
        let shop = try await house.registration(merchant: merchant.id)
        let other = try await house.registration("merchant.com.example.other", merchant: merchant.id)
        let key = try await house.staged(shop)
        let rsa = try await house.staged(other, .rsa2048)
        let wrong = Expectation(amount: "0.01")
        let stale: Set<Defect> = [.signedOneHourAgo, .tagFlipped]

        // 1: the request. 2: the token's shape.
        #expect(await house.outcome(Array("{}".utf8), for: "merchant.none", expected: wrong) == "merchant_identifier.unknown")
        #expect(await house.outcome(Array("{}".utf8), for: "merchant.com.example.SHOP", expected: wrong) == "merchant_identifier.case_differs")
        #expect(await house.outcome(Array("{}".utf8), for: House.shop, expected: wrong) == "payment_token.malformed")
        let shapeless = try house.token(key, defects: stale.union([.versionMissing, .unknownPublicKeyHash, .signatureNotCMS]))
        #expect(await house.outcome(shapeless, expected: wrong) == "payment_token.malformed")
        #expect(
            await house.outcome(try house.token(key, defects: stale.union([.versionUnknown, .unknownPublicKeyHash])), expected: wrong)
                == "payment_token.version_unsupported")
        #expect(
            await house.outcome(try house.token(key, defects: stale.union([.pointOffCurve, .unknownPublicKeyHash])), expected: wrong)
                == "payment_token.malformed")
        // 3: the key.
        let keyless = try house.token(key, defects: stale.union([.unknownPublicKeyHash, .signatureNotCMS]))
        #expect(await house.outcome(keyless, for: House.shop, expected: wrong) == "payment_token.key_unknown")
        #expect(await house.outcome(keyless, for: other.identifier.text, expected: wrong) == "payment_token.algorithm_mismatch")
        let unsigned = try house.token(key, defects: stale.union([.signatureNotCMS]))
        #expect(await house.outcome(unsigned, for: other.identifier.text, expected: wrong) == "payment_token.merchant_identifier_mismatch")
        // 4: the signature.
        #expect(await house.outcome(unsigned, expected: wrong) == "signature.unparseable")
        #expect(await house.outcome(try house.token(key, defects: stale.union([.signatureFlipped])), expected: wrong) == "signature.invalid")
        // 5: age. 6: the tag. 7: content. 8: what was expected. 9: replay.
        #expect(await house.outcome(try house.token(key, defects: stale), expected: wrong) == "signature.too_old")
        #expect(await house.outcome(try house.token(key, defects: [.signedInTheFuture, .tagFlipped]), expected: wrong) == "signature.in_the_future")
        #expect(await house.outcome(try house.token(key, defects: [.tagFlipped]), expected: wrong) == "payment_token.undecryptable")
        #expect(await house.outcome(try house.token(key, defects: [.contentDoubledMember]), expected: wrong) == "payment_token.content_unexpected")
        let good = try house.token(key)
        #expect(await house.outcome(good) == "success")
        #expect(await house.outcome(good, expected: wrong, by: 2) == "payment_token.expectation_failed")
        #expect(await house.outcome(good, by: 2) == "payment_token.replayed")
        #expect(await house.outcome(try house.token(rsa, defects: [.tagFlipped])) == "payment_token.undecryptable")

        // Refusals before the tag has verified are no use; those after it are, and leave no mark.
        #expect(try house.record(key.id).usage?.count == 4)
        #expect(try house.status(rsa) == .staged && house.count("replay_marks") == 1)
    }

    @Test func `a token for a key of the other algorithm is told so`() async throws {
        let certificate = try await house.staged(try await house.registration())
        // As if the hash of a P-256 key stood in an RSA_v1 token.
        let rsa = try PrivateKey.rsa(RSA.DecryptionKey.generate(bits: 2048))
        let minted = try House.authority.mint(
            MintOrder(recipient: rsa.spki, merchantIdentifier: try MerchantIdentifier(House.shop), now: house.now))
        let token = String(decoding: minted, as: UTF8.self).replacing(rsa.spkiHash.base64, with: certificate.publicKeyHash.base64)
            .replacing(rsa.spkiHash.base64.replacing("/", with: "\\/"), with: certificate.publicKeyHash.base64)
        for identifier in [House.shop, nil] {
            #expect(await house.outcome(Array(token.utf8), for: identifier) == "payment_token.algorithm_mismatch")
        }
        let entry = try #require(try house.entries(AuditFilter(action: "decryption")).last)
        #expect(entry.content.certificate == certificate.id && entry.content.outcome == "payment_token.algorithm_mismatch")
    }

    // MARK: The key, by hash

    @Test func `an unknown key shows what was received and what is held, and is counted`() async throws {
        let registration = try await house.registration()
        let certificate = try await house.staged(registration)
        let token = try unknownKey
        let problem = await #expect(throws: Problem.paymentToken(.keyUnknown)) { _ = try await house.decrypt(token, for: House.shop) }
        let hash = try PaymentToken(parsing: token).publicKeyHash
        #expect(problem?.context.first { $0.name == "public_key_hash" }?.value == .text(hash.base64))
        guard case .list(let held) = problem?.context.first(where: { $0.name == "held" })?.value, case .record(let first) = held.first else {
            return #expect(Bool(false), "no keys shown")
        }
        #expect(first["public_key_hash"] == .text(certificate.publicKeyHash.base64) && first["status"] == "staged")
        _ = await house.outcome(token, for: House.shop)
        let view = try house.operations.registration(House.shop, under: house.grant(ReadRegistrations.self))
        #expect(view.unknownPublicKeyHashes.map(\.publicKeyHash) == [hash] && view.unknownPublicKeyHashes.first?.count == 2)
        #expect(try house.status(certificate) == .staged)
        // Where nobody is named, nobody is counted for and nothing is shown.
        let bare = await #expect(throws: Problem.paymentToken(.keyUnknown)) { _ = try await house.decrypt(try unknownKey) }
        #expect(bare?.context.contains { $0.name == "held" } == false)
    }

    @Test func `at most a hundred unknown hashes are kept`() async throws {
        _ = try await house.registration()
        let seed = String(decoding: try unknownKey, as: UTF8.self)
        let hash = try PaymentToken(parsing: Array(seed.utf8)).publicKeyHash.base64
        for number in 0..<105 {
            let other = SHA256.digest([UInt8(number)]).hex
            let token = seed.replacing(hash, with: other).replacing(hash.replacing("/", with: "\\/"), with: other)
            _ = await house.outcome(Array(token.utf8), for: House.shop)
        }
        #expect(try house.count("unknown_public_key_hashes") <= 100)
    }

    @Test func `the state of a key that opens nothing is named first`() async throws {
        let registration = try await house.registration()
        _ = try await house.staged(registration)
        let waiting = try await house.request(registration)
        let cancelled = try await house.request(registration)
        _ = try await house.operations.cancel(cancelled.id, under: house.grant(ManageCertificates.self), house.call())
        let destroyed = try await house.staged(registration)
        let gone = try house.token(destroyed)
        _ = try await house.operations.markCompromised(destroyed.id, reason: "leak", under: house.grant(RetireCertificates.self), house.call())
        _ = try await house.operations.destroy(
            destroyed.id, publicKeyHash: destroyed.publicKeyHash.hex, under: house.grant(RetireCertificates.self), house.call())
        func token(_ record: CertificateRecord) throws -> [UInt8] {
            try House.authority.mint(MintOrder(recipient: try house.issue(record), merchantIdentifier: record.merchantIdentifier, now: house.now))
        }
        for (token, status) in [(try token(waiting), "awaiting_certificate"), (try token(cancelled), "cancelled"), (gone, "destroyed")] {
            for identifier in [House.shop, nil] {
                let problem = await #expect(throws: Problem.paymentToken(.keyUnknown)) { _ = try await house.decrypt(token, for: identifier) }
                #expect(problem?.context.first?.name == "status" && problem?.context.first?.value == .text(status))
            }
        }
    }

    @Test func `a key held by several of the caller's merchants must be named`() async throws {
        let password = "secret"
        let file = try TestFiles.p12(password: password)
        let first = try await house.registration(merchant: try await house.merchant().id)
        let second = try await house.registration(merchant: try await house.merchant().id)
        let one = try await house.upload(file.content, to: first.id.text, password: password).value.record
        let two = try await house.upload(file.content, to: second.id.text, password: password).value.record
        let token = try house.token(one)
        let problem = await #expect(throws: Problem(KeyStoreProblem.ambiguous)) { _ = try await house.decrypt(token) }
        #expect(problem?.status == 409)
        #expect(try await house.decrypt(token, for: first.id.text).certificate == one.id)
        #expect(await house.outcome(token, for: House.shop) == "merchant_identifier.ambiguous")
        // A caller of one merchant has one key by that hash; a token's mark is its registration's.
        let mine = try await house.decrypt(token, for: House.shop, merchants: [second.merchant])
        #expect(mine.certificate == two.id && !mine.replayed)
        #expect(await house.outcome(token, merchants: [second.merchant]) == "success")
    }

    @Test func `somebody else's key counts as not held`() async throws {
        let mine = try await house.registration("merchant.com.example.other")
        let theirs = try await house.staged(try await house.registration())
        let token = try house.token(theirs)
        let problem = await #expect(throws: Problem.paymentToken(.keyUnknown)) { _ = try await house.decrypt(token, merchants: [mine.merchant]) }
        #expect(problem?.context.contains { $0.name == "status" } == false)
        #expect(await house.outcome(token, for: House.shop, merchants: [mine.merchant]) == "merchant_identifier.unknown")
        #expect(await house.outcome(token, for: mine.identifier.text, merchants: [mine.merchant]) == "payment_token.key_unknown")
        #expect(await house.outcome(token, for: theirs.registration.text, merchants: [mine.merchant]) == "merchant_identifier.unknown")
    }

    @Test func `the other environment's keys are not there, and production takes no sandbox token`() async throws {
        let registration = try await house.registration()
        let certificate = try await house.staged(registration)
        let token = try house.token(certificate)
        let problem = await #expect(throws: Problem.paymentToken(.keyUnknown)) { _ = try await house.decrypt(token, environment: .production) }
        #expect(problem?.context.contains { $0.name == "status" } == false)
    }

    @Test func `a sealed key that does not open is a fault with an entry of its own, and payments to others go on`() async throws {
        let registration = try await house.registration()
        let broken = try await house.staged(registration)
        let sound = try await house.staged(registration)
        try house.sql("UPDATE sealed_keys SET sealed = zeroblob(200) WHERE certificate = $1", [.text(broken.id.text)])
        house.operations.forgetOpenedKeys()
        #expect(await house.outcome(try house.token(broken)) == "custody.key_does_not_open")
        #expect(await house.outcome(try house.token(sound)) == "success")
        #expect(try house.entries(AuditFilter(certificate: broken.id, outcome: "custody.key_does_not_open")).count == 1)
        try house.sql("UPDATE certificates SET status = 'retired' WHERE id = $1", [.text(broken.id.text)])
        #expect(await house.outcome(try house.token(broken)) == "custody.row_altered")
    }

    // MARK: Replay

    private func policy(_ policy: ReplayPolicy, maximumAge: Int?? = nil) async throws -> CertificateRecord {
        try await house.staged(
            try await house.registration(policies: TokenPolicies(replayPolicy: policy, maximumTokenAgeSeconds: maximumAge)))
    }

    @Test func `same caller: who opened it first may ask again, nobody else`() async throws {
        let token = try house.token(try await policy(.sameCaller))
        let first = try await house.decrypt(token)
        let again = try await house.decrypt(token)
        #expect(!first.replayed && again.replayed && again.id != first.id)
        let problem = await #expect(throws: Problem.paymentToken(.replayed)) { _ = try await house.decrypt(token, by: 2) }
        #expect(problem?.status == 409 && problem?.context.contains { $0.name == "first_opened_at" } == true)
        house.wait(301)
        #expect(await house.outcome(token) == "signature.too_old")
    }

    @Test func `without a limit of age the first caller may ask for ever, and the mark stays`() async throws {
        let token = try house.token(try await policy(.sameCaller, maximumAge: .some(nil)))
        _ = try await house.decrypt(token)
        house.wait(400 * 86_400)
        try await house.operations.keepHouse()
        #expect(try await house.decrypt(token).replayed)
        #expect(await house.outcome(token, by: 2) == "payment_token.replayed")
    }

    @Test func `reject: once, unless the same caller repeats the same call`() async throws {
        let token = try house.token(try await policy(.reject))
        let call = house.call("key-1", body: "a")
        #expect(try await house.decrypt(token, call).replayed == false)
        #expect(try await house.decrypt(token, call).replayed)
        #expect(await house.outcome(token) == "payment_token.replayed")
        #expect(await house.outcome(token, house.call("key-2", body: "a")) == "payment_token.replayed")
        #expect(await house.outcome(token, by: 2, call) == "payment_token.replayed")
        let bare = try house.token(try await policy(.reject))
        #expect(await house.outcome(bare) == "success")
        #expect(await house.outcome(bare) == "payment_token.replayed")
    }

    @Test func `observe: never refused, always told`() async throws {
        let token = try house.token(try await policy(.observe))
        #expect(try await house.decrypt(token).warnings.isEmpty)
        for caller in [1, 2] {
            let again = try await house.decrypt(token, by: caller)
            #expect(again.replayed && again.warnings.map(\.code) == ["replayed"])
        }
    }

    /// The mark's id is what Apple signed; another token under it is looked at, whoever sends it.
    @Test(arguments: ReplayPolicy.allCases)
    func `the same id with other signed bytes is refused, and always told`(_ policy: ReplayPolicy) async throws {
        let certificate = try await self.policy(policy)
        let token = try house.token(certificate)
        _ = try await house.decrypt(token)
        try house.sql("UPDATE replay_marks SET signed_content_digest = zeroblob(32)")
        let outcome = await house.outcome(token)
        #expect(outcome == (policy == .observe ? "success" : "payment_token.replayed"))
        let entry = try #require(try house.entries(AuditFilter(certificate: certificate.id, action: "decryption")).last)
        #expect(entry.content.details["other_signed_content"] == .flag(true) && entry.content.replayed && entry.content.outcome == outcome)
    }

    @Test func `marks outlive the window by a day and are pruned then`() async throws {
        let token = try house.token(try await policy(.sameCaller))
        _ = try await house.decrypt(token)
        house.wait(300 + 86_400)
        try await house.operations.keepHouse()
        #expect(try house.count("replay_marks") == 1)
        house.wait(1)
        try await house.operations.keepHouse()
        #expect(try house.count("replay_marks") == 0)
    }

    // MARK: Idempotency

    @Test func `a repeat decrypts again; another request under the same key is refused before anything else`() async throws {
        let certificate = try await policy(.sameCaller)
        let token = try house.token(certificate)
        let other = try house.token(certificate)
        #expect(await house.outcome(token, house.call("key", body: "a")) == "success")
        #expect(try await house.decrypt(token, house.call("key", body: "a")).replayed)
        #expect(await house.outcome(other, house.call("key", body: "b")) == "request.idempotency_key_reused")
        #expect(await house.outcome(Array("{}".utf8), for: "merchant.none", house.call("key", body: "b")) == "request.idempotency_key_reused")
        #expect(await house.outcome(other, by: 2, house.call("key", body: "b")) == "success")
        house.wait(86_400)
        #expect(await house.outcome(try house.token(certificate), house.call("key", body: "c")) == "success")
    }

    @Test func `a refused call takes no key`() async throws {
        let certificate = try await policy(.sameCaller)
        #expect(await house.outcome(try house.token(certificate, defects: [.tagFlipped]), house.call("key", body: "a")) == "payment_token.undecryptable")
        #expect(await house.outcome(try house.token(certificate), house.call("key", body: "b")) == "success")
    }

    // MARK: The trail

    @Test func `every outcome has one entry, and none holds account data`() async throws {
        let registration = try await house.registration()
        let certificate = try await house.staged(registration)
        var tokens: [[UInt8]] = [try unknownKey, Array("{}".utf8)]
        tokens += Defect.allCases.filter { $0 != .nonceOf12Bytes }.compactMap { try? house.token(certificate, defects: [$0]) }
        let before = try house.entries().count
        for token in tokens {
            let outcome = await house.outcome(token, for: House.shop, expected: Expectation(amount: "19.99", currency: "USD"))
            let last = try #require(try house.entries().last)
            #expect(last.content.outcome == outcome && last.content.action == "decryption" && last.content.environment == "sandbox")
            #expect(last.content.registration == registration.id)
        }
        #expect(try house.entries().count == before + tokens.count)
        try await house.database.forgetDeleted()
        for name in try FileManager.default.contentsOfDirectory(atPath: house.folder.path) {
            let content = try Data(contentsOf: URL(filePath: house.folder.file(name)))
            for secret in ["4111111111111111", "411111", "onlinePaymentCryptogram"] {
                #expect(content.range(of: Data(secret.utf8)) == nil, "\(secret) stands in \(name)")
            }
        }
    }

    @Test func `a refusal names the id under which its entry is found`() async throws {
        let certificate = try await house.staged(try await house.registration())
        let token = try house.token(certificate, defects: [.tagFlipped])
        let problem = await #expect(throws: Problem.paymentToken(.undecryptable)) { _ = try await house.decrypt(token) }
        guard case .text(let text) = problem?.context.first(where: { $0.name == "decryption" })?.value, let id = DecryptionID(text) else {
            return #expect(Bool(false), "no id")
        }
        let entry = try house.operations.decryption(id, under: house.grant(ReadDecryptions.self, .paymentService))
        #expect(entry.content.outcome == "payment_token.undecryptable" && entry.content.certificate == certificate.id)
    }

    @Test func `who may see a decryption: its caller, its merchant, and staff of its environment`() async throws {
        let registration = try await house.registration()
        let id = try await house.decrypt(try house.token(try await house.staged(registration))).id
        func outcome(_ role: Role, _ number: Int = 1, environment: Environment = .sandbox, merchants: Set<MerchantID>? = nil) async -> String {
            await code { () async throws(Problem) in
                _ = try house.operations.decryption(
                    id, under: try house.grant(ReadDecryptions.self, role, number, environment: environment, merchants: merchants))
            }
        }
        let unknown = "decryption.unknown"
        #expect(await outcome(.paymentService) == "success")
        #expect(await outcome(.paymentService, 2) == unknown)
        #expect(await outcome(.merchant, 9, merchants: [registration.merchant]) == "success")
        #expect(await outcome(.merchant, 9, merchants: [MerchantID(bits: 5)]) == unknown)
        for role in [Role.operator, .auditor] {
            #expect(await outcome(role) == "success")
            #expect(await outcome(role, environment: .production) == unknown)
            #expect(await outcome(role, merchants: [MerchantID(bits: 5)]) == unknown)
        }
        let other = try #require(try house.entries(AuditFilter(action: "merchant.create")).first)
        #expect(throws: Problem(OperationsProblem.decryptionUnknown)) {
            _ = try house.operations.decryption(other.decryptionID, under: try house.grant(ReadDecryptions.self))
        }
        #expect(throws: Problem(OperationsProblem.decryptionUnknown)) {
            _ = try house.operations.decryption(.random(), under: try house.grant(ReadDecryptions.self))
        }
    }

    // MARK: Nothing without its entry

    @Test(arguments: [FailingDatabase.Failure.atOnce, .atCommit])
    func `where the entry can't be written nothing is released`(_ failure: FailingDatabase.Failure) async throws {
        let certificate = try await house.staged(try await house.registration())
        let (token, bad) = (try house.token(certificate), try house.token(certificate, defects: [.tagFlipped]))
        let entries = try house.entries().count
        house.database.fail(failure)
        for token in [token, bad] {
            let problem = await #expect(throws: Problem.database(.unavailable)) { _ = try await house.decrypt(token) }
            #expect(problem?.status == 503 && problem?.retryable == true)
        }
        house.database.fail(nil)
        #expect(try house.entries().count == entries && house.count("replay_marks") == 0 && house.status(certificate) == .staged)
        #expect(try await house.decrypt(token).replayed == false)
    }

    // MARK: Minted tokens

    struct Minted: Decodable, Sendable, CustomTestStringConvertible {
        let file: String, merchantIdentifier: String, key: String
        let expect: Expected

        private enum CodingKeys: String, CodingKey {
            case file, key, expect
            case merchantIdentifier = "merchant_identifier"
        }
        var testDescription: String { file }

        enum Expected: Decodable, Sendable {
            case one([String])
            init(from decoder: any Decoder) throws {
                let container = try decoder.singleValueContainer()
                if let text = try? container.decode(String.self) { self = .one([text]) } else { self = .one(try container.decode([String].self)) }
            }
        }
    }

    static let minted: [Minted] = (try? JSONDecoder().decode([Minted].self, from: Data(Vectors.bytes("minted/tokens/expected.json")))) ?? []

    /// Each minted token through the whole house, by the keys and the root they were minted under, without a limit of age where they have their own time.
    @Test func `minted tokens come to what they are made for`() async throws {
        #expect(!Self.minted.isEmpty)
        let root = try #require(FileRecognizer.recognise(try Vectors.bytes("minted/pki/root.pem")).certificates.first)
        let house = try House { $0.sandboxAnchors = [TrustAnchor(certificate: root)] }
        var registrations: [String: Registration] = [:]
        for identifier in Set(Self.minted.map(\.merchantIdentifier)) {
            let registration = try await house.registration(identifier)
            registrations[identifier] = registration
            for name in Set(Self.minted.filter { $0.merchantIdentifier == identifier }.map(\.key)) {
                let folder = "minted/pki/merchants/\(identifier)/\(name)"
                guard Vectors.url(folder + ".cer").map({ FileManager.default.fileExists(atPath: $0.path) }) == true else { continue }
                let file = try TestFiles.p12(key: try Vectors.bytes(folder + ".key.pem"), certificate: try Vectors.bytes(folder + ".cert.pem"), password: "x")
                try await house.upload(file, to: registration.id.text, password: "x")
            }
        }
        for vector in Self.minted {
            guard case .one(let expected) = vector.expect else { continue }
            let outcome = await house.outcome(try Vectors.bytes("minted/tokens/" + vector.file), for: vector.merchantIdentifier)
            #expect(expected.contains(outcome), "\(vector.file): \(outcome) instead of \(expected)")
        }
    }
}
