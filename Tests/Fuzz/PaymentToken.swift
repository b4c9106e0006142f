// Token JSON in any dress: what a caller sends as `token`.
import ApplePay
import Encodings

/// A token either parses, and then twice alike, or is a problem of its own; nothing traps.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzPaymentToken(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = unsafe [UInt8](UnsafeBufferPointer(start: start, count: count))
    guard let token = try? PaymentToken(parsing: bytes) else { return 0 }
    guard let again = try? PaymentToken(parsing: bytes), again.signedContentDigest == token.signedContentDigest, again.publicKeyHash == token.publicKeyHash,
        !token.transactionId.isEmpty
    else { fatalError("a token that parsed does not parse again as the same") }
    return 0
}
