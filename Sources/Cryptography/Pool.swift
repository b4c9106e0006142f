internal import Synchronization

/// Idle elements kept for reuse: each is used by one thread at a time, the most recently used first. For contexts of OpenSSL that cost more to make
/// than to use and hold no secret of a call in them.
final class Pool<Element: Sendable>: Sendable {
    private let idle = Mutex<[Element]>([])
    private let limit: Int

    /// - Parameter limit: how many idle elements are kept; above the number of threads that work at once it does nothing.
    init(keeping limit: Int = 16) { self.limit = limit }

    func with<R: ~Copyable, E: Error>(orMaking make: () throws(E) -> Element, _ body: (Element) throws(E) -> R) throws(E) -> R {
        let held = idle.withLock { $0.popLast() }
        let element: Element
        if let held { element = held } else { element = try make() }
        defer { idle.withLock { if $0.count < limit { $0.append(element) } } }
        return try body(element)
    }
}
