import Encodings
import Testing

@Suite struct RecordKindsTests {
    @Test func `each id carries the prefix that the interface promises`() {
        #expect(MerchantID(bits: 0).text.hasPrefix("mer_"))
        #expect(RegistrationID(bits: 0).text.hasPrefix("mid_"))
        #expect(CertificateID(bits: 0).text.hasPrefix("cert_"))
        #expect(CredentialID(bits: 0).text.hasPrefix("cred_"))
        #expect(DecryptionID(bits: 0).text.hasPrefix("dec_"))
    }

    @Test func `an id of one kind is none of another`() {
        #expect(CertificateID(CredentialID(bits: 7).text) == nil)
    }
}
