import Synchronization

/// Lets one caller through at a time; the others are told, not made to wait.
final class OneAtATime: Sendable {
    private let isTaken = Atomic(false)

    /// Whether the caller may go on; it must then call ``leave()``.
    func enter() -> Bool { isTaken.compareExchange(expected: false, desired: true, ordering: .acquiring).exchanged }
    func leave() { isTaken.store(false, ordering: .releasing) }
}
