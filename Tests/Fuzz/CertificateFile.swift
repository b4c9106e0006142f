// What the upload takes for a file: recognition through every wrapper, X.509, PEM, requests, Apple's rules on a certificate.
import ApplePay
import Cryptography
import Encodings

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzCertificateFile(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = unsafe [UInt8](UnsafeBufferPointer(start: start, count: count))
    let file = FileRecognizer.recognise(bytes)
    for certificate in file.certificates {
        guard let again = try? Certificate(der: certificate.der), again == certificate else { fatalError("a certificate does not read again as the same") }
        _ = certificate.subject.description + certificate.issuer.description + certificate.serialHex
        if let processing = try? PaymentProcessingCertificate(certificate: certificate) {
            guard processing.merchantIdentifier.text.utf8.count <= 255 else { fatalError("an identifier beyond its length") }
        }
    }
    _ = try? Certificate(der: bytes)
    _ = try? CertificationRequest(parsing: bytes)
    return 0
}
