// The HTTP/1.1 codec. The first eight bytes say how the rest is split into chunks.
import HTTPServer

/// Bytes mean the same however they arrive: a codec that can be made to differ can be made to smuggle.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzHTTPRequest(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = unsafe [UInt8](UnsafeBufferPointer(start: start, count: count))
    guard bytes.count > 8 else { return 0 }
    let seed = bytes.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    guard RequestDecoderProbe.isIndependentOfChunks(Array(bytes.dropFirst(8)), seed: seed) else { fatalError("the split changes the meaning") }
    return 0
}
