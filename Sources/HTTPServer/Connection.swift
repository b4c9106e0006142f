import Glibc
import Problems
import Secrets

/// One connection: reads requests, has them answered one after the other, writes the answers. On its loop's thread only.
@safe final class Connection {
    let slot: Int

    /// Where the connection stands. Within `reading`, the decoder knows more.
    private enum Phase {
        case handshake
        /// Waiting for a request or in the midst of one.
        case reading
        /// A job is out on a worker pool; nothing is read until it is back.
        case working
        /// The last answer is sent, this side is shut; reading on so that a reset does not eat it.
        case lingering
        case closed
    }

    private unowned let loop: EventLoop
    private let generation: UInt32
    private var transport: Transport
    private var details: ConnectionDetails
    private var phase = Phase.handshake
    private var readable: EventBase.Event?
    private var writable: EventBase.Event?
    private var isReadPaused = false

    private var decoder: RequestDecoder
    /// Bytes that came while an earlier request was being answered.
    private var unread: [UInt8] = []
    /// The request at hand, from its head to its answer.
    private var head: HTTPRequestHead?
    private var lane = Lane.loop

    private var output: [UInt8] = []
    private var sent = 0
    /// Whether the output ends with this connection's last answer.
    private var isLast = false
    private var lingered = 0

    private var deadline: DeadlineQueues.Kind?
    /// Grows with each request, so that a deadline of the same kind begins anew with it.
    private var requestCount = 0
    private var deadlineRequestCount = 0

    init?(_ loop: EventLoop, slot: Int, generation: UInt32, _ transport: consuming Transport, listener: String, peer: String) {
        self.loop = loop
        self.slot = slot
        self.generation = generation
        let descriptor = transport.descriptor
        details = ConnectionDetails(listener: listener, peerAddress: peer, isTLS: transport.isTLS, clientCertificate: nil)
        self.transport = transport
        decoder = RequestDecoder(limits: loop.core.limits.head)
        readable = EventBase.Event(loop.base, descriptor, .readable) { [unowned self] in becameReadable() }
        writable = EventBase.Event(loop.base, descriptor, .writable) { [unowned self] in becameWritable() }
        guard readable != nil, writable != nil else { return nil }
    }

    func start() {
        readable?.add()
        if !transport.isTLS { phase = .reading }
        updateDeadline()
    }

    // MARK: Events

    private func becameReadable() {
        loop.tick()
        switch phase {
        case .handshake: shakeHands()
        case .reading where output.isEmpty: receive()
        case .reading, .working: pauseReading()
        case .lingering: linger()
        case .closed: break
        }
    }

    private func becameWritable() {
        loop.tick()
        switch phase {
        case .handshake: shakeHands()
        case .reading, .working:
            settle()
            readOn(tryAtOnce: true)
        case .lingering, .closed: break
        }
    }

    /// The answer of a worker pool.
    func answered(_ response: HTTPResponse) {
        guard phase == .working else { return }
        phase = .reading
        respond(response)
        settle()
        readOn()
    }

    func expired(_ kind: DeadlineQueues.Kind) {
        deadline = nil
        switch kind {
        case .handshake:
            loop.count { $0.handshakesFailed += 1 }
            close(orderly: false)
        case .head, .body:
            let limit = kind == .head ? loop.core.deadlines.head : loop.core.deadlines.body
            refuse(.http(.timeout, context: [("part", .text(kind == .head ? "head" : "body")), ("limit_seconds", .number(Int(limit.components.seconds)))]))
            settle()
        case .idle: close(orderly: true)
        case .write, .linger: close(orderly: false)
        }
    }

    /// The server is about to end: an idle connection goes at once, another after its answer.
    func drain() {
        if phase == .handshake { return close(orderly: false) }
        // A request that has arrived but not been looked at is still answered.
        if phase == .reading, output.isEmpty { receive() }
        guard phase == .reading, output.isEmpty, !decoder.isWithinRequest else { return }
        close(orderly: true)
    }

    /// Ends whatever is under way.
    func cut() { close(orderly: false) }

    // MARK: Reading

    private func shakeHands() {
        switch transport.handshake() {
        case .wantsRead: break
        case .wantsWrite: writable?.add()
        case .bytes:
            let resumed = transport.isResumed
            loop.count {
                $0.handshakes += 1
                if resumed { $0.handshakesResumed += 1 }
            }
            details = ConnectionDetails(
                listener: details.listener, peerAddress: details.peerAddress, isTLS: true, clientCertificate: transport.clientCertificate)
            phase = .reading
            updateDeadline()
            readOn()
        case .closed, .failed:
            loop.count { $0.handshakesFailed += 1 }
            guard transport.failedOnPlainHTTP else { return close(orderly: false) }
            transport.abandonTLS()
            phase = .reading
            refuse(.http(.tlsRequired))
            settle()
        }
    }

    /// Takes up reading after an answer.
    private func readOn(tryAtOnce: Bool = false) {
        guard phase == .reading, output.isEmpty else { return }
        if isReadPaused {
            isReadPaused = false
            readable?.add()
        }
        if tryAtOnce || transport.hasBuffered { receive() }
    }

    private func pauseReading() {
        isReadPaused = true
        readable?.remove()
    }

    private func receive() {
        repeat {
            switch unsafe transport.read(into: loop.scratch) {
            case .bytes(let count):
                let received = unsafe UnsafeMutableRawBufferPointer(rebasing: loop.scratch[..<count])
                unsafe consume(received.assumingMemoryBound(to: UInt8.self).span)
                unsafe wipe(received)
                settle()
            case .wantsRead: return
            case .wantsWrite:
                writable?.add()
                return
            case .closed: return close(orderly: true)
            case .failed: return close(orderly: false)
            }
        } while phase == .reading && output.isEmpty && transport.hasBuffered
    }

    /// Decodes `input` and has every request in it answered, up to one that has to wait; the rest is kept.
    private func consume(_ input: borrowing Span<UInt8>) {
        var position = 0
        // Between two requests only: a head without body is complete without another byte.
        while phase == .reading, !isLast, head != nil || output.count < 65_536 {
            guard let event = decoder.next(input, at: &position) else { break }
            switch event {
            case .head(let head): plan(head, atEndOfInput: position == input.count)
            case .body(let body): answer(body)
            case .refused(let problem): refuse(problem)
            }
        }
        if position < input.count, phase != .closed, !isLast { unread.append(input, position..<input.count) }
    }

    private func plan(_ received: HTTPRequestHead, atEndOfInput: Bool) {
        var head = received
        head.requestID = head.acceptableRequestID ?? loop.makeRequestID()
        loop.count { $0.requests += 1 }
        self.head = head
        switch loop.core.handler.plan(head) {
        case .refuse(let response):
            if head.hasBody {
                respond(response, isLast: true)
            } else {
                finishBodilessRequest()
                respond(response)
            }
        case .read(let maximumBodyBytes, let lane):
            self.lane = lane
            decoder.maximumBodyBytes = maximumBodyBytes
            // A body that is too large is refused by the next event; asking for it would be a lie.
            let isWanted = head.contentLength.map { $0 <= maximumBodyBytes } ?? true
            if head.expectsContinue, head.hasBody, atEndOfInput, isWanted { output.append(contentsOf: ResponseEncoder.continueResponse) }
        }
    }

    /// Lets the decoder pass the end of a request without body whose answer is already there.
    private func finishBodilessRequest() {
        let none: [UInt8] = []
        var position = 0
        _ = decoder.next(none.span, at: &position)
    }

    // MARK: Answering

    private func answer(_ body: [UInt8]) {
        guard let head else { return }
        let request = HTTPRequest(head: head, body: body, connection: details)
        guard let pool = loop.core.pool(lane) else { return respond(loop.core.handler.respondOnLoop(request)) }
        guard pool.admit() else {
            let problem = Problem.http(.tooBusy)
            loop.count { $0.refusals[problem.code, default: 0] += 1 }
            return respond(loop.core.handler.refusal(problem, requestID: head.requestID))
        }
        phase = .working
        Task(executorPreference: pool) { [handler = loop.core.handler, loop, slot, generation] in
            let response = await handler.respond(to: request)
            pool.release()
            loop.post(.answered(slot: slot, generation: generation, response))
        }
    }

    private func refuse(_ problem: Problem) {
        loop.count { $0.refusals[problem.code, default: 0] += 1 }
        respond(loop.core.handler.refusal(problem, requestID: head?.requestID ?? loop.makeRequestID()), isLast: true)
    }

    /// Appends the answer to the request at hand to the output, and ends the request.
    private func respond(_ response: HTTPResponse, isLast: Bool = false) {
        self.isLast = isLast || response.closes || loop.isDraining || head?.keepsAlive == false
        let exchange = ResponseEncoder.Exchange(
            requestID: head?.requestID ?? loop.makeRequestID(), isHEAD: head?.isHEAD ?? false, closes: self.isLast, isHTTP10: head?.minorVersion == 0,
            date: loop.date.text)
        ResponseEncoder.encode(response, exchange, into: &output)
        head = nil
        requestCount += 1
    }

    /// Writes what there is, goes on with what came meanwhile, sets the deadline that now holds. At the end of each event.
    private func settle() {
        while phase != .closed {
            if !output.isEmpty { flush() }
            guard output.isEmpty, phase == .reading else { break }
            if isLast {
                beginLingering()
                break
            }
            guard !unread.isEmpty else { break }
            let held = unread
            unread = []
            consume(held.span)
        }
        updateDeadline()
    }

    private func flush() {
        while sent < output.count {
            switch unsafe output.withUnsafeBytes({ unsafe transport.write(UnsafeRawBufferPointer(rebasing: $0[sent...])) }) {
            case .bytes(let count): sent += count
            case .wantsWrite:
                writable?.add()
                return
            case .wantsRead, .closed, .failed: return close(orderly: false)
            }
        }
        // Answers hold account data: nothing of them stays.
        wipe(&output)
        output = []
        sent = 0
    }

    // MARK: Ending

    private func beginLingering() {
        phase = .lingering
        unread = []
        transport.endSending()
        if isReadPaused {
            isReadPaused = false
            readable?.add()
        }
    }

    private func linger() {
        switch unsafe transport.receive(into: loop.scratch) {
        case .bytes(let count):
            unsafe wipe(UnsafeMutableRawBufferPointer(rebasing: loop.scratch[..<count]))
            lingered += count
            if lingered > loop.core.limits.lingerBytes { close(orderly: false) }
        case .wantsRead: break
        case .wantsWrite, .closed, .failed: close(orderly: false)
        }
    }

    private func close(orderly: Bool) {
        guard phase != .closed else { return }
        phase = .closed
        readable = nil  // before the socket, while it is still in the base
        writable = nil
        transport.close(orderly: orderly)
        wipe(&output)
        output = []
        unread = []
        head = nil
        loop.remove(self)
    }

    private func updateDeadline() {
        let kind: DeadlineQueues.Kind?
        switch phase {
        case .closed: return
        case .handshake: kind = .handshake
        case .lingering: kind = .linger
        case .reading, .working:
            if !output.isEmpty {
                kind = .write
            } else if phase == .working {
                kind = nil
            } else if head != nil {
                kind = .body
            } else {
                kind = decoder.isWithinRequest ? .head : .idle
            }
        }
        guard kind != deadline || requestCount != deadlineRequestCount else { return }
        deadline = kind
        deadlineRequestCount = requestCount
        loop.setDeadline(slot, kind)
    }
}
