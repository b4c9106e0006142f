import ApplePay
import Cryptography
import Encodings
import TestSupport
import Testing

@Suite struct AppleTrustAnchorsTests {
    /// Name, key, dates and key identifier of Apple's own files.
    @Test(arguments: Vectors.shared == nil ? Vectors.unavailable("Apple's authorities", cases: 2) : ["AppleRootCA-G3", "AppleWWDRCAG2"])
    func `the constants are those of Apple's certificates`(_ file: String) throws {
        let fact = file == "AppleRootCA-G3" ? AppleTrustAnchors.rootCAG3 : AppleTrustAnchors.developerRelationsCAG2
        let real = try TestFiles.certificate("apple-ca/\(file).cer")
        let anchor = try fact.anchor().certificate
        #expect(fact.spki == real.spki)
        #expect(fact.subject == real.subject)
        #expect(anchor.subject.encoded == real.subject.encoded)
        #expect(anchor.notBefore == real.notBefore && anchor.notAfter == real.notAfter)
        #expect(anchor.extensionValues(.subjectKeyIdentifier) == real.extensionValues(.subjectKeyIdentifier))
    }

    @Test func `the constants are whole`() throws {
        #expect(AppleTrustAnchors.rootCAG3.spki.count == 120)
        #expect(AppleTrustAnchors.developerRelationsCAG2.spki.count == 91)
        #expect(try AppleTrustAnchors.rootCAG3.anchor().certificate.notAfter.rfc3339 == "2039-04-30T18:19:06Z")
        #expect(try AppleTrustAnchors.developerRelationsCAG2.anchor().certificate.isCA)
    }
}
