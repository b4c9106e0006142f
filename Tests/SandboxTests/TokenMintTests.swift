import ApplePay
import Cryptography
import Encodings
import Problems
import Sandbox
import Secrets
import Testing

struct TokenMintTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let algorithm: KeyAlgorithm
        var preset = TestPayload.Preset.threeDSecure
        var defects: Set<Defect> = []
        var testDescription: String { "\(algorithm.tokenVersion) \(preset.rawValue) \(defects.map(\.rawValue).sorted())" }

        static let payloads = KeyAlgorithm.allCases.flatMap { algorithm in
            TestPayload.Preset.allCases.map { Case(algorithm: algorithm, preset: $0) }
        }
        static let defects = KeyAlgorithm.allCases.flatMap { algorithm in
            Defect.allCases.filter { $0.applies(to: algorithm) }.map { Case(algorithm: algorithm, defects: [$0]) }
        }
        static let inapplicable = Defect.allCases.filter { !$0.applies(to: .rsa2048) }.map { Case(algorithm: .rsa2048, defects: [$0]) }
    }

    private func mint(_ minted: Case) throws -> [UInt8] {
        try Fixture.authority.mint(Fixture.order(minted.algorithm, payload: .preset(minted.preset), defects: minted.defects))
    }

    @Test(arguments: Case.payloads)
    func `a good token opens to what was put in`(_ minted: Case) throws {
        let opened = try Fixture.open(try mint(minted), with: Fixture.key(minted.algorithm))
        let content = try JSONDocument(opened.plaintext.copyExposed()).root
        #expect(content.doubledMember == nil)
        #expect(content.member("transactionAmount")?.integer == 1999)
        #expect(content.member("currencyCode")?.string == "840")
        #expect(content.member("paymentDataType")?.string == (minted.preset.rawValue.hasPrefix("emv") ? "EMV" : "3DSecure"))
        #expect(opened.warnings == [])
    }

    @Test(arguments: Case.defects)
    func `a defect gives its code`(_ minted: Case) throws {
        let expected = minted.defects.first?.expectedCode
        #expect(Fixture.code(try mint(minted), with: Fixture.key(minted.algorithm)) == expected)
    }

    /// Of two defects the one that is looked for earlier speaks: the order of the checks, every pair of defects against it.
    @Test(arguments: KeyAlgorithm.allCases)
    func `of two defects the earlier checked gives the code`(_ algorithm: KeyAlgorithm) throws {
        let defects = Defect.allCases.filter { $0.applies(to: algorithm) }
        for (index, first) in defects.enumerated() {
            for second in defects[(index + 1)...] {
                let (one, other) = (TokenMintTests.stage(first), TokenMintTests.stage(second))
                let expected = Set([one <= other ? first : second, other <= one ? second : first].map(\.expectedCode))
                let code = Fixture.code(try mint(Case(algorithm: algorithm, defects: [first, second])), with: Fixture.key(algorithm))
                #expect(expected.contains(code), "\(first.rawValue) and \(second.rawValue) gave \(code ?? "success")")
            }
        }
    }

    /// When a defect is looked for: `design.md` §5, from the token's shape to its content; what must open comes last.
    private static func stage(_ defect: Defect) -> Int {
        // `signature.invalid` stands for two checks: the digest of the content, and after the certificates the signer's signature.
        if defect == .signatureFlipped { return 9 }
        return switch defect.expectedCode {
        case "payment_token.malformed", "payment_token.version_unsupported": 0
        case "payment_token.key_unknown": 1
        case "signature.unparseable": 2
        case "signature.algorithm_unsupported": 3
        case "signature.signing_time_missing", "signature.signing_time_ambiguous": 4
        case "signature.invalid": 5
        case "signature.intermediate_missing": 6
        case "signature.marker_missing": 7
        case "signature.chain_expired", "signature.chain_not_yet_valid": 8
        case "signature.chain_invalid": 10
        case "signature.untrusted_root": 11
        case "signature.too_old", "signature.in_the_future": 12
        case "payment_token.undecryptable": 13
        case "payment_token.content_unexpected": 14
        default: 15
        }
    }

    @Test func `a shared secret begins with zero when asked for`() throws {
        let token = try PaymentToken(parsing: try mint(Case(algorithm: .ecP256, defects: [.sharedSecretLeadingZero])))
        guard case .ecV1(let ephemeral) = token.version, case .p256(let key) = Fixture.ecKey else { throw Problem(PaymentTokenProblem.malformed) }
        let secret = try key.sharedSecret(with: ephemeral)
        let beginsWithZero = secret.beginsWithZero
        #expect(beginsWithZero)
    }

    @Test(arguments: Case.inapplicable)
    func `a defect that the version can't have is refused`(_ minted: Case) {
        #expect(throws: Problem(SandboxProblem.defectNotApplicable)) { try mint(minted) }
    }

    @Test(arguments: KeyAlgorithm.allCases)
    func `under Apple's root alone nothing minted here is trusted`(_ algorithm: KeyAlgorithm) throws {
        let appleOnly = try SignatureVerifier(anchors: [AppleTrustAnchors.rootCAG3.anchor()])
        let token = try Fixture.authority.mint(Fixture.order(algorithm))
        #expect(Fixture.code(token, with: Fixture.key(algorithm), verifier: appleOnly) == "signature.untrusted_root")
    }

    @Test func `amount, currency and application data are the caller's`() throws {
        var order = Fixture.order(.ecP256)
        order.amount = 0
        order.currency = "036"
        order.applicationData = Array("order 7".utf8)
        let json = try Fixture.authority.mint(order)
        #expect(try PaymentToken(parsing: json).applicationData == SHA256.digest(Array("order 7".utf8)).bytes)
        let content = try JSONDocument(try Fixture.open(json, with: Fixture.ecKey).plaintext.copyExposed()).root
        #expect(content.member("transactionAmount")?.integer == 0)
        #expect(content.member("currencyCode")?.string == "036")
    }

    @Test func `the caller's own content is encrypted byte for byte`() throws {
        let own = Array(#"{ "applicationPrimaryAccountNumber" : "4111111111111111" , "é":[] }"#.utf8)
        let opened = try Fixture.open(try Fixture.authority.mint(Fixture.order(.ecP256, payload: .verbatim(own))), with: Fixture.ecKey)
        #expect(opened.plaintext.copyExposed() == own)
    }

    @Test func `each token is a transaction of its own`() throws {
        let tokens = try (0..<20).map { _ in try PaymentToken(parsing: try Fixture.authority.mint(Fixture.order(.ecP256))) }
        #expect(Set(tokens.map(\.transactionId)).count == tokens.count)
        #expect(tokens.allSatisfy { $0.transactionId.count == 32 && $0.transactionId[0] != 0 })
    }

    @Test func `a version that doesn't fit the key is refused`() {
        var order = Fixture.order(.ecP256)
        order.algorithm = .rsa2048
        #expect(throws: Problem(SandboxProblem.versionMismatch)) { try Fixture.authority.mint(order) }
    }

    @Test func `a key no token can be encrypted to is refused`() throws {
        let order = MintOrder(recipient: Fixture.authority.rootCertificate, merchantIdentifier: Fixture.merchant, now: Fixture.now)
        #expect(throws: Problem(SandboxProblem.recipientKeyUnsupported)) { try Fixture.authority.mint(order) }
    }

    @Test(arguments: KeyAlgorithm.allCases, [Set<Defect>(), [.derEncoding]])
    func `openssl accepts the signature`(_ algorithm: KeyAlgorithm, _ defects: Set<Defect>) throws {
        let token = try JSONDocument(try Fixture.authority.mint(Fixture.order(algorithm, defects: defects))).root
        let paymentData = try #require(token.member("paymentData"))
        let header = try #require(paymentData.member("header"))
        func bytes(_ value: JSONValue?) throws -> [UInt8] { try #require(value?.string.flatMap { Base64.decode($0) }) }
        let content =
            try bytes(header.member(algorithm == .ecP256 ? "ephemeralPublicKey" : "wrappedKey")) + bytes(paymentData.member("data"))
            + #require(header.member("transactionId")?.string.flatMap { Hex.decode($0) })
        let result = try openssl(
            [
                "cms", "-verify", "-binary", "-inform", "DER", "-in", "cms.der", "-content", "content", "-CAfile", "root.pem", "-purpose", "any",
                "-attime", String(Fixture.now.milliseconds / 1000), "-out", "verified",
            ],
            files: ["cms.der": try bytes(paymentData.member("signature")), "content": content, "root.pem": pem(Fixture.authority.rootCertificate)])
        #expect(result.succeeded, "\(result.output)")
    }
}
