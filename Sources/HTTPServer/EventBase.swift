import CLibevent
import Glibc
import Problems

/// A libevent base with the thread that runs it, and a way for other threads to wake it.
///
/// libevent's own locks are not used: but for ``wake()`` everything is called before the thread starts or on it.
@safe final class EventBase: @unchecked Sendable {
    // Sendable: see above; `wake` writes to an eventfd, which any thread may.
    private let raw: OpaquePointer
    private let wakeup: Int32
    private var wakeEvent: Event?

    init() throws(Problem) {
        let configuration = unsafe event_config_new()
        defer { unsafe event_config_free(configuration) }
        unsafe event_config_set_flag(configuration, Int32(EVENT_BASE_FLAG_NOLOCK.rawValue))
        guard let raw = unsafe event_base_new_with_config(configuration) else { throw .listener(.resources) }
        unsafe self.raw = raw
        wakeup = coster_wakeup_descriptor()
        guard wakeup >= 0 else { throw .listener(.resources) }
    }

    deinit {
        unsafe event_base_free(raw)
        if wakeup >= 0 { close(wakeup) }
    }

    /// Starts the thread. `onWake` is called on it, once for any number of ``wake()`` since the last time.
    func start(name: String, onWake: @escaping @Sendable () -> Void) throws(Problem) -> PlainThread {
        let wakeup = wakeup
        wakeEvent = Event(self, wakeup, .readable) {
            var count: UInt64 = 0
            _ = unsafe read(wakeup, &count, 8)
            onWake()
        }
        wakeEvent?.add()
        let thread = PlainThread(name: name) { [self] in
            unsafe event_base_dispatch(raw)
            wakeEvent = nil
        }
        guard let thread else {
            self.wakeEvent = nil
            throw .listener(.resources)
        }
        return thread
    }

    /// From any thread.
    func wake() {
        var one: UInt64 = 1
        _ = unsafe write(wakeup, &one, 8)
    }

    /// Ends the thread after the callback at hand. On the thread.
    func stop() { unsafe event_base_loopbreak(raw) }

    /// A listener on `descriptor`, which it owns from here on; `accepted` gets each new socket, non-blocking, with its peer's address.
    func listen(_ descriptor: Int32, accepted: @escaping (Int32, String) -> Void) throws(Problem) -> Listener {
        try Listener(self, descriptor, accepted)
    }

    enum Interest {
        case readable
        case writable
        case timer
    }

    /// An event on a base. Frees itself, also within its own callback; the callback's context is retained here once and released here once.
    @safe struct Event: ~Copyable {
        private let base: EventBase  // outlives its events
        private let raw: OpaquePointer
        private let context: Unmanaged<Callback>

        /// `readable` stays added until removed; the others happen once for each ``add()``. Nil when memory is short.
        init?(_ base: EventBase, _ descriptor: Int32, _ interest: Interest, _ body: @escaping () -> Void) {
            let context = unsafe Unmanaged.passRetained(Callback(body))
            let flags =
                switch interest {
                case .readable: Int32(EV_READ | EV_PERSIST)
                case .writable: Int32(EV_WRITE)
                case .timer: Int32(0)
                }
            let made = unsafe event_new(base.raw, interest == .timer ? -1 : descriptor, Int16(flags), eventHappened, context.toOpaque())
            guard let made = unsafe made else {
                unsafe context.release()
                return nil
            }
            self.base = base
            unsafe raw = made
            unsafe self.context = context
        }

        deinit {
            unsafe event_free(raw)
            unsafe context.release()
        }

        borrowing func add() { unsafe event_add(raw, nil) }
        borrowing func remove() { unsafe event_del(raw) }
        borrowing func add(afterNanoseconds delay: Int64) {
            let delay = max(delay, 0)
            var time = timeval(tv_sec: Int(delay / 1_000_000_000), tv_usec: Int(delay % 1_000_000_000 / 1000) + 1)
            if time.tv_usec >= 1_000_000 {
                time.tv_sec += 1
                time.tv_usec -= 1_000_000
            }
            unsafe event_add(raw, &time)
        }
    }

    /// A listening socket on a base. When no file is left for another connection it rests for a tenth of a second, instead of trying in a circle.
    @safe struct Listener: ~Copyable {
        private let base: EventBase  // outlives its listeners
        private let raw: OpaquePointer
        private let context: Unmanaged<AcceptCallback>

        fileprivate init(_ base: EventBase, _ descriptor: Int32, _ body: @escaping (Int32, String) -> Void) throws(Problem) {
            let context = unsafe Unmanaged.passRetained(AcceptCallback(body))
            let flags = UInt32(LEV_OPT_CLOSE_ON_FREE) | UInt32(LEV_OPT_CLOSE_ON_EXEC)
            guard let made = unsafe evconnlistener_new(base.raw, socketAccepted, context.toOpaque(), flags, 4096, descriptor) else {
                unsafe context.release()
                close(descriptor)
                throw .listener(.addressUnusable)
            }
            unsafe context.takeUnretainedValue().rest = Event(base, -1, .timer) { unsafe evconnlistener_enable(made) }
            unsafe evconnlistener_set_error_cb(made, acceptFailed)
            self.base = base
            unsafe raw = made
            unsafe self.context = context
        }

        deinit {
            unsafe context.takeUnretainedValue().rest = nil
            unsafe evconnlistener_free(raw)
            unsafe context.release()
        }
    }

    fileprivate final class Callback {
        let body: () -> Void
        init(_ body: @escaping () -> Void) { self.body = body }
    }

    fileprivate final class AcceptCallback {
        let body: (Int32, String) -> Void
        var rest: Event?

        init(_ body: @escaping (Int32, String) -> Void) { self.body = body }
    }
}

private func eventHappened(_ descriptor: Int32, _ what: Int16, _ context: UnsafeMutableRawPointer?) {
    guard let context = unsafe context else { return }
    // A strong reference for the time of the call: the body may free its own event.
    let callback = unsafe Unmanaged<EventBase.Callback>.fromOpaque(context).takeUnretainedValue()
    callback.body()
}

private func socketAccepted(
    _ listener: OpaquePointer?, _ descriptor: Int32, _ address: UnsafeMutablePointer<sockaddr>?, _ length: Int32, _ context: UnsafeMutableRawPointer?
) {
    guard let context = unsafe context else { return }
    let callback = unsafe Unmanaged<EventBase.AcceptCallback>.fromOpaque(context).takeUnretainedValue()
    var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
    let known = unsafe getnameinfo(address, socklen_t(length), &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0
    let peer = known ? String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self) : "unknown"
    callback.body(descriptor, peer)
}

private func acceptFailed(_ listener: OpaquePointer?, _ context: UnsafeMutableRawPointer?) {
    guard let context = unsafe context else { return }
    unsafe evconnlistener_disable(listener)
    unsafe Unmanaged<EventBase.AcceptCallback>.fromOpaque(context).takeUnretainedValue().rest?.add(afterNanoseconds: 100_000_000)
}
