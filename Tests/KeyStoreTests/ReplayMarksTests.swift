import Cryptography
import Database
import Encodings
import Problems
import Testing

@testable import KeyStore

@Suite struct ReplayMarksTests {
    let store: Store
    init() throws { store = try Store() }

    private func mark(
        _ transactionId: [UInt8] = [0, 1, 2], registration: RegistrationID = RegistrationID(bits: 1), caller: String = "cred_a", content: [UInt8] = [1],
        key: [UInt8]? = nil, at seconds: Int64 = 0, expiresAt: Int64? = 1000
    ) throws(Problem) -> ReplayMarks.Mark? {
        try store.write { connection throws(Problem) in
            try ReplayMarks().mark(
                registration: registration, transactionId: transactionId, caller: caller, signedContentDigest: SHA256.digest(content),
                idempotencyKeyDigest: key.map { SHA256.digest($0) }, at: Store.now.adding(seconds: seconds),
                expiresAt: expiresAt.map { Store.now.adding(seconds: $0) }, in: connection)
        }
    }

    private func prune(at seconds: Int64, limit: Int = 100) throws -> Int {
        try store.write { connection throws(Problem) in try ReplayMarks().prune(at: Store.now.adding(seconds: seconds), limit: limit, in: connection) }
    }

    @Test func `the first use leaves a mark, and later ones find it unchanged`() throws {
        #expect(try mark(key: [9]) == nil)
        for (caller, content) in [("cred_b", [2]), ("cred_a", [1])] as [(String, [UInt8])] {
            let earlier = try #require(try mark(caller: caller, content: content, at: 50))
            #expect(earlier.caller == "cred_a" && earlier.firstOpenedAt == Store.now)
            #expect(earlier.signedContentDigest == SHA256.digest([1]) && earlier.idempotencyKeyDigest == SHA256.digest([9]))
        }
    }

    @Test func `the transaction id counts as bytes, within its registration`() throws {
        #expect(try mark() == nil)
        #expect(try mark([1, 2]) == nil)
        #expect(try mark([0, 0, 1, 2]) == nil)
        #expect(try mark(registration: RegistrationID(bits: 2)) == nil)
        #expect(try mark(registration: RegistrationID(bits: 2)) != nil)
    }

    @Test func `a mark that was rolled back was never set`() throws {
        #expect(throws: Problem.database(.unavailable)) {
            try store.write { connection throws(Problem) in
                _ = try ReplayMarks().mark(
                    registration: RegistrationID(bits: 1), transactionId: [0, 1, 2], caller: "cred_a", signedContentDigest: SHA256.digest([1]),
                    idempotencyKeyDigest: nil, at: Store.now, expiresAt: nil, in: connection)
                throw .database(.unavailable)
            }
        }
        #expect(try mark() == nil)
    }

    @Test func `marks go when their time is over, so many at a time, and those without an end stay`() throws {
        for number in 0..<10 { #expect(try mark([UInt8(number)], expiresAt: Int64(number)) == nil) }
        #expect(try mark([99], expiresAt: nil) == nil)
        #expect(try prune(at: 0) == 0)
        #expect(try prune(at: 8, limit: 3) == 3)
        #expect(try prune(at: 8) == 5)
        #expect(try prune(at: 99_999_999) == 2)
        #expect(try mark([99], expiresAt: nil) != nil)
        #expect(try mark([0]) == nil)
    }
}
