#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// Overwrites `memory` with zeros; the compiler may not leave it out.
@unsafe public func wipe(_ memory: UnsafeMutableRawBufferPointer) {
    guard let start = memory.baseAddress else { return }
    unsafe explicit_bzero(start, memory.count)
}

/// Overwrites the elements of `bytes` with zeros in place. A copy made earlier is not reached.
public func wipe(_ bytes: inout [UInt8]) {
    unsafe bytes.withUnsafeMutableBytes { unsafe wipe($0) }
}

/// Whether two byte strings are equal, in time that depends on their lengths only.
public func constantTimeEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    unsafe left.withUnsafeBytes { l in unsafe right.withUnsafeBytes { r in unsafe constantTimeEqual(l, r) } }
}

/// Whether two byte strings are equal, in time that depends on their lengths only.
@unsafe public func constantTimeEqual(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
    guard left.count == right.count else { return false }
    var difference: UInt8 = 0
    for index in 0..<left.count { unsafe difference |= left[index] ^ right[index] }
    return difference == 0
}
