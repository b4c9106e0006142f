internal import CLibcrypto
public import Problems
public import Secrets

/// Random bytes from OpenSSL's generators, seeded by the kernel.
public enum SecureRandom {
    /// Bytes that may be seen: nonces, ids.
    /// - Throws: `cryptography.random_unavailable`.
    public static func bytes(_ count: Int) throws(Problem) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let made = unsafe bytes.withUnsafeMutableBufferPointer { unsafe RAND_bytes_ex(nil, $0.baseAddress, $0.count, 0) }
        guard made == 1 else { throw .cryptography(.randomUnavailable, underlying: OpenSSLErrors.drain()) }
        return bytes
    }

    /// Bytes that stay secret, from the generator OpenSSL keeps for those.
    /// - Throws: `cryptography.random_unavailable`.
    public static func secret(_ count: Int) throws(Problem) -> SecretBytes {
        try unsafe SecretBytes(count: count) { (memory) throws(Problem) in try unsafe fill(memory) }
    }

    static func fill(_ memory: UnsafeMutableRawBufferPointer) throws(Problem) {
        let made = unsafe RAND_priv_bytes_ex(nil, memory.bindMemory(to: UInt8.self).baseAddress, memory.count, 0)
        guard made == 1 else { throw .cryptography(.randomUnavailable, underlying: OpenSSLErrors.drain()) }
    }
}
