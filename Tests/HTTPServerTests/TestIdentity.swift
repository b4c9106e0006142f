import CLibevent
import Encodings
import Secrets

/// A P-256 key and a certificate it signed itself, made for this run.
struct TestIdentity: Sendable {
    let certificatePEM: [UInt8]
    let keyPEM: [UInt8]
    let spkiHash: Digest256

    static let server = make("localhost")
    static let client = make("client one")
    static let otherClient = make("client two")

    /// Nil only when OpenSSL fails; the tests then do, too.
    static func make(_ commonName: String) -> TestIdentity? {
        let generator = unsafe EVP_PKEY_CTX_new_id(EVP_PKEY_EC, nil)
        defer { unsafe EVP_PKEY_CTX_free(generator) }
        var key: OpaquePointer?
        guard unsafe EVP_PKEY_keygen_init(generator) == 1, unsafe EVP_PKEY_CTX_set_group_name(generator, "P-256") == 1,
            unsafe EVP_PKEY_generate(generator, &key) == 1
        else { return nil }
        defer { unsafe EVP_PKEY_free(key) }
        let certificate = unsafe X509_new()
        defer { unsafe X509_free(certificate) }
        let name = unsafe X509_get_subject_name(certificate)
        let subject = Array(commonName.utf8)
        guard unsafe ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1) == 1, unsafe X509_set_version(certificate, 2) == 1,
            unsafe X509_gmtime_adj(X509_getm_notBefore(certificate), -60) != nil, unsafe X509_gmtime_adj(X509_getm_notAfter(certificate), 86_400) != nil,
            unsafe X509_NAME_add_entry_by_txt(name, "CN", 0x1000 | 1, subject, Int32(subject.count), -1, 0) == 1,
            unsafe X509_set_issuer_name(certificate, name) == 1, unsafe X509_set_pubkey(certificate, key) == 1,
            unsafe X509_sign(certificate, key, EVP_sha256()) > 0
        else { return nil }

        guard let certificatePEM = unsafe text(of: { unsafe PEM_write_bio_X509($0, certificate) }),
            let keyPEM = unsafe text(of: { unsafe PEM_write_bio_PrivateKey($0, key, nil, nil, 0, nil, nil) }),
            let spki = unsafe text(of: { unsafe i2d_PUBKEY_bio($0, key) })
        else { return nil }
        var digest = [UInt8](repeating: 0, count: 32)
        guard unsafe EVP_Digest(spki, spki.count, &digest, nil, EVP_sha256(), nil) == 1, let spkiHash = Digest256(digest) else { return nil }
        return TestIdentity(certificatePEM: certificatePEM, keyPEM: keyPEM, spkiHash: spkiHash)

        func text(of write: (OpaquePointer?) -> Int32) -> [UInt8]? {
            let sink = unsafe BIO_new(BIO_s_mem())
            defer { unsafe BIO_free(sink) }
            guard unsafe write(sink) == 1 else { return nil }
            var bytes = [UInt8](repeating: 0, count: 4096)
            let count = unsafe BIO_read(sink, &bytes, Int32(bytes.count))
            return count > 0 ? Array(bytes[..<Int(count)]) : nil
        }
    }

    /// Puts certificate and key into a client's context.
    @unsafe func use(in context: OpaquePointer?) -> Bool {
        let certificateSource = unsafe BIO_new_mem_buf(certificatePEM, Int32(certificatePEM.count))
        let keySource = unsafe BIO_new_mem_buf(keyPEM, Int32(keyPEM.count))
        defer {
            unsafe BIO_free(certificateSource)
            unsafe BIO_free(keySource)
        }
        let certificate = unsafe PEM_read_bio_X509(certificateSource, nil, nil, nil)
        let key = unsafe PEM_read_bio_PrivateKey(keySource, nil, nil, nil)
        defer {
            unsafe X509_free(certificate)
            unsafe EVP_PKEY_free(key)
        }
        return unsafe SSL_CTX_use_certificate(context, certificate) == 1 && SSL_CTX_use_PrivateKey(context, key) == 1
    }
}
