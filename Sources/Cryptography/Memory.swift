internal import CLibcrypto
public import Problems
internal import Secrets
internal import Synchronization

/// The memory OpenSSL works in: wiped whenever it is freed, and for long-lived keys a heap of its own that is locked, left out of core dumps and
/// fenced by guard pages.
public enum CryptographicMemory {
    /// Installs wiping malloc functions and the secure heap: the first thing in `main`, before anything else calls OpenSSL. A second call does nothing.
    /// - Parameters:
    ///   - secureHeapBytes: rounded up to a power of two. A P-256 key takes 64 bytes of it, an RSA-2048 key about 1.5 kB.
    ///   - wiping: false only as the negative control of the memory scan.
    /// - Throws: `cryptography.memory_unprotected` when OpenSSL has allocated already or the heap can't be made.
    public static func install(secureHeapBytes: Int, wiping: Bool = true) throws(Problem) {
        let result = installed.withLock { (installed: inout Bool) -> Result<Void, Problem> in
            guard !installed else { return .success(()) }
            if wiping, coster_install_wiping_memory() != 1 {
                return .failure(.cryptography(.memoryUnprotected, underlying: "CRYPTO_set_mem_functions came too late"))
            }
            var size = 1 << 16
            while size < secureHeapBytes, size < 1 << 30 { size <<= 1 }
            let made = CRYPTO_secure_malloc_init(size, 32)
            guard made != 0 else { return .failure(.cryptography(.memoryUnprotected, underlying: OpenSSLErrors.drain())) }
            locked.store(made == 1, ordering: .relaxed)
            installed = true
            return .success(())
        }
        try result.get()
    }

    /// Bytes in use in the secure heap; 0 where there is none.
    public static var secureHeapUsed: Int { CRYPTO_secure_malloc_initialized() == 1 ? CRYPTO_secure_used() : 0 }

    /// Whether the secure heap is there and the system locked it in memory, with guard pages around it.
    public static var secureHeapIsLocked: Bool { locked.load(ordering: .relaxed) }

    private static let installed = Mutex(false)
    private static let locked = Atomic(false)
}

/// A few bytes in the secure heap (or, before ``CryptographicMemory/install(secureHeapBytes:wiping:)``, in OpenSSL's ordinary one), wiped by `deinit`.
@safe struct SecureBuffer: ~Copyable, @unchecked Sendable {
    // Sendable: the one owner decides who writes; nobody does after the initialiser.
    private let memory: UnsafeMutableRawBufferPointer

    /// `count` bytes, zero at first, that `fill` writes.
    init(count: Int, _ fill: (UnsafeMutableRawBufferPointer) throws(Problem) -> Void) throws(Problem) {
        unsafe memory = try SecureBuffer.filled(count, fill)
    }

    init(copying secret: SecretBytes) throws(Problem) {
        unsafe memory = try SecureBuffer.filled(secret.count) { (memory) throws(Problem) in
            unsafe secret.withUnsafeBytes { unsafe memory.copyMemory(from: $0) }
        }
    }

    private static func filled(
        _ count: Int, _ fill: (UnsafeMutableRawBufferPointer) throws(Problem) -> Void
    ) throws(Problem) -> UnsafeMutableRawBufferPointer {
        guard let start = unsafe coster_secure_zalloc(count) else { throw .cryptography(.secureHeapExhausted, underlying: OpenSSLErrors.drain()) }
        let memory = unsafe UnsafeMutableRawBufferPointer(start: start, count: count)
        do { try unsafe fill(memory) } catch {
            unsafe coster_secure_clear_free(start, count)
            throw error
        }
        return unsafe memory
    }

    deinit { unsafe coster_secure_clear_free(memory.baseAddress, memory.count) }

    var count: Int { unsafe memory.count }
    var isInSecureHeap: Bool { unsafe CRYPTO_secure_allocated(memory.baseAddress) == 1 }

    @unsafe borrowing func withUnsafeBytes<R: ~Copyable, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        try unsafe body(UnsafeRawBufferPointer(memory))
    }
}
