import ApplePay
import Cryptography
import Encodings
import Sandbox
import TestSupport

/// Files as merchants upload them, made by `openssl`.
enum TestFiles {
    /// A `.p12` of a new key for the shop and a certificate that the sandbox's authority made for it.
    static func p12(
        identifier: String = House.shop, algorithm: KeyAlgorithm = .ecP256, password: String
    ) throws -> (content: [UInt8], key: [UInt8], certificate: Certificate) {
        let openssl = try OpenSSLCommand()
        defer { openssl.remove() }
        try openssl.must(algorithm == .ecP256 ? "ecparam -name prime256v1 -genkey -noout -out key.pem" : "genrsa -out key.pem 2048")
        try openssl.must("req -new -key key.pem -subj /CN=x -out request.pem")
        let certificate = try House.authority.issue(
            forRequest: try openssl.read("request.pem"), merchantIdentifier: try MerchantIdentifier(identifier), now: House.now)
        let key = try openssl.read("key.pem")
        return (try p12(key: key, certificate: Array(PEM.encode(certificate.der, label: "CERTIFICATE").utf8), password: password), key, certificate)
    }

    /// A `.p12` of these two PEM files.
    static func p12(key: [UInt8], certificate: [UInt8], password: String, options: String = "") throws -> [UInt8] {
        let openssl = try OpenSSLCommand()
        defer { openssl.remove() }
        try openssl.write("key.pem", key)
        try openssl.write("certificate.pem", certificate)
        try openssl.must("pkcs12 -export -inkey key.pem -in certificate.pem -passout 'pass:\(password)' \(options) -out out.p12")
        return try openssl.read("out.p12")
    }
}
