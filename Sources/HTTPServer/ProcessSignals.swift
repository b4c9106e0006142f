import CLibevent
import Glibc

/// The signals a service answers to, waited for by one thread instead of interrupting any.
public enum ProcessSignals {
    public enum Signal: Sendable, Equatable {
        /// SIGTERM or SIGINT: drain and end.
        case end
        /// SIGHUP: forget what is cached.
        case forget
    }

    /// Keeps the signals from every thread that is made from now on: call it before the first one.
    public static func block() {
        var set = sigset_t()
        fill(&set)
        unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// Waits for the next of them; blocks the calling thread.
    public static func next() -> Signal {
        var set = sigset_t()
        fill(&set)
        while true {
            var number: Int32 = 0
            guard unsafe sigwait(&set, &number) == 0 else { continue }
            return number == SIGHUP ? .forget : .end
        }
    }

    private static func fill(_ set: inout sigset_t) {
        unsafe sigemptyset(&set)
        for signal in [SIGTERM, SIGINT, SIGHUP] { unsafe sigaddset(&set, signal) }
    }
}
