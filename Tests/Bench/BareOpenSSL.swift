internal import CLibcrypto
import Cryptography
import Encodings
import Problems

/// The two OpenSSL calls that no reader of payment tokens can avoid, with their contexts reused: an ECDH derive and an ECDSA P-256 verification.
@safe final class BareOpenSSL {
    let signerSPKI: [UInt8]
    let signature: [UInt8]
    let digest: Digest256
    private let agreement: OpaquePointer
    private let verification: OpaquePointer
    private let digestBytes: [UInt8]

    init() throws(Problem) {
        let signer = try P256.SigningKey.generate()
        let message = [UInt8](repeating: 7, count: 400)
        signerSPKI = signer.publicKey.spki
        signature = try signer.signature(over: message)
        digest = SHA256.digest(message)
        digestBytes = digest.bytes
        guard let mine = unsafe generatedKey(), let peer = unsafe generatedKey(), let agreement = unsafe EVP_PKEY_CTX_new(mine, nil),
            unsafe EVP_PKEY_derive_init(agreement) == 1, unsafe EVP_PKEY_derive_set_peer_ex(agreement, peer, 0) == 1
        else { throw Problem(CryptographyProblem.libraryFailure) }
        unsafe self.agreement = agreement
        var cursor: UnsafePointer<UInt8>?
        let key = unsafe signerSPKI.withUnsafeBufferPointer { buffer in
            unsafe cursor = buffer.baseAddress
            return unsafe d2i_PUBKEY(nil, &cursor, buffer.count)
        }
        guard let key = unsafe key, let verification = unsafe EVP_PKEY_CTX_new(key, nil), unsafe EVP_PKEY_verify_init(verification) == 1 else {
            throw Problem(CryptographyProblem.libraryFailure)
        }
        unsafe self.verification = verification
    }

    func derive() throws(Problem) {
        var secret = [UInt8](repeating: 0, count: 32)
        var count = 32
        guard unsafe EVP_PKEY_derive(agreement, &secret, &count) == 1 else { throw Problem(CryptographyProblem.libraryFailure) }
    }

    func verify() throws(Problem) {
        guard unsafe EVP_PKEY_verify(verification, signature, signature.count, digestBytes, 32) == 1 else {
            throw Problem(CryptographyProblem.libraryFailure)
        }
    }
}

private func generatedKey() -> OpaquePointer? {
    guard let context = unsafe EVP_PKEY_CTX_new_from_name(nil, "EC", nil), unsafe EVP_PKEY_keygen_init(context) == 1,
        unsafe EVP_PKEY_CTX_set_group_name(context, "P-256") == 1
    else { return nil }
    var key: OpaquePointer?
    unsafe EVP_PKEY_generate(context, &key)
    unsafe EVP_PKEY_CTX_free(context)
    return unsafe key
}
