import CLibevent
import Glibc
import Problems
import Synchronization

/// What all loops of a server share.
struct ServerCore: Sendable {
    let handler: any RequestHandler
    let limits: HTTPServerConfiguration.Limits
    let deadlines: HTTPServerConfiguration.Deadlines
    let listeners: [(name: String, tls: TLSContext?)]
    let payments: WorkerPool
    let background: WorkerPool

    func pool(_ lane: Lane) -> WorkerPool? {
        switch lane {
        case .loop: nil
        case .payments: payments
        case .background: background
        }
    }
}

/// One thread with its share of the connections.
///
/// A connection lives on one loop from its first byte to its last. Other threads reach it by the inbox alone, where they name it by slot and
/// generation: an answer that comes after its connection has gone finds another generation in the slot and is dropped.
@safe final class EventLoop: @unchecked Sendable {
    // Sendable: `inbox`, `load` and `counters` are safe for any thread; everything else is touched by the loop's own thread only.
    enum Message: Sendable {
        case adopt(descriptor: Int32, listener: Int, peer: String)
        case answered(slot: Int, generation: UInt32, HTTPResponse)
        /// Finish what is under way, close the rest; after `seconds` close everything.
        case drain(seconds: Double)
    }

    let core: ServerCore
    let base: EventBase
    /// Connections on this loop and on their way to it. Counted up by the acceptor, down by the loop.
    let load = Atomic<Int>(0)
    private let counters = Mutex(HTTPServerStatistics())
    private let inbox = Mutex<[Message]>([])

    /// Monotonic time at the beginning of the callback at hand, in nanoseconds.
    private(set) var now: Int64 = 0
    private(set) var date: HTTPDate
    private(set) var isDraining = false
    /// What one read brings. Wiped after each.
    let scratch: UnsafeMutableRawBufferPointer

    private var connections: [Connection?] = []
    private var generations: [UInt32] = []
    private var freeSlots: [Int] = []
    private var deadlines: DeadlineQueues
    private var timer: EventBase.Event?
    private var timerDue = Int64.max
    private let idPrefix: UInt64
    private var idCount: UInt64 = 0

    init(core: ServerCore) throws(Problem) {
        self.core = core
        base = try EventBase()
        date = HTTPDate(secondsSince1970: 0)
        let kinds: [Duration] = [
            core.deadlines.handshake, core.deadlines.head, core.deadlines.body, core.deadlines.write, core.deadlines.idle, core.deadlines.linger,
        ]
        deadlines = DeadlineQueues(nanoseconds: kinds.map { $0.components.seconds * 1_000_000_000 + $0.components.attoseconds / 1_000_000_000 })
        unsafe scratch = .allocate(byteCount: 16_384, alignment: 16)
        var random = SystemRandomNumberGenerator()
        idPrefix = random.next()
    }

    deinit { unsafe scratch.deallocate() }

    func start(number: Int) throws(Problem) -> PlainThread {
        timer = EventBase.Event(base, -1, .timer) { [unowned self] in expire() }
        return try base.start(name: "loop-\(number)") { [unowned self] in readInbox() }
    }

    /// From any thread. One wake-up serves all messages that come before the loop looks.
    func post(_ message: Message) {
        let wasEmpty = inbox.withLock { inbox in
            inbox.append(message)
            return inbox.count == 1
        }
        if wasEmpty { base.wake() }
    }

    var statistics: HTTPServerStatistics {
        var snapshot = counters.withLock { $0 }
        snapshot.connections = load.load(ordering: .relaxed)
        return snapshot
    }

    func count(_ change: (inout HTTPServerStatistics) -> Void) { counters.withLock { change(&$0) } }

    // MARK: For the connections of this loop

    /// Reads the clocks. At the beginning of each callback.
    func tick() {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        now = Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
        unsafe clock_gettime(CLOCK_REALTIME_COARSE, &time)
        date.update(secondsSince1970: Int64(time.tv_sec))
    }

    func setDeadline(_ slot: Int, _ kind: DeadlineQueues.Kind?) {
        guard let deadline = deadlines.set(slot, kind, now: now) else { return }
        if deadline < timerDue { setTimer(deadline) }
    }

    func makeRequestID() -> String {
        idCount += 1
        let (prefix, count) = (idPrefix, idCount)
        return unsafe String(unsafeUninitializedCapacity: 28) { text in
            for digit in 0..<16 { unsafe text[digit] = hexDigit(prefix >> UInt64(60 - digit * 4)) }
            unsafe text[16] = 0x2D
            for digit in 0..<11 { unsafe text[17 + digit] = hexDigit(count >> UInt64(40 - digit * 4)) }
            return 28
        }
    }

    func remove(_ connection: Connection) {
        deadlines.set(connection.slot, nil, now: now)
        connections[connection.slot] = nil
        generations[connection.slot] &+= 1
        freeSlots.append(connection.slot)
        load.subtract(1, ordering: .relaxed)
        if isDraining { stopWhenEmpty() }
    }

    // MARK: Callbacks

    private func readInbox() {
        tick()
        let messages = inbox.withLock { inbox in
            let messages = inbox
            inbox = []
            return messages
        }
        for message in messages {
            switch message {
            case .adopt(let descriptor, let listener, let peer): adopt(descriptor, listener, peer)
            case .answered(let slot, let generation, let response):
                guard generations[slot] == generation else { continue }
                connections[slot]?.answered(response)
            case .drain(let seconds): drain(seconds)
            }
        }
    }

    private func adopt(_ descriptor: Int32, _ listener: Int, _ peer: String) {
        let slot = freeSlots.popLast() ?? connections.count
        if slot == connections.count {
            connections.append(nil)
            generations.append(0)
        }
        let origin = core.listeners[listener]
        guard !isDraining, let transport = Transport(descriptor, tls: origin.tls),
            let connection = Connection(self, slot: slot, generation: generations[slot], transport, listener: origin.name, peer: peer)
        else {
            if isDraining { close(descriptor) }
            freeSlots.append(slot)
            load.subtract(1, ordering: .relaxed)
            if isDraining { stopWhenEmpty() }
            return
        }
        connections[slot] = connection
        count { $0.connectionsAccepted += 1 }
        connection.start()
    }

    private func expire() {
        tick()
        timerDue = .max
        while let (slot, kind) = deadlines.popExpired(now: now) {
            count { $0.deadlines["\(kind)", default: 0] += 1 }
            connections[slot]?.expired(kind)
        }
        if isDraining, now >= drainDeadline {
            for connection in connections { connection?.cut() }
        }
        var next = deadlines.earliest
        if isDraining { next = min(next ?? drainDeadline, drainDeadline) }
        if let next, next < timerDue { setTimer(next) }
    }

    private func setTimer(_ deadline: Int64) {
        timerDue = deadline
        timer?.add(afterNanoseconds: deadline - now)
    }

    // MARK: The end

    private var drainDeadline = Int64.max

    private func drain(_ seconds: Double) {
        isDraining = true
        drainDeadline = min(drainDeadline, now + Int64(seconds * 1_000_000_000))
        for connection in connections { connection?.drain() }
        if drainDeadline < timerDue { setTimer(drainDeadline) }
        stopWhenEmpty()
    }

    private func stopWhenEmpty() {
        guard load.load(ordering: .relaxed) == 0 else { return }
        timer = nil
        base.stop()
    }
}

private func hexDigit(_ value: UInt64) -> UInt8 {
    let nibble = UInt8(value & 15)
    return nibble < 10 ? 0x30 + nibble : 0x61 + nibble - 10
}
