import CLibevent
import Glibc

/// A POSIX thread that runs one closure.
///
/// It takes no signal but those of its own faults: SIGTERM is for the program's main thread, and a write to a closed socket gives EPIPE here
/// instead of SIGPIPE.
struct PlainThread: Sendable {
    private let id: pthread_t

    /// Nil when the system gives no thread.
    init?(name: String, _ body: @escaping @Sendable () -> Void) {
        let start = unsafe Unmanaged.passRetained(Start(name: String(name.prefix(15)), body: body))
        var id = pthread_t()
        let made = unsafe pthread_create(&id, nil, runPlainThread, start.toOpaque())
        guard made == 0 else {
            unsafe start.release()
            return nil
        }
        self.id = id
    }

    /// Waits for its end. At most once.
    func join() { pthread_join(id, nil) }
    /// Lets it go on unwatched. Instead of ``join()``.
    func detach() { pthread_detach(id) }

    /// Of the calling thread. Without the right to lower it, a value below the present one is passed over.
    static func setNiceness(_ niceness: Int) { _ = coster_set_thread_niceness(Int32(niceness)) }

    fileprivate final class Start: Sendable {
        let name: String
        let body: @Sendable () -> Void

        init(name: String, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }
}

private func runPlainThread(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context = unsafe context else { return nil }
    let start = unsafe Unmanaged<PlainThread.Start>.fromOpaque(context).takeRetainedValue()
    var signals = sigset_t()
    unsafe sigfillset(&signals)
    for fault in [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP] { unsafe sigdelset(&signals, fault) }
    unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
    unsafe coster_name_thread(start.name)
    start.body()
    return nil
}
