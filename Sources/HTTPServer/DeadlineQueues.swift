/// The deadlines of one loop's connections: each connection has at most one at a time.
///
/// All deadlines of a kind have the same length, so each kind is a queue already in order: setting and cancelling cost the same few
/// nanoseconds whether ten connections wait or ten thousand. The links lie in arrays indexed by slot; nothing is allocated per deadline.
struct DeadlineQueues {
    enum Kind: Int, CaseIterable, Sendable {
        case handshake, head, body, write, idle, linger
    }

    /// - Parameter nanoseconds: the length of each kind, in the order of ``Kind``.
    init(nanoseconds: [Int64]) {
        lengths = nanoseconds
        first = Array(repeating: -1, count: nanoseconds.count)
        last = first
    }

    /// Gives `slot` the deadline `now` + the length of `kind`, in place of any other; nil takes it away.
    /// - Returns: the new deadline.
    @discardableResult
    mutating func set(_ slot: Int, _ kind: Kind?, now: Int64) -> Int64? {
        while slot >= links.count { links.append(Link()) }
        unlink(slot)
        guard let kind else { return nil }
        let queue = kind.rawValue
        let deadline = now + lengths[queue]
        links[slot] = Link(previous: last[queue], next: -1, queue: queue, deadline: deadline)
        if last[queue] >= 0 { links[last[queue]].next = slot } else { first[queue] = slot }
        last[queue] = slot
        return deadline
    }

    /// The earliest deadline of all.
    var earliest: Int64? {
        var earliest: Int64?
        for slot in first where slot >= 0 {
            let deadline = links[slot].deadline
            earliest = min(earliest ?? deadline, deadline)
        }
        return earliest
    }

    /// Takes out one deadline that is not after `now`.
    mutating func popExpired(now: Int64) -> (slot: Int, kind: Kind)? {
        for kind in Kind.allCases {
            let slot = first[kind.rawValue]
            if slot >= 0, links[slot].deadline <= now {
                unlink(slot)
                return (slot, kind)
            }
        }
        return nil
    }

    private struct Link {
        var previous = -1
        var next = -1
        var queue = -1
        var deadline: Int64 = 0
    }

    private let lengths: [Int64]
    private var links: [Link] = []
    private var first: [Int]
    private var last: [Int]

    private mutating func unlink(_ slot: Int) {
        let link = links[slot]
        guard link.queue >= 0 else { return }
        if link.previous >= 0 { links[link.previous].next = link.next } else { first[link.queue] = link.next }
        if link.next >= 0 { links[link.next].previous = link.previous } else { last[link.queue] = link.previous }
        links[slot] = Link()
    }
}
