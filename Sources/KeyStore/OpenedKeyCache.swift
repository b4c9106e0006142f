import Cryptography
import Encodings
import Synchronization

/// Opened keys that were used lately: bounded, and the only place where a key outlives the call that opened it.
///
/// Two generations: what is asked for moves to the young one; when that is full, the old one is dropped and the young one becomes old. So at least the
/// last `capacity / 2` different keys asked for are held, never more than `capacity`, and nothing is sorted or scanned.
final class OpenedKeyCache: Sendable {
    private struct Generations {
        var young: [CertificateID: PrivateKey] = [:]
        var old: [CertificateID: PrivateKey] = [:]
    }

    private let generations = Mutex(Generations())
    private let half: Int

    init(capacity: Int) { half = max(1, capacity / 2) }

    func key(_ id: CertificateID) -> PrivateKey? {
        generations.withLock { generations in
            if let key = generations.young[id] { return key }
            guard let key = generations.old.removeValue(forKey: id) else { return nil }
            insert(key, id, &generations)
            return key
        }
    }

    func insert(_ key: PrivateKey, for id: CertificateID) {
        generations.withLock { insert(key, id, &$0) }
    }

    func remove(_ id: CertificateID) {
        generations.withLock {
            $0.young[id] = nil
            $0.old[id] = nil
        }
    }

    func removeAll() { generations.withLock { $0 = Generations() } }

    var count: Int { generations.withLock { $0.young.count + $0.old.count } }

    private func insert(_ key: PrivateKey, _ id: CertificateID, _ generations: inout Generations) {
        if generations.young.count >= half {
            generations.old = generations.young
            generations.young = [:]
        }
        generations.young[id] = key
    }
}
