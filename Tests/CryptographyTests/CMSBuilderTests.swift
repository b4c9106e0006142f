import Cryptography
import Encodings
import Problems
import Testing

struct CMSBuilderTests {
    private static let time = Timestamp(seconds: 1_793_534_400)
    private static let content = Array("content".utf8)
    private static let ec = try! signer(.p256(.generate()))
    /// Held by itself too: in an enum the reference is tagged, and the leak sanitizer does not know it again.
    private static let rsaKey = try! RSA.SigningKey.generate(bits: 2048)
    private static let rsa = try! signer(.rsa(rsaKey))

    private static func signer(_ key: SigningKey) throws -> CMSBuilder.Signer {
        let name = DistinguishedName([.init(.commonName, "signer")])
        let certificate = try CertificateBuilder(
            subject: name, issuer: name, spki: key.spki, notBefore: time, notAfter: time.adding(seconds: 86_400), extensions: []
        ).signed(by: key)
        return CMSBuilder.Signer(key: key, certificate: certificate)
    }

    private static func builder(_ signer: CMSBuilder.Signer = ec) -> CMSBuilder {
        CMSBuilder(signer: signer, certificates: [signer.certificate.der], signingTime: time)
    }

    @Test(arguments: [CMSBuilder.Encoding.ber, .der])
    func `the reader finds what was written`(_ encoding: CMSBuilder.Encoding) throws {
        for signer in [Self.ec, Self.rsa] {
            var builder = Self.builder(signer)
            builder.encoding = encoding
            let read = try CMSSignedData(parsing: builder.signedData(over: Self.content))
            #expect(read.isSigner(signer.certificate))
            #expect(read.certificates.map { Array(read.bytes[$0]) } == [signer.certificate.der])
            #expect(read.digestAlgorithm.oid == .sha256 && read.digestAlgorithm.isPlain)
            #expect(read.contentType == .one(.data))
            #expect(digest(read) == SHA256.digest(Self.content).bytes)
            #expect(read.signingTime == .one(Self.time))
            #expect(read.protectsAlgorithms == .one(true))
            let signed = try #require(read.signedAttributesDigest)
            switch signer.key {
            case .rsa(let key): #expect(try RSA.VerificationKey(spki: key.spki).isValid(signature: read.signature, over: signed))
            default: #expect(try P256.VerificationKey(spki: signer.key.spki).isValid(signature: read.signature, over: signed))
            }
        }
    }

    @Test func `the outer layers have Apple's form`() throws {
        let bytes = try Self.builder().signedData(over: Self.content)
        #expect(
            Hex.encode(bytes.prefix(52)).hasPrefix("308006092a864886f70d010702a0803080020101310d300b0609608648016503040201308006092a864886f70d0107010000a080"))
        #expect(bytes.suffix(6).allSatisfy { $0 == 0 })
    }

    @Test(arguments: [true, false])
    func `attached content and a second signer are refused by the reader`(_ attached: Bool) throws {
        var builder = Self.builder()
        if attached { builder.isAttached = true } else { builder.signers.append(Self.ec) }
        let bytes = try builder.signedData(over: Self.content)
        #expect(throws: CMSError.self) { try CMSSignedData(parsing: bytes) }
    }

    @Test(arguments: [0, 1, 2])
    func `signing times are written as often as asked`(_ count: Int) throws {
        var builder = Self.builder()
        builder.signingTimes = (0..<count).map { Self.time.adding(seconds: Int64($0)) }
        let read = try CMSSignedData(parsing: builder.signedData(over: Self.content))
        #expect(read.signingTime == [.absent, .one(Self.time), .several][count])
    }

    @Test func `without signed attributes the content itself is signed`() throws {
        var builder = Self.builder()
        builder.hasSignedAttributes = false
        let read = try CMSSignedData(parsing: builder.signedData(over: Self.content))
        #expect(read.signedAttributes == nil)
        #expect(try P256.VerificationKey(spki: Self.ec.key.spki).isValid(signature: read.signature, over: SHA256.digest(Self.content)))
    }

    @Test func `SHA-1 is consistent in itself`() throws {
        var builder = Self.builder()
        builder.digest = .sha1
        let read = try CMSSignedData(parsing: builder.signedData(over: Self.content))
        #expect(read.digestAlgorithm.oid == "1.3.14.3.2.26")
        #expect(digest(read).map { Hex.encode($0) } == "040f06fd774092478d450774f5ba30c5da78acc8")
    }

    private func digest(_ read: CMSSignedData) -> [UInt8]? {
        guard case .one(let range) = read.messageDigest else { return nil }
        return Array(read.bytes[range])
    }
}
