import Encodings
import Problems
import TestSupport
import Testing

@testable import Cryptography

struct CMSSignedDataTests {
    // MARK: Real and minted

    @Test(arguments: Vectors.shared == nil ? Vectors.unavailable("real signatures", cases: 7) : realTokens)
    func `reads what Apple signed`(_ name: String) throws {
        let values = try #require(try json(name + ".intermediate.json") as? [String: Any])
        let token = try #require(SignedToken(name + ".token.json"))
        let cms = try CMSSignedData(parsing: token.cms)
        #expect(cms.certificates.count == 2)
        #expect(cms.digestAlgorithm == .init(oid: .sha256, isPlain: true))
        #expect(cms.signatureAlgorithm.oid.description == values["signatureAlgorithm"] as? String && cms.signatureAlgorithm.isPlain)
        #expect(cms.contentType == .one(.data))
        guard case .one(let digest) = cms.messageDigest, case .one(let time) = cms.signingTime else {
            Issue.record("attributes missing")
            return
        }
        #expect(Hex.encode(cms.bytes[digest]) == values["signedContentSha256"] as? String)
        #expect(time == Timestamp(rfc3339: values["signingTime"] as? String ?? ""))
        #expect(cms.protectsAlgorithms == (name.contains("2014") ? .absent : .one(true)))
        let leaf = try Certificate(der: Array(cms.bytes[cms.certificates[0]]))
        #expect(cms.isSigner(leaf))
        #expect(!cms.isSigner(try Certificate(der: Array(cms.bytes[cms.certificates[1]]))))
        let signed = try #require(cms.signedAttributesDigest)
        #expect(signed == SHA256.digest(try #require(cms.signedAttributesForSigning)))
        let valid =
            leaf.keyKind == .p256
            ? try P256.VerificationKey(spki: leaf.spki, tabled: true).isValid(signature: cms.signature, over: signed)
            : try RSA.VerificationKey(spki: leaf.spki).isValid(signature: cms.signature, over: signed)
        #expect(valid)
    }

    /// Cut anywhere, or with any byte changed, reading ends in a value or an error; cut, in an error only.
    @Test(.enabled(if: Vectors.shared != nil, "NOT TESTED: 8800 cases, no shared vectors")) func `damage never does more than fail`() throws {
        let cms = try #require(SignedToken("basis-theory/ec-new.token.json")).cms
        for count in 0..<cms.count - 12 { #expect(throws: CMSError.self) { try CMSSignedData(parsing: Array(cms.prefix(count))) } }
        for index in cms.indices {
            for change: UInt8 in [0x01, 0x20, 0x80, 0xff] {
                var changed = cms
                changed[index] ^= change
                _ = try? CMSSignedData(parsing: changed)
            }
        }
    }

    // MARK: Made here

    struct Party {
        let key: SigningKey
        let certificate: Certificate
        let root: Certificate
        static let at = Timestamp(seconds: 1_780_000_000)
        static let party: Party? = try? Party()

        init() throws {
            let root = SigningKey.p256(try .generate())
            let (from, to) = (Party.at.adding(seconds: -1000), Party.at.adding(seconds: 1000))
            let issuer = DistinguishedName([.init(.commonName, "root")])
            self.root = try CertificateBuilder(
                subject: issuer, issuer: issuer, spki: root.spki, notBefore: from, notAfter: to,
                extensions: [.basicConstraints(isCA: true), .keyUsage([.keyCertSign]), .subjectKeyIdentifier(root.spki)]
            ).signed(by: root)
            key = SigningKey.p256(try .generate())
            certificate = try CertificateBuilder(
                subject: DistinguishedName([.init(.commonName, "leaf")]), issuer: issuer, spki: key.spki, notBefore: from, notAfter: to,
                extensions: [.keyUsage([.digitalSignature]), .authorityKeyIdentifier(root.spki), .subjectKeyIdentifier(key.spki)]
            ).signed(by: root)
        }

        var builder: CMSBuilder { CMSBuilder(signer: .init(key: key, certificate: certificate), certificates: [certificate.der], signingTime: Party.at) }

        /// Attributes exactly as given, in any form; `signed` is what the signature is over, by default the attributes as a SET.
        func signedData(attributes: [UInt8], signed: [UInt8]? = nil, unsigned: [UInt8] = [], version: Int = 1, keyIdentifier: Bool = false) throws -> [UInt8] {
            let algorithm = key.signatureAlgorithm(.sha256)
            let signature = try key.signature(over: signed ?? [0x31] + attributes.dropFirst(), digest: .sha256)
            return DERWriter.sequence { info in
                info.objectIdentifier(.signedData)
                info.constructed(.context(0)) { explicit in
                    explicit.sequence { data in
                        data.integer(1)
                        data.setOf([DERWriter.sequence { $0.objectIdentifier(.sha256) }])
                        data.sequence { $0.objectIdentifier(.data) }
                        data.constructed(.context(0)) { $0.raw(certificate.der) }
                        data.constructed(.set) { signers in
                            signers.sequence { signer in
                                signer.integer(version)
                                if keyIdentifier {
                                    let identifier = certificate.extensionValues(.subjectKeyIdentifier)[0].dropFirst(2)
                                    signer.primitive(.contextPrimitive(0), identifier)
                                } else {
                                    signer.sequence {
                                        $0.raw(certificate.issuer.encoded)
                                        $0.primitive(.integer, certificate.serialNumber)
                                    }
                                }
                                signer.sequence { $0.objectIdentifier(.sha256) }
                                signer.raw(attributes)
                                signer.raw(algorithm)
                                signer.octetString(signature)
                                signer.raw(unsigned)
                            }
                        }
                    }
                }
            }
        }
    }

    static let content: [UInt8] = Array("what was paid".utf8)

    static func attribute(_ type: OID, _ values: (inout DERWriter) -> Void) -> [UInt8] {
        DERWriter.sequence {
            $0.objectIdentifier(type)
            $0.constructed(.set, values)
        }
    }

    static let contentType = attribute(.contentType) { $0.objectIdentifier(.data) }
    static let digest = attribute(.messageDigest) { $0.octetString(SHA256.digest(content).bytes) }
    static let time = attribute(.signingTime) { $0.time(Party.at) }

    static func attributes(_ list: [[UInt8]], sorted: Bool = true) -> [UInt8] {
        var writer = DERWriter()
        writer.primitive(.context(0), (sorted ? list.sorted { $0.lexicographicallyPrecedes($1) } : list).joined())
        return writer.bytes
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let make: @Sendable (Party) throws -> [UInt8]
        /// Nil: read.
        let error: CMSError?
        /// What `openssl cms -verify` says.
        let openSSLTakes: Bool
        var testDescription: String { name }

        init(_ name: String, _ error: CMSError?, openSSLTakes: Bool, _ make: @escaping @Sendable (Party) throws -> [UInt8]) {
            self.name = name
            self.error = error
            self.openSSLTakes = openSSLTakes
            self.make = make
        }
    }

    static let malformed = CMSError.malformed(DERError(.unexpected, at: 0))

    /// Where `error` is not nil and `openSSLTakes` is true, OpenSSL is laxer than we are.
    static let cases: [Case] = [
        Case("BER", nil, openSSLTakes: true) { try $0.builder.signedData(over: content) },
        Case("DER", nil, openSSLTakes: true) { try with($0.builder) { $0.encoding = .der }.signedData(over: content) },
        Case("zero bytes after it", nil, openSSLTakes: true) { try $0.builder.signedData(over: content) + [0, 0, 0, 0, 0, 0] },
        Case("a byte after it", .trailingBytes(offset: 0), openSSLTakes: true) { try $0.builder.signedData(over: content) + [0, 1] },
        Case("two signers", .signers(2), openSSLTakes: true) { try with($0.builder) { $0.signers += $0.signers }.signedData(over: content) },
        Case("no signer", .signers(0), openSSLTakes: false) { try with($0.builder) { $0.signers = [] }.signedData(over: content) },
        Case("content attached", .attachedContent, openSSLTakes: true) { try with($0.builder) { $0.isAttached = true }.signedData(over: content) },
        Case("no certificates", .noCertificates, openSSLTakes: false) { try with($0.builder) { $0.certificates = [] }.signedData(over: content) },
        Case("another kind of certificate", malformed, openSSLTakes: true) {
            try with($0.builder) { $0.certificates.append([0xa2, 0x00]) }.signedData(over: content)
        },
        Case("no signed attributes", nil, openSSLTakes: true) { try with($0.builder) { $0.hasSignedAttributes = false }.signedData(over: content) },
        Case("no signing time", nil, openSSLTakes: true) { try with($0.builder) { $0.signingTimes = [] }.signedData(over: content) },
        Case("two signing times", nil, openSSLTakes: false) {
            try with($0.builder) { $0.signingTimes.append(Party.at.adding(seconds: 1)) }.signedData(over: content)
        },
        Case("a signing time with two values", nil, openSSLTakes: false) {
            try $0.signedData(
                attributes: attributes([
                    contentType, digest,
                    attribute(.signingTime) {
                        $0.time(Party.at)
                        $0.time(Party.at.adding(seconds: 1))
                    },
                ]))
        },
        Case("a signing time without a value", malformed, openSSLTakes: false) {
            try $0.signedData(attributes: attributes([contentType, digest, attribute(.signingTime) { _ in }]))
        },
        Case("a signing time that is no time", malformed, openSSLTakes: true) {
            try $0.signedData(attributes: attributes([contentType, digest, attribute(.signingTime) { $0.integer(5) }]))
        },
        Case("no content type", nil, openSSLTakes: false) { try $0.signedData(attributes: attributes([digest, time])) },
        Case("no message digest", nil, openSSLTakes: false) { try $0.signedData(attributes: attributes([contentType, time])) },
        Case("made from the attributes in DER", nil, openSSLTakes: true) { try $0.signedData(attributes: attributes([contentType, digest, time])) },
        Case("attributes out of order, signed so", .attributesNotDER, openSSLTakes: true) {
            try $0.signedData(attributes: attributes([digest, contentType, time], sorted: false))
        },
        Case("attributes out of order, signed in order", .attributesNotDER, openSSLTakes: false) {
            try $0.signedData(
                attributes: attributes([digest, contentType, time], sorted: false),
                signed: [0x31] + attributes([contentType, digest, time]).dropFirst())
        },
        Case("attributes of indefinite length, signed as DER", .attributesNotDER, openSSLTakes: true) {
            let der = attributes([contentType, digest, time])
            return try $0.signedData(attributes: [0xa0, 0x80] + der.dropFirst(2) + [0, 0], signed: [0x31] + der.dropFirst())
        },
        Case("attributes of long length, signed as sent", .attributesNotDER, openSSLTakes: false) {
            let der = attributes([contentType, digest, time])
            return try $0.signedData(attributes: [0xa0, 0x81] + der.dropFirst())
        },
        Case("attributes of long length, signed as DER", .attributesNotDER, openSSLTakes: true) {
            let der = attributes([contentType, digest, time])
            return try $0.signedData(attributes: [0xa0, 0x81] + der.dropFirst(), signed: [0x31] + der.dropFirst())
        },
        Case("unsigned attributes", nil, openSSLTakes: true) {
            try $0.signedData(
                attributes: attributes([contentType, digest, time]), unsigned: [0xa1] + attributes([attribute("1.2.3.4") { $0.null() }]).dropFirst())
        },
        Case("signer by key identifier", nil, openSSLTakes: true) {
            try $0.signedData(attributes: attributes([contentType, digest, time]), version: 3, keyIdentifier: true)
        },
        Case("version 1 and key identifier", malformed, openSSLTakes: true) {
            try $0.signedData(attributes: attributes([contentType, digest, time]), keyIdentifier: true)
        },
        Case("not CMS", malformed, openSSLTakes: false) { _ in Array("rubbish".utf8) },
        Case("empty", malformed, openSSLTakes: false) { _ in [] },
        Case("another type", .notSignedData, openSSLTakes: false) { _ in
            DERWriter.sequence {
                $0.objectIdentifier(.data)
                $0.constructed(.context(0)) { $0.octetString([1]) }
            }
        },
    ]

    static func with(_ builder: CMSBuilder, _ change: (inout CMSBuilder) -> Void) -> CMSBuilder {
        var builder = builder
        change(&builder)
        return builder
    }

    @Test(arguments: cases) func `reads or refuses`(_ item: Case) throws {
        let party = try #require(Party.party)
        let bytes = try item.make(party)
        do throws(CMSError) {
            let cms = try CMSSignedData(parsing: bytes)
            #expect(item.error == nil)
            #expect(cms.isSigner(party.certificate))
            switch item.name {
            case "no signed attributes": #expect(cms.signedAttributes == nil && cms.signedAttributesDigest == nil && cms.signingTime == .absent)
            case "no signing time": #expect(cms.signingTime == .absent)
            case "two signing times", "a signing time with two values": #expect(cms.signingTime == .several)
            case "no content type": #expect(cms.contentType == .absent)
            case "no message digest": #expect(cms.messageDigest == .absent)
            default:
                #expect(cms.signingTime == .one(Party.at))
                #expect(CMSSignedDataTests.verify(bytes, CMSSignedDataTests.content, root: party.root, at: Party.at))
            }
        } catch {
            switch (error, item.error) {
            case (.malformed, .malformed), (.trailingBytes, .trailingBytes): break
            default: #expect(error == item.error)
            }
        }
    }

    // MARK: Beside OpenSSL

    /// What a verifier makes of it: the rules of `design.md` §5 step 4 as far as they are cryptographic.
    static func verify(_ bytes: [UInt8], _ content: [UInt8], root: Certificate, at: Timestamp) -> Bool {
        guard let cms = try? CMSSignedData(parsing: bytes), cms.digestAlgorithm == .init(oid: .sha256, isPlain: true), cms.contentType == .one(.data),
            case .one(let digest) = cms.messageDigest, cms.bytes[digest].elementsEqual(SHA256.digest(content).bytes), case .one = cms.signingTime,
            cms.protectsAlgorithms != .one(false), let signed = cms.signedAttributesDigest
        else { return false }
        let all = cms.certificates.compactMap { try? Certificate(der: Array(cms.bytes[$0])) }
        guard let leaf = all.first(where: { cms.isSigner($0) }), let verifier = try? ChainVerifier(anchors: [.init(certificate: root)]),
            case .trusted = verifier.verify(leaf: leaf, intermediates: all, at: at)
        else { return false }
        switch cms.signatureAlgorithm.oid {
        case .ecdsaWithSHA256: return (try? P256.VerificationKey(spki: leaf.spki))?.isValid(signature: cms.signature, over: signed) == true
        case .sha256WithRSA: return (try? RSA.VerificationKey(spki: leaf.spki))?.isValid(signature: cms.signature, over: signed) == true
        default: return false
        }
    }

    static let hasOpenSSL = (try? OpenSSLCommand().run("version").succeeded) == true

    static func openSSLTakes(_ bytes: [UInt8], _ content: [UInt8], root: Certificate, at: Timestamp) throws -> Bool {
        let openSSL = try OpenSSLCommand()
        defer { openSSL.remove() }
        try openSSL.write("cms", bytes)
        try openSSL.write("content", content)
        try openSSL.write("root", PEM.encode(root.der, label: "CERTIFICATE").utf8)
        return try openSSL.run(
            """
            cms -verify -binary -inform DER -in cms -content content -CAfile root -no-CApath -no-CAstore -purpose any -x509_strict \
            -attime \(at.milliseconds / 1000) -out verified
            """
        ).succeeded
    }

    @Test(.enabled(if: hasOpenSSL), arguments: cases) func `as strict as OpenSSL, or stricter as the table says`(_ item: Case) throws {
        let party = try #require(Party.party)
        let bytes = try item.make(party)
        #expect(try CMSSignedDataTests.openSSLTakes(bytes, CMSSignedDataTests.content, root: party.root, at: Party.at) == item.openSSLTakes)
    }

    /// Of all shared tokens: what we take OpenSSL takes; what it takes beyond that is this list.
    @Test(.enabled(if: hasOpenSSL && Vectors.shared != nil, "NOT TESTED: 166 cases, no shared vectors"))
    func `the same verdict on shared tokens, but where OpenSSL is laxer`() throws {
        let apple = try certificate("apple-ca/AppleRootCA-G3.cer")
        let minted = try certificate("minted/pki/root.pem")
        let reference = try #require(Timestamp(rfc3339: "2026-11-01T12:00:00Z"))
        var (taken, refused, notTokens) = (0, 0, 0)
        var laxer: [String] = []
        let names =
            realTokens.map { $0 + ".token.json" } + files("minted/tokens", ".json").filter { !$0.hasSuffix("expected.json") && !$0.contains("outer-deep") }
        for name in names {
            guard let token = SignedToken(name) else {
                notTokens += 1
                continue
            }
            let isReal = !name.hasPrefix("minted/")
            var at = reference
            if isReal, let cms = try? CMSSignedData(parsing: token.cms), case .one(let time) = cms.signingTime { at = time }
            let root = isReal ? apple : minted
            let ours = CMSSignedDataTests.verify(token.cms, token.content, root: root, at: at)
            let theirs = try CMSSignedDataTests.openSSLTakes(token.cms, token.content, root: root, at: at)
            switch (ours, theirs) {
            case (true, true): taken += 1
            case (false, false): refused += 1
            case (true, false): Issue.record("we took \(name), OpenSSL did not")
            case (false, true): laxer.append(name.replacing("minted/tokens/", with: ""))
            }
        }
        #expect(
            laxer == [
                "ec-sha1-digest.json", "ec-signed-attrs-absent.json", "ec-signing-time-absent.json", "rsa-sha1-digest.json",
                "rsa-signed-attrs-absent.json", "rsa-signing-time-absent.json",
            ])
        #expect(taken > 90 && refused > 20 && notTokens < 30, "\(taken) taken, \(refused) refused, \(notTokens) no tokens")
        print("tokens beside OpenSSL: \(taken) taken by both, \(refused) refused by both, \(laxer.count) OpenSSL laxer, \(notTokens) not tokens at all")
    }
}
