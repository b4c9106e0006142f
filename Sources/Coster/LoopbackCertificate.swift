import Cryptography
import Encodings
import Problems
import Secrets

/// A TLS certificate for this machine talking to itself: `localhost`, 127.0.0.1 and ::1, self-signed, five years.
enum LoopbackCertificate {
    static func make(at now: Timestamp) throws(Problem) -> (certificate: String, privateKey: String) {
        let key = SigningKey.p256(try P256.SigningKey.generate())
        let name = DistinguishedName([.init(.commonName, "localhost"), .init(.organization, "Coster loopback")])
        let builder = CertificateBuilder(
            subject: name, issuer: name, spki: key.spki, notBefore: now.adding(seconds: -86_400), notAfter: now.adding(seconds: 5 * 365 * 86_400),
            extensions: [
                .basicConstraints(isCA: true), .keyUsage([.digitalSignature, .keyCertSign]), .extendedKeyUsage([.serverAuthentication]),
                .subjectKeyIdentifier(key.spki),
                // RFC 5280, 4.2.1.6: dNSName [2], iPAddress [7].
                .init("2.5.29.17") { writer in
                    writer.sequence { names in
                        names.raw([0x82, 9] + Array("localhost".utf8))
                        names.raw([0x87, 4, 127, 0, 0, 1])
                        names.raw([0x87, 16] + [UInt8](repeating: 0, count: 15) + [1])
                    }
                },
            ])
        let certificate = try builder.signed(by: key)
        // The private key goes into a file of its own, readable by its owner: PEM is what TLS libraries read.
        return (PEM.encode(certificate.der, label: "CERTIFICATE"), PEM.encode(try key.pkcs8().copyExposed(), label: "PRIVATE KEY"))
    }
}
