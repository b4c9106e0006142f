// The reader of Apple's signatures: BER and DER, detached, one signer.
import Cryptography
import Encodings

/// Every range of a signature that parses lies inside it, and its certificates are read as the verifier reads them.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzCMS(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = unsafe [UInt8](UnsafeBufferPointer(start: start, count: count))
    guard let cms = try? CMSSignedData(parsing: bytes) else { return 0 }
    let whole = 0..<cms.bytes.count
    for range in cms.certificates + [cms.signedAttributes].compactMap({ $0 }) {
        guard range.clamped(to: whole) == range else { fatalError("a range outside the signature") }
    }
    for range in cms.certificates {
        if let certificate = try? Certificate(der: Array(cms.bytes[range])) { _ = cms.isSigner(certificate) }
    }
    _ = cms.signedAttributesForSigning
    _ = cms.signedAttributesDigest
    return 0
}
