import Glibc
import HTTPServer
import Testing

@Suite struct WorkerPoolTests {
    @Test func `admits as many as its limit, and again after a release`() {
        let pool = WorkerPool(name: "test", threads: 1, niceness: 0, queueLimit: 2)
        defer { pool.stop() }
        #expect(pool.admit())
        #expect(pool.admit())
        #expect(!pool.admit())
        #expect(pool.load == 2)
        pool.release()
        #expect(pool.admit())
        pool.release()
        pool.release()
        #expect(pool.load == 0)
    }

    @Test func `runs very many tasks that suspend, on few threads`() async {
        let pool = WorkerPool(name: "test", threads: 2, niceness: 0, queueLimit: 10)
        defer { pool.stop() }
        let gate = Gate()
        let tasks = (0..<1000).map { number in
            Task(executorPreference: pool) {
                await gate.pass()
                return number
            }
        }
        gate.open()
        var sum = 0
        for task in tasks { sum += await task.value }
        #expect(sum == 499_500)
    }

    @Test func `runs on its own threads at their niceness`() async {
        let pool = WorkerPool(name: "lowly", threads: 1, niceness: 7, queueLimit: 10)
        defer { pool.stop() }
        let (niceness, name) = await Task(executorPreference: pool) { threadFacts() }.value
        #expect(niceness == 7)
        #expect(name == "lowly-1")
    }

    @Test func `admits nobody once stopped`() {
        let pool = WorkerPool(name: "test", threads: 1, niceness: 0, queueLimit: 2)
        pool.stop()
        #expect(!pool.admit())
    }
}

/// Niceness and name of the calling thread.
private func threadFacts() -> (Int32, String) {
    let niceness = getpriority(__priority_which_t(0), 0)
    var name: [UInt8] = []
    if let file = unsafe fopen("/proc/thread-self/comm", "r") {
        var byte = unsafe fgetc(file)
        while byte > 0x20 {
            name.append(UInt8(byte))
            byte = unsafe fgetc(file)
        }
        unsafe fclose(file)
    }
    return (niceness, String(decoding: name, as: UTF8.self))
}
