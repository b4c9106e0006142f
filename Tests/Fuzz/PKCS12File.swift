// The walk over a `.p12` before any password is looked at, and what follows it at the price of a few iterations.
import Cryptography
import Encodings
import Secrets

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzPKCS12File(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = unsafe [UInt8](UnsafeBufferPointer(start: start, count: count))
    // Few iterations, so that a second holds many files; the seeds are made with one or two.
    let limits = PKCS12Limits(bytes: 1 << 16, iterations: 16, iterationsMade: 64, scryptBytes: 1 << 16, bags: 64)
    var password = Array("test".utf8)
    guard let contents = try? PKCS12.open(bytes, password: SecretBytes(consuming: &password), limits: limits) else { return 0 }
    guard contents.keys.count + contents.certificates.count <= 128 else { fatalError("more bags than allowed") }
    _ = contents.identities
    return 0
}
