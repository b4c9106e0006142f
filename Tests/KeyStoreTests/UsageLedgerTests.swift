import Database
import Encodings
import Problems
import SQLite
import Testing

@testable import KeyStore

@Suite struct UsageLedgerTests {
    /// Bodies of many tasks share commits; a third of them are rolled back after they counted.
    @Test func `counts exactly what was committed, whoever shared the commit`() async throws {
        let store = try Store()
        let records = try (0..<3).map { _ in try store.certificate(.active) }
        let ledger = UsageLedger()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<300 {
                group.addTask {
                    _ = try? await store.database.write { connection throws(Problem) in
                        try ledger.note(records[number % 3].id, at: Store.now.adding(seconds: Int64(number)), in: connection)
                        if number % 5 == 0 { throw .database(.unavailable) }
                    }
                }
            }
        }
        for (index, record) in records.enumerated() {
            let kept = (0..<300).filter { $0 % 3 == index && $0 % 5 != 0 }
            let usage = try #require(try store.find(record.id).usage)
            #expect(usage.count == kept.count)
            #expect(usage.lastUsedAt == kept.last.map { Store.now.adding(seconds: Int64($0)) })
        }
    }

    @Test func `the first use stays, the last moves forward only`() throws {
        let store = try Store()
        let record = try store.certificate(.active)
        for seconds in [10, 30, 20] as [Int64] {
            try store.write { connection throws(Problem) in
                try UsageLedger().note(record.id, at: Store.now.adding(seconds: seconds), in: connection)
            }
        }
        #expect(
            try store.find(record.id).usage
                == CertificateUsage(firstUsedAt: Store.now.adding(seconds: 10), lastUsedAt: Store.now.adding(seconds: 30), count: 3))
    }
}
