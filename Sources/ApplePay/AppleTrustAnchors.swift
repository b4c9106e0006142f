public import Cryptography
import Encodings
public import Problems

/// Apple's certificate authorities as facts: name, key and dates. No certificate file is needed, and none found elsewhere is believed.
/// - Source: https://www.apple.com/certificateauthority/; SHA-256 of the certificates:
///   G3 root 63343abfb89a6a03ebb57e9b3f5fa7be7c4f5c756f3017b3a8c488c3653e9179,
///   WWDR G2 9ed4b3b88c6a339cf1387895bda9ca6ea31a6b5ce9edf7511845923b0c8ac94c.
public enum AppleTrustAnchors {
    /// Apple Root CA - G3: above every signer of tokens and every issuer of payment processing certificates. P-384, until 2039-04-30.
    public static let rootCAG3 = Fact(
        commonName: "Apple Root CA - G3", notBefore: "2014-04-30T18:19:06Z", notAfter: "2039-04-30T18:19:06Z",
        subjectKeyIdentifier: "bbb0dea15833889aa48a99debebdebafdacb24ab",
        spki: """
            3076301006072a8648ce3d020106052b810400220362000498e92f3d4072a4ed93227281131cdd1095f1c5a34e71dc1416d90ee5a6052a77
            647b5f4e38d3bb1c44b57ff51fb632625dc9e9845b4f304f115a00fd58580ca5f50f2c4d07471375da9797976f315ced2b9d7b203bd8b954d95e99a43a510a31
            """)

    /// Apple Worldwide Developer Relations CA - G2: issuer of payment processing certificates. P-256, until 2029-05-06.
    public static let developerRelationsCAG2 = Fact(
        commonName: "Apple Worldwide Developer Relations CA - G2", notBefore: "2014-05-06T23:43:24Z", notAfter: "2029-05-06T23:43:24Z",
        subjectKeyIdentifier: "84b684cc3a866272165994e81aa3bd48df3adf0b",
        spki: """
            3059301306072a8648ce3d020106082a8648ce3d03010703420004ddf0b7064bcfdd730413c44389039380fb5ef674ad4261525802265319c86322
            07095261cac4d957ef6d26688b74918cc4f9806828fc0968f010dae9d02ec91a
            """)

    /// What is known of one authority.
    public struct Fact: Sendable {
        public let subject: DistinguishedName
        /// DER SubjectPublicKeyInfo.
        public let spki: [UInt8]
        let subjectKeyIdentifier: [UInt8]
        let notBefore: Timestamp
        let notAfter: Timestamp

        fileprivate init(
            commonName: String, notBefore: StaticString, notAfter: StaticString, subjectKeyIdentifier: StaticString, spki: StaticString
        ) {
            subject = DistinguishedName([
                .init(.commonName, commonName), .init(.organizationalUnit, "Apple Certification Authority"), .init(.organization, "Apple Inc."),
                .init(.country, "US"),
            ])
            // Constants of this file, held by its tests: a slip in one gives an authority that nothing chains to.
            self.spki = Hex.decode(spki.description.filter { !$0.isWhitespace }) ?? []
            self.subjectKeyIdentifier = Hex.decode(subjectKeyIdentifier.description) ?? []
            self.notBefore = Timestamp(rfc3339: notBefore.description) ?? Timestamp(milliseconds: .max)
            self.notAfter = Timestamp(rfc3339: notAfter.description) ?? Timestamp(milliseconds: .min)
        }

        /// The authority as an anchor of a chain.
        public func anchor() throws(Problem) -> TrustAnchor {
            try TrustAnchor(subject: subject, spki: spki, subjectKeyIdentifier: subjectKeyIdentifier, notBefore: notBefore, notAfter: notAfter)
        }
    }
}
