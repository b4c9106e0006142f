public import Cryptography
import Encodings
public import Problems
import Secrets

extension VerifiedPaymentToken {
    /// Opens the token with the key that its public key hash names: the one place where a merchant's private key meets a token.
    ///
    /// - Throws: `payment_token.undecryptable` for everything between the first use of the key and a verified tag, one text, whatever the cause;
    ///   once the tag has verified, `payment_token.content_unexpected`. Before the key is used, `payment_token.algorithm_mismatch`.
    public func decrypt(with key: PrivateKey, merchantIdentifier: MerchantIdentifier) throws(Problem) -> PaymentData {
        let plaintext: SecretBytes
        do {
            plaintext = try TokenDecryptor.plaintext(of: token, with: key, merchantIdentifier)
        } catch {
            // Want of memory is no oracle, and the payment can be tried again.
            throw error.retryable || error == .paymentToken(.algorithmMismatch) ? error : .paymentToken(.undecryptable)
        }
        return try PaymentData(plaintext: plaintext, applicationData: token.applicationData)
    }
}

/// Restores the symmetric key of a token and opens its `data`.
/// - Source: Apple, "Restoring the symmetric key"; NIST SP 800-56A (2007), 5.8.1; RFC 8017, 7.1.
enum TokenDecryptor {
    /// The KDF's AlgorithmID; its length goes before it as one byte.
    private static let algorithmID = Array("id-aes256-GCM".utf8)
    private static let partyUInfo = Array("Apple".utf8)
    /// RSA_v1 wraps the key of AES-128-GCM; longer ones are not Apple's.
    private static let wrappedContentKeyBytes = 16

    static func plaintext(
        of token: PaymentToken, with key: PrivateKey, _ merchantIdentifier: MerchantIdentifier
    ) throws(Problem) -> SecretBytes {
        let contentKey: ContentKey
        var isKeyKnown = true
        switch (token.version, key) {
        case (.ecV1(let ephemeralPublicKey), .p256(let key)):
            // The point was checked when the token was read.
            contentKey = try key.sharedSecret(with: ephemeralPublicKey).deriveKey(
                algorithmID: algorithmID, partyUInfo: partyUInfo, partyVInfo: merchantIdentifier.hash)
        case (.rsaV1(let wrappedKey), .rsa(let key)):
            let unwrapped = key.unwrapOAEP256(wrappedKey)
            // A key that did not unwrap is replaced by a random one, so that bad padding and a bad tag take the same steps.
            let substitute = try SecureRandom.secret(wrappedContentKeyBytes)
            isKeyKnown = unwrapped?.count == wrappedContentKeyBytes
            contentKey = try ContentKey(isKeyKnown ? unwrapped ?? substitute : substitute)
        case (.ecV1, .rsa), (.rsaV1, .p256):
            throw .paymentToken(.algorithmMismatch)
        }
        guard let plaintext = contentKey.open(token.data), isKeyKnown else { throw .paymentToken(.undecryptable) }
        return plaintext
    }
}
