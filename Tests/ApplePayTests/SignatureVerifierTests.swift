import ApplePay
import Cryptography
import Encodings
import Problems
import Testing

@Suite struct SignatureVerifierTests {
    typealias Shape = TestAuthority.Shape
    private static let now = TestAuthority.now

    /// The code with which a token is refused whose chain and signature are made so; nil when it is accepted.
    private func verdict(
        _ shape: Shape = Shape(), rsa: Bool = false, maximumAge: Int? = 300, rule: TokenEnvironmentRule = .sandbox,
        _ change: (inout TestSignature, TestAuthority) throws -> Void = { _, _ in }, after: (inout TestToken) -> Void = { _ in }
    ) throws -> String? {
        let authority = try TestAuthority(shape)
        var token = try TestToken(for: rsa ? .rsa(RSA.DecryptionKey.generate()) : .p256(P256.AgreementKey.generate()))
        var signature = TestSignature(authority)
        try change(&signature, authority)
        try token.sign(signature)
        after(&token)
        let verifier = try authority.verifier()
        return code { _ = try verifier.verify(token.parsed(), at: Self.now, maximumAgeSeconds: maximumAge, rule: rule) }
    }

    private static func rsaSigner() throws -> SigningKey { .rsa(try RSA.SigningKey.generate()) }

    // MARK: - Apple's tokens

    @Test(arguments: RealToken.all)
    func `accepts Apple's own tokens at their signing time`(_ real: RealToken) throws {
        let verified = try RealToken.verifier().verify(real.token(), at: real.time(), maximumAgeSeconds: 300, rule: .sandbox)
        #expect(verified.signedAt == (try real.time()))
        #expect(verified.isSandboxSigner == real.isSandbox)
        #expect(verified.signerCommonName.contains("smp-broker-sign_UC4-"))
        #expect(verified.warnings == [])
    }

    @Test(arguments: RealToken.all)
    func `refuses Apple's own tokens today, and under another root`(_ real: RealToken) throws {
        #expect(throws: Problem.signature(.tooOld)) {
            try RealToken.verifier().verify(real.token(), at: Self.now, maximumAgeSeconds: 300, rule: .sandbox)
        }
        let stranger = try TestAuthority().verifier()
        #expect(throws: Problem.signature(.untrustedRoot)) {
            try stranger.verify(real.token(), at: real.time(), maximumAgeSeconds: 300, rule: .sandbox)
        }
    }

    @Test(arguments: RealToken.all.filter(\.isSandbox))
    func `knows Apple's sandbox signer`(_ real: RealToken) throws {
        let verifier = try RealToken.verifier()
        #expect(throws: Problem.signature(.environmentMismatch)) {
            try verifier.verify(real.token(), at: real.time(), maximumAgeSeconds: 300, rule: .production(strictSigner: true))
        }
        let lenient = try verifier.verify(real.token(), at: real.time(), maximumAgeSeconds: 300, rule: .production(strictSigner: false))
        #expect(lenient.warnings.map(\.code) == ["sandbox_signer"])
    }

    // MARK: - One fault each

    @Test func `accepts what the test authority makes, EC and RSA`() throws {
        #expect(try verdict() == nil)
        #expect(try verdict(Shape(leafKey: Self.rsaSigner()), rsa: true) == nil)
        #expect(try verdict(Shape(leafKey: Self.rsaSigner()), rsa: true) { signature, _ in signature.signatureAlgorithm = .rsaEncryption } == nil)
    }

    @Test func `unparseable: what is no detached CMS of one signer`() throws {
        let unparseable = "signature.unparseable"
        #expect(try verdict { signature, _ in signature.signers.append(signature.signers[0]) } == unparseable)
        #expect(try verdict { signature, _ in signature.signers = [] } == unparseable)
        #expect(try verdict { signature, _ in signature.attachedContent = [1, 2, 3] } == unparseable)
        #expect(try verdict { signature, _ in signature.contentType = .signedData } == unparseable)
        #expect(try verdict { signature, _ in signature.trailing = [0, 0, 1] } == unparseable)
        #expect(try verdict { signature, _ in signature.trailing = [0, 0, 0] } == nil)
        #expect(try verdict(after: { $0.signature = [] }) == unparseable)
        #expect(try verdict(after: { $0.signature = Array($0.signature.dropLast(10)) }) == unparseable)
        #expect(try verdict(after: { $0.signature = Array(PEM.encode($0.signature, label: "PKCS7").utf8) }) == unparseable)
        #expect(try verdict(after: { $0.signature = [0x30, 0x0b, 0x06, 0x09] + OID.data.content }) == unparseable)
        #expect(try verdict(after: { $0.signature = [0x04, 0x00] }) == unparseable)
    }

    @Test(arguments: ["***", "=", "{}", "AAAA*", "=AAAA"])
    func `unparseable: what is not base64`(_ text: String) throws {
        let authority = try TestAuthority()
        let token = try TestToken.signed(by: authority)
        let parsed = try PaymentToken(parsing: Array(token.json(members: ["signature": quoted(text)]).utf8))
        #expect(throws: Problem.signature(.unparseable)) {
            try authority.verifier().verify(parsed, at: Self.now, maximumAgeSeconds: 300, rule: .sandbox)
        }
    }

    @Test func `algorithm_unsupported: other digests, and a signer of the other algorithm`() throws {
        let unsupported = "signature.algorithm_unsupported"
        #expect(try verdict { signature, _ in signature.digestAlgorithm = "1.3.14.3.2.26" } == unsupported)
        #expect(try verdict { signature, _ in signature.digestAlgorithm = "2.16.840.1.101.3.4.2.2" } == unsupported)
        #expect(try verdict { signature, _ in signature.signatureAlgorithm = .ecdsaWithSHA384 } == unsupported)
        #expect(try verdict(Shape(leafKey: Self.rsaSigner())) == unsupported)
        #expect(try verdict(Shape(leafKey: Self.rsaSigner())) { signature, _ in signature.signatureAlgorithm = .ecdsaWithSHA256 } == unsupported)
        #expect(try verdict(rsa: true) == unsupported)
        #expect(try verdict(rsa: true) { signature, _ in signature.signatureAlgorithm = .sha256WithRSA } == unsupported)
        #expect(try verdict(Shape(leafKey: .p384(P384.SigningKey.generate()))) == unsupported)
        #expect(try verdict(Shape(leafKey: .rsa(RSA.SigningKey.generate(bits: 3072))), rsa: true) == unsupported)
    }

    @Test func `signing_time: exactly one`() throws {
        #expect(try verdict { signature, _ in signature.hasAttributes = false } == "signature.signing_time_missing")
        #expect(try verdict { signature, _ in signature.signingTimes = [] } == "signature.signing_time_missing")
        #expect(try verdict { signature, _ in signature.signingTimes.append(Self.now) } == "signature.signing_time_ambiguous")
    }

    @Test func `invalid: content type, digest and protected algorithms must fit`() throws {
        let invalid = "signature.invalid"
        #expect(try verdict { signature, _ in signature.attributeContentType = .signedData } == invalid)
        #expect(try verdict { signature, _ in signature.messageDigest = SHA256.digest([] as [UInt8]).bytes } == invalid)
        #expect(try verdict { signature, _ in signature.messageDigest = [] } == invalid)
        #expect(try verdict { signature, _ in signature.protectedAlgorithm = .sha256WithRSA } == invalid)
        #expect(try verdict { signature, _ in signature.protectedAlgorithm = .ecdsaWithSHA256 } == nil)
    }

    @Test func `invalid: each signed member, changed after signing`() throws {
        let invalid = "signature.invalid"
        #expect(try verdict(after: { $0.data[0] ^= 1 }) == invalid)
        #expect(try verdict(after: { $0.data[$0.data.count - 1] ^= 1 }) == invalid)
        #expect(try verdict(after: { $0.transactionId[31] ^= 1 }) == invalid)
        #expect(try verdict(after: { $0.transactionId.append(0) }) == invalid)
        #expect(try verdict(after: { $0.applicationData = [1] }) == invalid)
        let other = try P256.AgreementKey.generate().publicKey.spki
        #expect(try verdict(after: { $0.keyField = other }) == invalid)
        #expect(try verdict(Shape(leafKey: Self.rsaSigner()), rsa: true, after: { $0.keyField[100] ^= 1 }) == invalid)
    }

    @Test func `publicKeyHash is not signed, so another one changes nothing here`() throws {
        let other = SHA256.digest([1, 2, 3] as [UInt8])
        #expect(try verdict(after: { $0.publicKeyHash = other }) == nil)
    }

    @Test func `intermediate_missing: signer and issuer both come along`() throws {
        let missing = "signature.intermediate_missing"
        #expect(try verdict { $0.certificates = [$1.leaf] } == missing)
        #expect(try verdict { $0.certificates = [$1.issuer] } == missing)
        #expect(try verdict { $0.certificates = [$1.leaf, $1.root] } == missing)
        #expect(try verdict { signature, _ in signature.certificates = [] } == missing)
        #expect(try verdict { $0.certificates = [$1.issuer, $1.leaf] } == nil)
        #expect(try verdict { $0.certificates = [$1.root, $1.issuer, $1.leaf] } == nil)
    }

    @Test func `a leaf cannot be its own issuer, nor stand right below the root`() throws {
        // Self-issued: the name of its issuer is its own.
        #expect(
            try verdict { signature, authority in
                let name = TestAuthority.name("self")
                let builder = CertificateBuilder(
                    subject: name, issuer: name, spki: authority.leafKey.spki, notBefore: Self.now.adding(seconds: -10), notAfter: Self.now.adding(seconds: 10),
                    extensions: [.basicConstraints(isCA: true), .marker(TestAuthority.tokenSigner), .marker(TestAuthority.tokenSignerIssuer)])
                let leaf = try builder.signed(by: authority.leafKey)
                signature.certificates = [leaf]
                signature.signers = [(leaf, authority.leafKey)]
            } == "signature.intermediate_missing")
        #expect(
            try verdict { signature, authority in
                let leaf = try TestAuthority.leaf(Shape(), authority.leafKey, authority.root, authority.rootKey)
                signature.certificates = [leaf, authority.root]
                signature.signers = [(leaf, authority.leafKey)]
            } == "signature.marker_missing")
    }

    @Test func `marker_missing: on the signer's certificate and on its issuer's, not just somewhere`() throws {
        let missing = "signature.marker_missing"
        let other = try TestAuthority()
        #expect(try verdict(Shape(leafHasMarker: false)) == missing)
        #expect(try verdict(Shape(issuerHasMarker: false)) == missing)
        #expect(try verdict(Shape(leafHasMarker: false)) { signature, _ in signature.certificates.append(other.leaf) } == missing)
        var marked = Shape()
        marked.issuerHasMarker = false
        #expect(try verdict(marked) { signature, _ in signature.certificates.append(other.leaf) } == missing)
    }

    @Test func `chain dates are judged at the signing time`() throws {
        let past = Self.now.adding(seconds: -7200)...Self.now.adding(seconds: -3600)
        let future = Self.now.adding(seconds: 3600)...Self.now.adding(seconds: 7200)
        #expect(try verdict(Shape(leafDates: past)) == "signature.chain_expired")
        #expect(try verdict(Shape(issuerDates: past)) == "signature.chain_expired")
        #expect(try verdict(Shape(rootDates: past)) == "signature.chain_expired")
        #expect(try verdict(Shape(leafDates: future)) == "signature.chain_not_yet_valid")
        #expect(try verdict(Shape(issuerDates: future)) == "signature.chain_not_yet_valid")
        #expect(try verdict(Shape(rootDates: future)) == "signature.chain_not_yet_valid")
        // Ended by now, valid when it signed.
        #expect(
            try verdict(Shape(leafDates: past), maximumAge: 7000) { signature, _ in signature.signingTimes = [Self.now.adding(seconds: -5000)] } == nil)
        #expect(
            try verdict(Shape(leafDates: past)) { signature, _ in signature.signingTimes = [Self.now.adding(seconds: -5000)] } == "signature.too_old")
    }

    @Test func `a certificate that ends before it begins stops nothing but its token`() throws {
        var shape = Shape()
        shape.leafDates = Self.now...Self.now
        let backwards = { (authority: TestAuthority) throws in
            try CertificateBuilder(
                subject: authority.leaf.subject, issuer: authority.issuer.subject, spki: authority.leafKey.spki,
                notBefore: Self.now.adding(seconds: 10), notAfter: Self.now.adding(seconds: -10), extensions: [.marker(TestAuthority.tokenSigner)]
            ).signed(by: authority.issuerKey)
        }
        #expect(
            try verdict(shape) { signature, authority in
                let leaf = try backwards(authority)
                signature.certificates = [leaf, authority.issuer]
                signature.signers = [(leaf, authority.leafKey)]
            } == "signature.chain_not_yet_valid")
    }

    @Test func `invalid: the signer's own key must have signed`() throws {
        #expect(try verdict { $0.signers = [($1.leaf, .p256(try P256.SigningKey.generate()))] } == "signature.invalid")
        #expect(try verdict(Shape(leafKey: Self.rsaSigner()), rsa: true) { $0.signers = [($1.leaf, try Self.rsaSigner())] } == "signature.invalid")
    }

    @Test func `chain_invalid: the issuer must have signed the leaf, and be an authority`() throws {
        #expect(try verdict(Shape(leafIsForged: true)) == "signature.chain_invalid")
        #expect(try verdict(Shape(issuerIsCA: false)) == "signature.chain_invalid")
        // C31 c: an issuer of the same name with another key.
        let other = try TestAuthority()
        #expect(try verdict { $0.certificates = [$1.leaf, other.issuer] } == "signature.chain_invalid")
    }

    @Test func `untrusted_root: names prove nothing, and a root in the CMS is no anchor`() throws {
        let untrusted = "signature.untrusted_root"
        #expect(try verdict(Shape(issuerIsForged: true)) == untrusted)
        let (ours, theirs) = (try TestAuthority(), try TestAuthority())
        for certificates in [[theirs.leaf, theirs.issuer], [theirs.leaf, theirs.issuer, theirs.root]] {
            var token = try TestToken.signed(by: theirs)
            var signature = TestSignature(theirs)
            signature.certificates = certificates
            try token.sign(signature)
            #expect(throws: Problem.signature(.untrustedRoot)) {
                try ours.verifier().verify(token.parsed(), at: Self.now, maximumAgeSeconds: 300, rule: .sandbox)
            }
        }
    }

    @Test func `environment_mismatch: sandbox signers are for the sandbox`() throws {
        let shape = Shape(leafName: "ecc-smp-broker-sign_UC4-SANDBOX")
        #expect(try verdict(shape, rule: .production(strictSigner: true)) == "signature.environment_mismatch")
        #expect(try verdict(shape, rule: .production(strictSigner: false)) == nil)
        #expect(try verdict(shape, rule: .sandbox) == nil)
        #expect(try verdict(rule: .production(strictSigner: true)) == nil)
    }

    @Test(arguments: [
        (-59, nil), (-61, nil), (-299, nil), (-300, nil), (-301, "signature.too_old"), (299, nil), (300, nil), (301, "signature.in_the_future"),
        (-86_400, "signature.too_old"),
    ])
    func `age: the signing time lies within the window on either side`(_ offset: Int64, _ expected: String?) throws {
        #expect(try verdict { signature, _ in signature.signingTimes = [Self.now.adding(seconds: offset)] } == expected)
        #expect(try verdict(maximumAge: nil) { signature, _ in signature.signingTimes = [Self.now.adding(seconds: offset)] } == nil)
    }

    @Test func `too_old tells both times and the window`() throws {
        let authority = try TestAuthority()
        let token = try TestToken.signed(by: authority).parsed()
        let later = Self.now.adding(seconds: 61)
        let verifier = try authority.verifier()
        do throws(Problem) {
            _ = try verifier.verify(token, at: later, maximumAgeSeconds: 60, rule: .sandbox)
            Issue.record("accepted")
        } catch {
            let context: [String: ContextValue] = Dictionary(uniqueKeysWithValues: error.context.map { ($0.name, $0.value) })
            #expect(
                context == [
                    "signed_at": .text(Self.now.rfc3339), "server_time": .text(later.rfc3339), "max_token_age_seconds": .number(60),
                ])
        }
    }

    @Test func `a signer whose key is no point of the curve is refused`() throws {
        var spki = try P256.AgreementKey.generate().publicKey.spki
        spki[90] ^= 1
        let offCurve = spki
        #expect(
            try verdict { signature, authority in
                let leaf = try CertificateBuilder(
                    subject: authority.leaf.subject, issuer: authority.issuer.subject, spki: offCurve, notBefore: authority.leaf.notBefore,
                    notAfter: authority.leaf.notAfter, extensions: authority.leaf.extensions
                ).signed(by: authority.issuerKey)
                signature.certificates = [leaf, authority.issuer]
                signature.signers = [(leaf, authority.leafKey)]
            } == "signature.algorithm_unsupported")
    }

    @Test func `no single byte of a signature can be changed into another kind of trouble`() throws {
        let authority = try TestAuthority()
        let verifier = try authority.verifier()
        let good = try TestToken.signed(by: authority)
        for place in good.signature.indices {
            var token = good
            token.signature[place] ^= 0x41
            let code = code { _ = try verifier.verify(token.parsed(), at: Self.now, maximumAgeSeconds: 300, rule: .sandbox) }
            #expect(code?.hasPrefix("signature.") != false, "byte \(place): \(code ?? "")")
        }
    }

    // MARK: - Order

    @Test func `of several faults the first in order is told`() throws {
        let order = [
            "signature.unparseable", "signature.algorithm_unsupported", "signature.signing_time_missing", "signature.invalid",
            "signature.intermediate_missing", "signature.marker_missing", "signature.chain_expired", "signature.invalid", "signature.chain_invalid",
            "signature.untrusted_root", "signature.environment_mismatch", "signature.too_old",
        ]
        for (index, expected) in order.enumerated() {
            let has = { (fault: Int) in fault >= index }
            var shape = Shape()
            let signedAt = Self.now.adding(seconds: -4000)
            shape.leafHasMarker = !has(5)
            if has(6) { shape.leafDates = Self.now.adding(seconds: -9000)...Self.now.adding(seconds: -5000) }
            shape.leafIsForged = has(8)
            shape.issuerIsForged = has(9)
            if has(10) { shape.leafName = "SANDBOX" }
            let code = try verdict(shape, rule: .production(strictSigner: true)) { signature, authority in
                if has(0) { signature.attachedContent = [1] }
                if has(1) { signature.digestAlgorithm = "1.3.14.3.2.26" }
                signature.signingTimes = has(2) ? [] : [signedAt]
                if has(3) { signature.messageDigest = [1] }
                if has(4) { signature.certificates = [authority.leaf] }
                if has(7) { signature.signers = [(authority.leaf, .p256(try P256.SigningKey.generate()))] }
            }
            #expect(code == expected, "fault \(index)")
        }
    }

    // MARK: - What is remembered

    @Test func `a remembered signer is checked as hard as a new one`() throws {
        let authority = try TestAuthority()
        let verifier = try authority.verifier()
        let good = try TestToken.signed(by: authority)
        func code(of token: TestToken) -> String? {
            ApplePayTests.code { _ = try verifier.verify(token.parsed(), at: Self.now, maximumAgeSeconds: 300, rule: .production(strictSigner: true)) }
        }
        for _ in 0..<3 { #expect(code(of: good) == nil) }

        var changed = good
        changed.data[0] ^= 1
        #expect(code(of: changed) == "signature.invalid")
        var forged = good
        var signature = TestSignature(authority)
        signature.signers[0].key = .p256(try P256.SigningKey.generate())
        try forged.sign(signature)
        #expect(code(of: forged) == "signature.invalid")

        // The same names and serial number on a certificate of a stranger's making, with the good pair beside it.
        let stranger = SigningKey.p256(try P256.SigningKey.generate())
        var builder = CertificateBuilder(
            subject: authority.leaf.subject, issuer: authority.leaf.issuer, spki: stranger.spki, notBefore: authority.leaf.notBefore,
            notAfter: authority.leaf.notAfter, extensions: authority.leaf.extensions)
        builder.serialNumber = authority.leaf.serialNumber
        let lookalike = try builder.signed(by: stranger)
        for certificates in [[lookalike, authority.issuer], [lookalike, authority.leaf, authority.issuer], [authority.leaf, lookalike, authority.issuer]] {
            signature = TestSignature(authority)
            signature.certificates = certificates
            signature.signers = [(lookalike, stranger)]
            var token = good
            try token.sign(signature)
            #expect(["signature.chain_invalid", "signature.invalid"].contains(code(of: token)))
        }

        // The remembered leaf without its issuer, and the remembered issuer with another leaf.
        signature = TestSignature(authority)
        signature.certificates = [authority.leaf]
        var token = good
        try token.sign(signature)
        #expect(code(of: token) == "signature.intermediate_missing")
        #expect(code(of: good) == nil)
    }

    @Test func `beside a remembered signer, another one of the same issuer speaks for itself`() throws {
        let authority = try TestAuthority()
        var second = authority
        second.leafKey = .p256(try P256.SigningKey.generate())
        second.leaf = try TestAuthority.leaf(Shape(leafName: "second"), second.leafKey, authority.issuer, authority.issuerKey)
        let verifier = try authority.verifier()
        for signer in [authority, second, authority] {
            var token = try TestToken(for: .p256(P256.AgreementKey.generate()))
            var signature = TestSignature(signer)
            signature.certificates = [authority.leaf, second.leaf, authority.issuer]
            try token.sign(signature)
            let verified = try verifier.verify(token.parsed(), at: Self.now, maximumAgeSeconds: 300, rule: .sandbox)
            #expect(verified.signerCommonName == signer.leaf.subject.commonName)
        }
    }

    @Test func `a remembered pair holds for the time it was valid only`() throws {
        var shape = Shape()
        shape.leafDates = Self.now.adding(seconds: -100)...Self.now.adding(seconds: 100)
        let authority = try TestAuthority(shape)
        let verifier = try authority.verifier()
        for (offset, expected) in [(0, nil), (100, nil), (101, "signature.chain_expired"), (-100, nil), (-101, "signature.chain_not_yet_valid")]
            as [(Int64, String?)]
        {
            var token = try TestToken.signed(by: authority)
            var signature = TestSignature(authority)
            signature.signingTimes = [Self.now.adding(seconds: offset)]
            try token.sign(signature)
            #expect(code { _ = try verifier.verify(token.parsed(), at: Self.now, maximumAgeSeconds: 300, rule: .sandbox) } == expected)
        }
    }

    @Test func `more signers than are remembered all verify, again and again`() throws {
        let authority = try TestAuthority()
        let verifier = try authority.verifier()
        let signers = try (0..<SignatureVerifier.maximumRemembered + 4).map { _ in
            var other = authority
            // On one key, as Apple renews: tabling it each time is the cost.
            other.leaf = try TestAuthority.leaf(Shape(), other.leafKey, authority.issuer, authority.issuerKey)
            return other
        }
        for signer in signers + signers.prefix(2) + signers.suffix(2) {
            let token = try TestToken.signed(by: signer).parsed()
            #expect(throws: Never.self) { try verifier.verify(token, at: Self.now, maximumAgeSeconds: 300, rule: .sandbox) }
        }
    }

    @Test func `serves many threads at once, from the first token on`() async throws {
        let authority = try TestAuthority()
        let verifier = try authority.verifier()
        let good = try TestToken.signed(by: authority)
        var bad = good
        bad.data[3] ^= 8
        let (goodToken, badToken) = (try good.parsed(), try bad.parsed())
        await withTaskGroup(of: Bool.self) { group in
            for index in 0..<200 {
                group.addTask {
                    let token = index.isMultiple(of: 3) ? badToken : goodToken
                    let isAccepted = (try? verifier.verify(token, at: Self.now, maximumAgeSeconds: 300, rule: .sandbox)) != nil
                    return isAccepted == !index.isMultiple(of: 3)
                }
            }
            for await isRight in group { #expect(isRight) }
        }
    }

    @Test func `says which anchor a chain ends in`() throws {
        let (first, second) = (try TestAuthority(), try TestAuthority())
        let verifier = try SignatureVerifier(anchors: [first, second].map { TrustAnchor(certificate: $0.root) })
        for (index, authority) in [first, second].enumerated() {
            for _ in 0..<2 {
                let verified = try verifier.verify(
                    TestToken.signed(by: authority).parsed(), at: Self.now, maximumAgeSeconds: 300, rule: .sandbox)
                #expect(verified.anchor == index)
            }
        }
    }
}
