/// Bytes that are wiped when the last reference to them goes, and that print as `<secret>`.
///
/// A reference: passing it on copies no byte. The content never changes after it was made, so it can be shared between threads.
@safe public final class SecretBytes: @unchecked Sendable {
    // Sendable: written only by the initialisers, read-only afterwards, wiped by the last owner.
    private let storage: UnsafeMutableRawBufferPointer

    /// The number of bytes.
    public var count: Int { unsafe storage.count }

    /// Copies `bytes`. The caller's copy is the caller's to wipe: see ``init(consuming:)``.
    @specialized(where Bytes == [UInt8])
    @specialized(where Bytes == ArraySlice<UInt8>)
    public init<Bytes: Collection<UInt8>>(copying bytes: Bytes) {
        unsafe storage = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 16)
        unsafe storage.copyBytes(from: bytes)
    }

    /// Takes `bytes` over: copies them and wipes the source.
    public init(consuming bytes: inout [UInt8]) {
        unsafe storage = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 16)
        unsafe storage.copyBytes(from: bytes)
        wipe(&bytes)
        bytes = []
    }

    /// `count` bytes, zero at first, that `fill` writes once.
    public init<E: Error>(count: Int, _ fill: (UnsafeMutableRawBufferPointer) throws(E) -> Void) throws(E) {
        unsafe storage = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
        unsafe storage.initializeMemory(as: UInt8.self, repeating: 0)
        try unsafe fill(storage)
    }

    deinit {
        unsafe wipe(storage)
        unsafe storage.deallocate()
    }

    /// Reads the bytes in place. The pointer ends with the call.
    @unsafe public func withUnsafeBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        defer { withExtendedLifetime(self) {} }
        return try unsafe body(UnsafeRawBufferPointer(storage))
    }

    /// A copy that does not wipe itself: say why at each use. One search for this name finds every exit.
    public func copyExposed() -> [UInt8] { unsafe Array(storage) }
}

extension SecretBytes: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "<secret>" }
    public var debugDescription: String { "<secret>" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension SecretBytes: Equatable {
    /// In constant time for equal lengths.
    public static func == (left: SecretBytes, right: SecretBytes) -> Bool {
        unsafe left.withUnsafeBytes { l in unsafe right.withUnsafeBytes { r in unsafe constantTimeEqual(l, r) } }
    }
}
