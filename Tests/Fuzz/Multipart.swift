// The `multipart/form-data` body of an upload, and the query of any request.
@testable import API

/// Every part lies inside the body, in order, and none overlaps another.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzMultipart(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = unsafe [UInt8](UnsafeBufferPointer(start: start, count: count))
    for contentType in ["multipart/form-data; boundary=b", "multipart/form-data; boundary=\"b\"; charset=utf-8"] {
        guard let form = try? MultipartForm(bytes, contentType: contentType) else { continue }
        var end = 0
        for part in form.parts {
            guard part.content.lowerBound >= end, part.content.upperBound <= bytes.count else { fatalError("a part lies outside the body or over another") }
            end = part.content.upperBound
        }
    }
    let text = String(decoding: bytes, as: UTF8.self)
    _ = try? MultipartForm([], contentType: text)
    _ = try? QueryString(text, [])
    return 0
}
