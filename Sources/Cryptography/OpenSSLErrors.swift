internal import CLibcrypto

/// OpenSSL's error queue. It belongs to the thread: drain it in the same synchronous function that failed, never across an `await`.
enum OpenSSLErrors {
    /// Empties the queue and gives its texts, oldest first. For `underlying` only: never for a user's eyes, and never to decide by.
    static func drain() -> String {
        var texts: [String] = []
        var text = [CChar](repeating: 0, count: 256)
        while unsafe text.withUnsafeMutableBufferPointer({ unsafe coster_next_error($0.baseAddress, $0.count) }) == 1 {
            texts.append(String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
        }
        return texts.isEmpty ? "no error queued" : texts.joined(separator: "; ")
    }

    /// Empties the queue: after a failure that is an ordinary answer, as a signature that does not fit.
    static func discard() { ERR_clear_error() }
}
