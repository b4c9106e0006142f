internal import Problems

/// What one `.p12` file has asked for so far, and what was really derived.
///
/// Each count is put in before the derivation it asks for, so that no order of places, and no nesting, gets work out of us beyond the limits.
struct PKCS12Budget {
    private let limits: PKCS12Limits
    private var asked = 0
    private var made = 0
    private var bags = 0

    init(_ limits: PKCS12Limits) { self.limits = limits }

    /// Notes what one place asks for.
    /// - Parameter place: `mac`, `safe 1`, `key bag 2`, for the reader of the problem.
    mutating func ask(_ derivation: PKCS12Structure.Derivation, at place: String) throws(Problem) {
        switch derivation {
        case .rfc7292(_, let count, _), .pbkdf2(_, let count, _):
            switch count {
            case .notPositive: throw .pkcs12(.structureUnsupported, cause: Self.noIterations, context: [("place", .text(place))])
            case .beyond63Bits: throw tooHigh("above \(Int.max)", limits.iterations, at: place)
            case .positive(let count):
                let sum = asked.addingReportingOverflow(count)
                guard !sum.overflow, sum.partialValue <= limits.iterations, count <= Int(Int32.max) else {
                    throw tooHigh(.number(count), limits.iterations, at: place).with("iterations_before", .number(asked))
                }
                asked = sum.partialValue
            }
        case .scrypt(_, let n, let r, let p):
            guard case .positive(let n) = n, case .positive(let r) = r, case .positive(let p) = p else {
                if n == .beyond63Bits || r == .beyond63Bits || p == .beyond63Bits { throw tooExpensive("above \(Int.max)", at: place) }
                throw .pkcs12(.structureUnsupported, context: [("place", .text(place))])
            }
            guard n > 1, n & (n - 1) == 0 else { throw .pkcs12(.structureUnsupported, context: [("place", .text(place))]) }
            let blocks = n.multipliedReportingOverflow(by: r)
            let bytes = blocks.partialValue.multipliedReportingOverflow(by: 128)
            guard !blocks.overflow, !bytes.overflow, bytes.partialValue <= limits.scryptBytes else {
                throw tooExpensive(blocks.overflow || bytes.overflow ? "above \(Int.max)" : .number(bytes.partialValue), at: place)
            }
            // p multiplies time and r·128 bytes. One block mixed twice takes about as long as one iteration of PBKDF2: the same sum serves.
            let work = blocks.partialValue.multipliedReportingOverflow(by: p)
            let sum = asked.addingReportingOverflow(work.partialValue)
            guard !work.overflow, !sum.overflow, sum.partialValue <= limits.iterations, p <= limits.scryptBytes / 128 / r else {
                throw .pkcs12(.tooExpensive, context: [("n", .number(n)), ("r", .number(r)), ("p", .number(p)), ("place", .text(place))])
            }
            asked = sum.partialValue
        }
    }

    /// Notes one derivation about to be made, with ``ask(_:at:)`` done before.
    mutating func make(_ derivation: PKCS12Structure.Derivation, at place: String) throws(Problem) {
        made += work(of: derivation)
        guard made <= limits.iterationsMade else { throw tooHigh(.number(made), limits.iterationsMade, at: place) }
    }

    /// Whether one more derivation is within the limits.
    func affords(_ derivation: PKCS12Structure.Derivation) -> Bool { made + work(of: derivation) <= limits.iterationsMade }

    /// Notes bags found.
    mutating func find(bags count: Int) throws(Problem) {
        bags += count
        guard bags <= limits.bags else {
            throw .pkcs12(.tooExpensive, cause: "This .p12 file has too many parts.", context: [("parts", .number(bags)), ("limit", .number(limits.bags))])
        }
    }

    private func work(of derivation: PKCS12Structure.Derivation) -> Int {
        switch derivation {
        case .rfc7292(_, .positive(let count), _), .pbkdf2(_, .positive(let count), _): count
        case .scrypt(_, .positive(let n), .positive(let r), .positive(let p)): n * r * p
        default: 0
        }
    }

    private func tooHigh(_ count: ContextValue, _ limit: Int, at place: String) -> Problem {
        .pkcs12(.iterationsTooHigh, context: [("iterations", count), ("limit", .number(limit)), ("place", .text(place))])
    }

    private func tooExpensive(_ bytes: ContextValue, at place: String) -> Problem {
        .pkcs12(.tooExpensive, context: [("scrypt_bytes", bytes), ("limit", .number(limits.scryptBytes)), ("place", .text(place))])
    }

    private static let noIterations = "This .p12 file gives an iteration count that is zero or negative."
}
