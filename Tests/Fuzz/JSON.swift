// The strict JSON reader under every request body and every decrypted payload.
import Encodings

/// Whatever is accepted can be walked from end to end, and what the writer makes of it reads back as the same.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzJSON(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = unsafe [UInt8](UnsafeBufferPointer(start: start, count: count))
    guard let document = try? JSONDocument(bytes) else { return 0 }
    walk(document.root)
    return 0
}

private func walk(_ value: JSONValue) {
    guard value.range.upperBound <= value.document.bytes.count else { fatalError("a value beyond the document") }
    switch value.kind {
    case .object:
        _ = value.doubledMember
        for member in value.members {
            if value.doubledMember == nil, value.member(member.name)?.range != member.value.range { fatalError("a member is not found by its name") }
            walk(member.value)
        }
    case .array: value.elements.forEach(walk)
    case .string:
        guard let text = value.string else { fatalError("a string without text") }
        let written = JSONWriter.object { $0.member("text", text) }
        guard let back = try? JSONDocument(written), back.root.member("text")?.string == text else { fatalError("a string does not survive the writer") }
    case .number: guard value.numberText != nil else { fatalError("a number without text") }
    case .bool: guard value.bool != nil else { fatalError("neither true nor false") }
    case .null: break
    }
}
