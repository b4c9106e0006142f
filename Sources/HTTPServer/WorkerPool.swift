import Glibc

/// Plain threads that run one lane's tasks, and may block.
///
/// A bounded number of requests is admitted; a task that suspends (for a shared commit) gives its thread to the next one and keeps its place.
@safe public final class WorkerPool: TaskExecutor, @unchecked Sendable {
    // Sendable: `queue`, `idle`, `admitted` and `stopped` are touched only with `mutex` held.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let work: UnsafeMutablePointer<pthread_cond_t>
    private let queueLimit: Int
    private var queue = JobQueue()
    private var idle = 0
    private var admitted = 0
    private var stopped = false

    /// - Parameters:
    ///   - niceness: added to the priority of each thread, 0…19.
    ///   - queueLimit: how many requests may be at hand together: see ``admit()``.
    public init(name: String, threads: Int, niceness: Int, queueLimit: Int) {
        self.queueLimit = queueLimit
        unsafe mutex = .allocate(capacity: 1)
        unsafe work = .allocate(capacity: 1)
        unsafe pthread_mutex_init(mutex, nil)
        unsafe pthread_cond_init(work, nil)
        for number in 1...max(1, threads) {
            let thread = PlainThread(name: "\(name)-\(number)") { [self] in
                if niceness != 0 { PlainThread.setNiceness(niceness) }
                run()
            }
            thread?.detach()  // each thread holds the pool, and leaves after `stop()`
        }
    }

    deinit {
        unsafe pthread_cond_destroy(work)
        unsafe pthread_mutex_destroy(mutex)
        unsafe work.deallocate()
        unsafe mutex.deallocate()
    }

    /// Takes a place for one request. False: the pool has its fill, the request is to be refused at once.
    public func admit() -> Bool {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        guard admitted < queueLimit, !stopped else { return false }
        admitted += 1
        return true
    }

    /// Gives the place back; once for each ``admit()`` that was true.
    public func release() {
        unsafe pthread_mutex_lock(mutex)
        admitted -= 1
        if stopped, admitted == 0 { unsafe pthread_cond_broadcast(work) }
        unsafe pthread_mutex_unlock(mutex)
    }

    /// Requests at hand: waiting, running and suspended.
    public var load: Int {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return admitted
    }

    /// Admits no more; the threads leave once everything admitted is done.
    public func stop() {
        unsafe pthread_mutex_lock(mutex)
        stopped = true
        unsafe pthread_cond_broadcast(work)
        unsafe pthread_mutex_unlock(mutex)
    }

    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        unsafe pthread_mutex_lock(mutex)
        queue.append(job)
        if idle > 0 { unsafe pthread_cond_signal(work) }
        unsafe pthread_mutex_unlock(mutex)
    }

    private func run() {
        let executor = unsafe asUnownedTaskExecutor()
        while let job = next() { unsafe job.runSynchronously(on: executor) }
    }

    /// Waits for a job. Nil: the pool has stopped.
    private func next() -> UnownedJob? {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while true {
            if let job = queue.popFirst() { return job }
            if stopped, admitted == 0 { return nil }
            idle += 1
            unsafe pthread_cond_wait(work, mutex)
            idle -= 1
        }
    }
}

/// First in, first out, in a ring that grows.
private struct JobQueue {
    private var ring: [UnownedJob?] = Array(repeating: nil, count: 64)
    private var first = 0
    private var count = 0

    mutating func append(_ job: UnownedJob) {
        if count == ring.count {
            ring = Array(ring[first...] + ring[..<first]) + Array(repeating: nil, count: count)
            first = 0
        }
        ring[(first + count) & (ring.count - 1)] = job
        count += 1
    }

    mutating func popFirst() -> UnownedJob? {
        guard count > 0 else { return nil }
        let job = ring[first]
        ring[first] = nil
        first = (first + 1) & (ring.count - 1)
        count -= 1
        return job
    }
}
