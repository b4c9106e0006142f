import Cryptography
import Encodings
import Synchronization

/// Opened keys that were used lately: bounded, and the only place where a key outlives the call that opened it.
///
/// Two generations: what is asked for moves to the young one; when that is full, the old one is dropped and the young one becomes old. So at least the
/// last `capacity / 2` different keys asked for are held, never more than `capacity`, and nothing is sorted or scanned. A capacity below 2 holds none.
final class OpenedKeyCache: Sendable {
    private struct Generations {
        var young: [CertificateID: PrivateKey] = [:]
        var old: [CertificateID: PrivateKey] = [:]
        var removals = 0
    }

    /// A point between removals.
    struct Moment { fileprivate let removals: Int }

    private let generations = Mutex(Generations())
    private let half: Int

    init(capacity: Int) { half = max(0, capacity / 2) }

    func key(_ id: CertificateID) -> PrivateKey? {
        generations.withLock { generations in
            if let key = generations.young[id] { return key }
            guard let key = generations.old.removeValue(forKey: id) else { return nil }
            insert(key, id, &generations)
            return key
        }
    }

    /// To be taken before the key is read from the database.
    var moment: Moment { Moment(removals: generations.withLock { $0.removals }) }

    /// Keeps a key, unless any was removed since `moment`: it may have been read from a snapshot older than its destruction.
    func insert(_ key: PrivateKey, for id: CertificateID, readAt moment: Moment) {
        generations.withLock { if $0.removals == moment.removals { insert(key, id, &$0) } }
    }

    func remove(_ id: CertificateID) {
        generations.withLock {
            $0.young[id] = nil
            $0.old[id] = nil
            $0.removals += 1
        }
    }

    func removeAll() { generations.withLock { $0 = Generations(removals: $0.removals + 1) } }

    var count: Int { generations.withLock { $0.young.count + $0.old.count } }

    private func insert(_ key: PrivateKey, _ id: CertificateID, _ generations: inout Generations) {
        guard half > 0 else { return }
        generations.old[id] = nil
        if generations.young.count >= half, generations.young[id] == nil {
            generations.old = generations.young
            generations.young = [:]
        }
        generations.young[id] = key
    }
}
