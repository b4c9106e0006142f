import Testing

@testable import HTTPServer

@Suite struct DeadlineQueuesTests {
    // handshake, head, body, write, idle, linger
    private var queues = DeadlineQueues(nanoseconds: [5, 10, 15, 10, 60, 2])

    @Test mutating func `expires in order, each once`() {
        queues.set(3, .head, now: 0)
        queues.set(0, .head, now: 1)
        queues.set(7, .idle, now: 0)
        #expect(queues.earliest == 10)
        #expect(queues.popExpired(now: 9) == nil)
        #expect(queues.popExpired(now: 11)?.slot == 3)
        #expect(queues.popExpired(now: 11)?.slot == 0)
        #expect(queues.popExpired(now: 11) == nil)
        let last = queues.popExpired(now: 60)
        #expect(last?.slot == 7 && last?.kind == .idle)
        #expect(queues.earliest == nil)
    }

    @Test mutating func `a new deadline takes the place of the former`() {
        queues.set(1, .idle, now: 0)
        #expect(queues.set(1, .body, now: 5) == 20)
        queues.set(2, .body, now: 6)
        queues.set(1, .body, now: 7)
        #expect(queues.popExpired(now: 21)?.slot == 2)
        #expect(queues.popExpired(now: 21) == nil)
        queues.set(1, nil, now: 21)
        #expect(queues.popExpired(now: 1000) == nil)
    }

    @Test mutating func `agrees with a plain list`() {
        var random = Linear(state: 3)
        var model: [Int: (deadline: Int64, kind: DeadlineQueues.Kind)] = [:]
        let lengths: [Int64] = [5, 10, 15, 10, 60, 2]
        for now in Int64(0)..<3000 {
            let slot = Int(random.next() % 20)
            if random.next() % 5 == 0 {
                queues.set(slot, nil, now: now)
                model[slot] = nil
            } else {
                let kind = DeadlineQueues.Kind.allCases[Int(random.next() % 6)]
                queues.set(slot, kind, now: now)
                model[slot] = (now + lengths[kind.rawValue], kind)
            }
            #expect(queues.earliest == model.values.map(\.deadline).min())
            while let expired = queues.popExpired(now: now) {
                let expected = model.removeValue(forKey: expired.slot)
                #expect(expected?.kind == expired.kind)
                #expect((expected?.deadline ?? .max) <= now)
            }
            #expect(!model.values.contains { $0.deadline <= now })
        }
    }
}
