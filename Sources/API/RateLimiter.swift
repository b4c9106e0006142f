import Encodings
import Problems
import Synchronization

/// How many calls of a kind one credential may make. Each prevents an accident, named with it.
public struct RateLimits: Sendable {
    public enum Kind: String, Sendable, CaseIterable {
        /// Making keys: a loop that makes them fills the database and keeps the processor busy.
        case certificateSigningRequests = "certificate_signing_requests"
        /// A `.p12` costs as many hash rounds as its maker chose.
        case uploads
        /// As uploads.
        case inspections
        /// Says step by step what is wrong with a token: not to be asked for each payment, nor as an oracle.
        case diagnoses
        /// Off by default: no payment is dropped.
        case decryptions
    }

    /// A bucket that holds `burst` calls and gets `perMinute` new ones a minute.
    public struct Rate: Sendable, Equatable {
        public var perMinute: Int
        public var burst: Int

        public init(perMinute: Int, burst: Int) {
            self.perMinute = perMinute
            self.burst = burst
        }
    }

    public var certificateSigningRequests: Rate? = Rate(perMinute: 60, burst: 120)
    public var uploads: Rate? = Rate(perMinute: 60, burst: 120)
    public var inspections: Rate? = Rate(perMinute: 60, burst: 120)
    public var diagnoses: Rate? = Rate(perMinute: 60, burst: 120)
    public var decryptions: Rate?

    public init() {}

    /// Nil: no limit.
    subscript(kind: Kind) -> Rate? {
        switch kind {
        case .certificateSigningRequests: certificateSigningRequests
        case .uploads: uploads
        case .inspections: inspections
        case .diagnoses: diagnoses
        case .decryptions: decryptions
        }
    }
}

/// Token buckets, one for each credential and kind of call.
final class RateLimiter: Sendable {
    private let limits: RateLimits
    private let buckets = Mutex<[Key: Bucket]>([:])

    private struct Key: Hashable {
        let caller: CredentialID
        let kind: RateLimits.Kind
    }

    private struct Bucket {
        /// Calls that may be made at once, in fractions.
        var calls: Double
        var filledAt: Timestamp
    }

    /// A bucket that has had time to fill says nothing any more; beyond this many buckets the full ones are forgotten.
    private static let maximumBuckets = 10_000

    init(_ limits: RateLimits) { self.limits = limits }

    /// Takes one call out of the caller's bucket.
    /// - Throws: `request.rate_limited`, with the time until there is one again.
    func admit(_ caller: CredentialID, _ kind: RateLimits.Kind, at now: Timestamp) throws(Problem) {
        guard let rate = limits[kind] else { return }
        let perSecond = Double(rate.perMinute) / 60
        let wait = buckets.withLock { buckets -> Double? in
            let key = Key(caller: caller, kind: kind)
            var bucket = buckets[key] ?? Bucket(calls: Double(rate.burst), filledAt: now)
            // A clock that was set back fills nothing.
            let elapsed = Double(max(0, now.milliseconds - bucket.filledAt.milliseconds)) / 1000
            bucket.calls = min(Double(rate.burst), bucket.calls + elapsed * perSecond)
            bucket.filledAt = now
            if buckets.count >= RateLimiter.maximumBuckets, buckets[key] == nil { forgetFull(&buckets, at: now) }
            guard bucket.calls >= 1 else {
                buckets[key] = bucket
                return perSecond > 0 ? (1 - bucket.calls) / perSecond : 3600
            }
            bucket.calls -= 1
            buckets[key] = bucket
            return nil
        }
        guard let wait else { return }
        throw .api(
            .rateLimited, context: [("kind", .text(kind.rawValue)), ("limit_per_minute", .number(rate.perMinute)), ("burst", .number(rate.burst))],
            retryAfterSeconds: max(1, Int(wait.rounded(.up))))
    }

    private func forgetFull(_ buckets: inout [Key: Bucket], at now: Timestamp) {
        buckets = buckets.filter { key, bucket in
            guard let rate = limits[key.kind] else { return false }
            let elapsed = Double(max(0, now.milliseconds - bucket.filledAt.milliseconds)) / 1000
            return bucket.calls + elapsed * Double(rate.perMinute) / 60 < Double(rate.burst)
        }
    }
}
