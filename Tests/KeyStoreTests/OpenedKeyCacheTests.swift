import Cryptography
import Encodings
import Testing

@testable import KeyStore

@Suite struct OpenedKeyCacheTests {
    private let key: PrivateKey
    init() throws { key = .p256(try P256.AgreementKey.generate()) }

    private func insert(_ number: Int, _ cache: OpenedKeyCache) { cache.insert(key, for: id(number), readAt: cache.moment) }
    private func id(_ number: Int) -> CertificateID { CertificateID(bits: UInt128(number)) }

    @Test(arguments: [-1, 0, 1, 2, 3, 4, 7, 100])
    func `never holds more than its capacity, and always the last half`(_ capacity: Int) {
        let cache = OpenedKeyCache(capacity: capacity)
        for number in 0..<300 {
            insert(number, cache)
            #expect(cache.count <= max(capacity, 0))
            guard capacity >= 2 else { continue }
            for recent in max(0, number - capacity / 2 + 1)...number { #expect(cache.key(id(recent)) != nil) }
        }
    }

    @Test func `what is asked for stays`() {
        let cache = OpenedKeyCache(capacity: 8)
        insert(0, cache)
        for number in 1..<100 {
            insert(number, cache)
            #expect(cache.key(id(0)) != nil)
        }
        #expect(cache.key(id(1)) == nil)
    }

    @Test func `the same key twice is held once`() {
        let cache = OpenedKeyCache(capacity: 4)
        for _ in 0..<9 { insert(1, cache) }
        #expect(cache.count == 1)
        insert(2, cache)
        insert(3, cache)
        // 1 and 2 are old now; 1 comes again by another way.
        insert(1, cache)
        #expect(cache.count == 3)
    }

    @Test func `removes one or all`() {
        let cache = OpenedKeyCache(capacity: 8)
        for number in 0..<7 { insert(number, cache) }
        cache.remove(id(6))
        cache.remove(id(0))
        #expect(cache.key(id(6)) == nil && cache.key(id(0)) == nil && cache.key(id(5)) != nil)
        cache.removeAll()
        #expect(cache.count == 0)
    }

    /// A reader of an older snapshot must not put back a key that was destroyed meanwhile.
    @Test func `a key read before a removal is not kept`() {
        let cache = OpenedKeyCache(capacity: 8)
        let moment = cache.moment
        cache.remove(id(1))
        cache.insert(key, for: id(1), readAt: moment)
        #expect(cache.count == 0)
        let second = cache.moment
        cache.removeAll()
        cache.insert(key, for: id(1), readAt: second)
        #expect(cache.count == 0)
        insert(1, cache)
        #expect(cache.count == 1)
    }
}
