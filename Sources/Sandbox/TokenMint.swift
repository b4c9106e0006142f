public import Problems

import ApplePay
import Cryptography
import Encodings
import Secrets

extension SandboxAuthority {
    /// The whole `PKPaymentToken` as compact JSON: `{"paymentData":…,"paymentMethod":…,"transactionIdentifier":…}`.
    ///
    /// Each call makes a new transaction, a new ephemeral key and new cryptograms.
    /// - Throws: `sandbox.recipient_key_unsupported`, `sandbox.version_mismatch`, `sandbox.defect_not_applicable`.
    public func mint(_ order: MintOrder) throws(Problem) -> [UInt8] {
        let recipient = TokenRecipient(spki: order.recipient)
        let algorithm = recipient.algorithm
        guard order.algorithm == nil || order.algorithm == algorithm else { throw .sandbox(.versionMismatch) }
        if let odd = Defect.allCases.first(where: { order.defects.contains($0) && !$0.applies(to: algorithm) }) {
            throw .sandbox(.defectNotApplicable, cause: "The defect \(odd.rawValue) doesn't exist for \(algorithm.tokenVersion) tokens.")
        }
        var token = try MintedToken(order, recipient)
        try token.sign(with: self, order)
        token.changeAfterSigning(order)
        return token.json(order)
    }
}

/// A token on its way from content to JSON.
private struct MintedToken {
    let algorithm: KeyAlgorithm
    let publicKeyHash: Digest256
    let card: TestCard
    /// `ephemeralPublicKey` or `wrappedKey`.
    var key: [UInt8]
    var data: [UInt8]
    var transactionID: [UInt8]
    var applicationData: [UInt8]?
    var signature: [UInt8] = []

    /// Content, encryption, the signed fields.
    init(_ order: MintOrder, _ recipient: TokenRecipient) throws(Problem) {
        let defects = order.defects
        algorithm = recipient.algorithm
        publicKeyHash = SHA256.digest(order.recipient)
        card = order.card
        (key, data) = try recipient.seal(SecretBytes(copying: MintedToken.content(order)), order)
        if defects.contains(.tagFlipped) { data[data.count - 1] ^= 1 }
        if defects.contains(.tagTruncated) { data.removeLast(4) }
        if defects.contains(.dataTooShort) { data = Array(data.prefix(15)) }
        if defects.contains(.compressedPoint) { key = MintedToken.compressed(key) }
        // Every x has at most two y on the curve: with its low bit changed, this one is neither but once in 2²⁵⁵.
        if defects.contains(.pointOffCurve) { key[key.count - 1] ^= 1 }
        transactionID = randomBytes(32)
        transactionID[0] = defects.contains(.transactionIDLeadingZero) ? 0 : max(1, transactionID[0])
        applicationData = order.applicationData.map { SHA256.digest($0).bytes }
    }

    private static func content(_ order: MintOrder) -> [UInt8] {
        var content =
            switch order.payload {
            case .preset(let preset): preset.content(amount: order.amount, currency: order.currency, now: order.now)
            case .verbatim(let bytes): bytes
            }
        for defect in Defect.allCases where order.defects.contains(defect) {
            switch defect {
            case .contentNotJSON: content = Array("not JSON".utf8)
            case .contentNotUTF8: content = Array(#"{"note":""#.utf8) + [0xff, 0xfe] + Array(#""}"#.utf8)
            case .contentNotAnObject: content = [UInt8(ascii: "[")] + content + [UInt8(ascii: "]")]
            case .contentDoubledMember:
                content =
                    Array(#"{"applicationPrimaryAccountNumber":"4111111111111111","applicationPrimaryAccountNumber":"4012888888881881"}"#.utf8)
            default: break
            }
        }
        return content
    }

    /// The SubjectPublicKeyInfo of the same point in compressed form.
    private static func compressed(_ spki: [UInt8]) -> [UInt8] {
        let prefix: [UInt8] = [
            0x30, 0x39, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03,
            0x22, 0x00,
        ]
        return prefix + [2 + spki[90] & 1] + spki[27..<59]
    }

    /// What Apple signs, in its order.
    private var signedContent: [UInt8] { key + data + transactionID + (applicationData ?? []) }

    mutating func sign(with authority: SandboxAuthority, _ order: MintOrder) throws(Problem) {
        let defects = order.defects
        let chain = try authority.chain(for: algorithm, order)
        var certificates = [chain.signer.certificate.der]
        if !defects.contains(.intermediateMissing) { certificates.append(chain.intermediate.der) }
        if defects.contains(.rootIncluded) { certificates.append(chain.root.der) }
        if defects.contains(.certificatesReversed) { certificates.reverse() }
        var signingTime = order.now
        if defects.contains(.signedOneHourAgo) { signingTime = order.now.adding(seconds: -3600) }
        if defects.contains(.signedInTheFuture) { signingTime = order.now.adding(seconds: 3600) }
        var builder = CMSBuilder(signer: chain.signer, certificates: certificates, signingTime: signingTime)
        if defects.contains(.signingTimeMissing) { builder.signingTimes = [] }
        if defects.contains(.signingTimeDoubled) { builder.signingTimes = [signingTime, signingTime.adding(seconds: 1)] }
        builder.hasSignedAttributes = !defects.contains(.signedAttributesMissing)
        if defects.contains(.sha1Digest) { builder.digest = .sha1 }
        builder.isAttached = defects.contains(.attachedContent)
        if defects.contains(.secondSigner) { builder.signers.append(chain.signer) }
        if defects.contains(.derEncoding) { builder.encoding = .der }
        signature = try builder.signedData(over: signedContent)
        if defects.contains(.signatureFlipped) {
            // The signature value is the last element; behind it stand the end-of-contents octets of the BER layers.
            let last = signature.count - 1 - (defects.contains(.derEncoding) ? 0 : 6)
            signature[last] ^= 1
        }
        if defects.contains(.signatureNotCMS) { signature = Array("not a CMS".utf8) }
    }

    mutating func changeAfterSigning(_ order: MintOrder) {
        if order.defects.contains(.dataFlipped) { data[0] ^= 1 }
        if order.defects.contains(.transactionIDChanged) { transactionID[31] ^= 1 }
        if order.defects.contains(.applicationDataChanged) { applicationData = randomBytes(32) }
    }

    func json(_ order: MintOrder) -> [UInt8] {
        let defects = order.defects
        let odd = defects.contains(.unknownMembers)
        let dataText = Base64.encode(data)
        let transactionIDText = Hex.encode(transactionID)
        return JSONWriter.object { token in
            token.member("paymentData") {
                $0.object { paymentData in
                    if !defects.contains(.versionMissing) {
                        let text = algorithm.tokenVersion
                        paymentData.member("version", defects.contains(.versionUnknown) ? text.replacing("v1", with: "v2") : text)
                    }
                    if defects.contains(.dataDoubled) { paymentData.member("data", Base64.encode(randomBytes(data.count))) }
                    paymentData.member("data", defects.contains(.base64URL) ? Base64.encodeURL(data) : dataText)
                    paymentData.member("signature", Base64.encode(signature))
                    if odd { paymentData.member("somethingNew", raw: #"{"a":[1,2.5,null,true]}"#.utf8) }
                    if !defects.contains(.headerMissing) {
                        paymentData.member("header") {
                            $0.object { header in
                                header.member(algorithm == .ecP256 ? "ephemeralPublicKey" : "wrappedKey", Base64.encode(key))
                                header.member("publicKeyHash", Base64.encode(defects.contains(.unknownPublicKeyHash) ? randomBytes(32) : publicKeyHash.bytes))
                                header.member("transactionId", transactionIDText)
                                if let applicationData { header.member("applicationData", Hex.encode(applicationData)) }
                                if odd { header.member("somethingNew", "x") }
                            }
                        }
                    }
                }
            }
            token.member("paymentMethod") {
                $0.object {
                    $0.member("displayName", card.displayName)
                    $0.member("network", card.network)
                    $0.member("type", card.type)
                    if odd { $0.member("somethingNew", 1) }
                }
            }
            token.member("transactionIdentifier", transactionIDText)
            if odd { token.member("somethingNew", [String]()) }
        }
    }
}

extension MintOrder {
    /// The card shown in `paymentMethod`; for the caller's own content the usual one, as nothing there is signed.
    fileprivate var card: TestCard {
        switch payload {
        case .preset(let preset): preset.card
        case .verbatim: TestPayload.Preset.threeDSecure.card
        }
    }
}

/// The key a token is encrypted to.
private enum TokenRecipient {
    case ec(P256.PublicKey)
    /// SubjectPublicKeyInfo of all that is no P-256 key; whether it is RSA with 2048 bits shows in wrapping.
    case rsa([UInt8])

    init(spki: [UInt8]) {
        if let key = try? P256.PublicKey(spki: spki) {
            self = .ec(key)
        } else {
            self = .rsa(spki)
        }
    }

    var algorithm: KeyAlgorithm {
        switch self {
        case .ec: .ecP256
        case .rsa: .rsa2048
        }
    }

    /// `ephemeralPublicKey` or `wrappedKey`, and `data`.
    func seal(_ content: SecretBytes, _ order: MintOrder) throws(Problem) -> (key: [UInt8], data: [UInt8]) {
        let nonceBytes = order.defects.contains(.nonceOf12Bytes) ? 12 : 16
        switch self {
        case .ec(let recipient):
            let hash =
                order.defects.contains(.wrongMerchantIdentifier)
                ? SHA256.digest(Array("\(order.merchantIdentifier.text).other".utf8)) : order.merchantIdentifier.hash
            while true {
                let ephemeral = try P256.AgreementKey.generate()
                let secret = try ephemeral.sharedSecret(with: recipient)
                if order.defects.contains(.sharedSecretLeadingZero), !secret.beginsWithZero { continue }
                let key = try secret.deriveKey(algorithmID: Array("id-aes256-GCM".utf8), partyUInfo: Array("Apple".utf8), partyVInfo: hash)
                return (ephemeral.publicKey.spki, try key.seal(content, nonceBytes: nonceBytes))
            }
        case .rsa(let recipient):
            let secret = try SecureRandom.secret(16)
            guard let wrapped = try? RSA.wrapOAEP256(secret, to: recipient), wrapped.count == 256 else { throw .sandbox(.recipientKeyUnsupported) }
            return (wrapped, try ContentKey(secret).seal(content, nonceBytes: nonceBytes))
        }
    }
}

/// The certificates behind one token's signature.
private struct SignerChain: Sendable {
    let signer: CMSBuilder.Signer
    let intermediate: Certificate
    let root: Certificate
}

extension SandboxAuthority {
    /// The usual chain, or one made for the order with the defects it asks for.
    fileprivate func chain(for algorithm: KeyAlgorithm, _ order: MintOrder) throws(Problem) -> SignerChain {
        let defects = order.defects
        let day: Int64 = 86_400
        let usual = algorithm == .ecP256 ? ecSigner : rsaSigner
        var (leaf, intermediate, root) = (usual.certificate, integrationCertificate, rootCertificate)
        var (integrationKey, rootKey) = (integrationKey, rootKey)
        let foreign = defects.contains(.untrustedRoot)
        if foreign {
            // New keys under the same names, as a forger would have them.
            rootKey = try P384.SigningKey.generate()
            integrationKey = try P256.SigningKey.generate()
            root = try shapes.root(key: rootKey)
        }
        if foreign || defects.contains(.intermediateMarkerMissing) {
            intermediate = try shapes.integration(
                spki: integrationKey.publicKey.spki, root: rootKey, marker: !defects.contains(.intermediateMarkerMissing))
        }
        if foreign || !defects.isDisjoint(with: [.leafMarkerMissing, .leafExpired, .leafNotYetValid, .leafForged]) {
            var shapes = shapes
            if defects.contains(.leafExpired) { (shapes.notBefore, shapes.notAfter) = (order.now.adding(seconds: -30 * day), order.now.adding(seconds: -day)) }
            if defects.contains(.leafNotYetValid) {
                (shapes.notBefore, shapes.notAfter) = (order.now.adding(seconds: day), order.now.adding(seconds: 30 * day))
            }
            leaf = try shapes.signer(
                usual.key, issuer: defects.contains(.leafForged) ? P256.SigningKey.generate() : integrationKey, named: integrationKey,
                marker: !defects.contains(.leafMarkerMissing))
        }
        return SignerChain(signer: CMSBuilder.Signer(key: usual.key, certificate: leaf), intermediate: intermediate, root: root)
    }
}
