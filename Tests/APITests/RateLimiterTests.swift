import Encodings
import Problems
import Testing

@testable import API

@Suite struct RateLimiterTests {
    private let start = Timestamp(seconds: 1_000_000)
    private let caller = CredentialID.random()

    private func limiter(_ perMinute: Int, _ burst: Int) -> RateLimiter {
        var limits = RateLimits()
        limits.uploads = RateLimits.Rate(perMinute: perMinute, burst: burst)
        return RateLimiter(limits)
    }

    @Test func `gives the burst at once, then one after the other`() throws {
        let limiter = limiter(60, 3)
        for _ in 0..<3 { try limiter.admit(caller, .uploads, at: start) }
        #expect(throws: Problem.api(.rateLimited)) { try limiter.admit(caller, .uploads, at: start) }
        #expect(throws: Problem.api(.rateLimited)) { try limiter.admit(caller, .uploads, at: Timestamp(milliseconds: start.milliseconds + 999)) }
        try limiter.admit(caller, .uploads, at: start.adding(seconds: 1))
        #expect(throws: Problem.api(.rateLimited)) { try limiter.admit(caller, .uploads, at: start.adding(seconds: 1)) }
        // A long pause fills no more than the burst.
        for _ in 0..<3 { try limiter.admit(caller, .uploads, at: start.adding(seconds: 1000)) }
        #expect(throws: Problem.api(.rateLimited)) { try limiter.admit(caller, .uploads, at: start.adding(seconds: 1000)) }
        // Nor does a clock that is set back.
        #expect(throws: Problem.api(.rateLimited)) { try limiter.admit(caller, .uploads, at: start) }
    }

    @Test func `says how long to wait`() throws {
        let limiter = limiter(6, 1)
        try limiter.admit(caller, .uploads, at: start)
        do throws(Problem) {
            try limiter.admit(caller, .uploads, at: start.adding(seconds: 3))
            Issue.record("admitted")
        } catch {
            #expect(error.retryAfterSeconds == 7)
            #expect(error.retryable)
        }
    }

    @Test func `counts each caller and each kind apart, and decryptions not at all by default`() throws {
        let limiter = limiter(1, 1)
        try limiter.admit(caller, .uploads, at: start)
        try limiter.admit(.random(), .uploads, at: start)
        try limiter.admit(caller, .certificateSigningRequests, at: start)
        for _ in 0..<10_000 { try limiter.admit(caller, .decryptions, at: start) }
    }

    @Test func `forgets callers that have gone quiet`() throws {
        let limiter = limiter(60, 1)
        for _ in 0..<10_050 { try limiter.admit(.random(), .uploads, at: start) }
        for _ in 0..<10_050 { try limiter.admit(.random(), .uploads, at: start.adding(seconds: 60)) }
        try limiter.admit(caller, .uploads, at: start.adding(seconds: 60))
        #expect(throws: Problem.api(.rateLimited)) { try limiter.admit(caller, .uploads, at: start.adding(seconds: 60)) }
    }
}
