import Problems
import KeyStore
import Testing

@Suite struct CertificateStatusTests {
    /// `design.md` §3, every status under every verb. `=` is done already, `-` is refused, `!` becomes `destroyed` once compromised and is refused before.
    static let table = """
        status                upload  cancel     activate  reinstate  retire   destroy    supersede  expire
        awaiting_certificate  staged  cancelled  -         -          -        !          -          -
        staged                =       -          active    -          -        !          -          -
        active                =       -          =         =          -        !          retiring   -
        retiring              =       -          -         active     retired  !          -          -
        retired               =       -          -         active     =        destroyed  -          -
        destroyed             -       -          -         -          -        =          -          -
        cancelled             staged  =          -         -          -        !          -          destroyed
        """

    struct Case: Sendable, CustomTestStringConvertible {
        let status: CertificateStatus, verb: CertificateVerb, compromised: Bool
        let expected: CertificateTransition
        var testDescription: String { "\(verb.rawValue) \(status.rawValue)\(compromised ? ", compromised" : "")" }
    }

    static let cases: [Case] = {
        let lines = table.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        let verbs = lines[0].dropFirst().compactMap { CertificateVerb(rawValue: $0) }
        return lines.dropFirst().flatMap { line -> [Case] in
            guard let status = CertificateStatus(rawValue: line[0]) else { return [] }
            return zip(verbs, line.dropFirst()).flatMap { verb, cell in
                [false, true].map { compromised in
                    let expected: CertificateTransition =
                        switch cell {
                        case "=": .alreadyDone
                        case "-": .refused
                        case "!": compromised ? .becomes(.destroyed) : .refused
                        default: CertificateStatus(rawValue: cell).map { .becomes($0) } ?? .refused
                        }
                    return Case(status: status, verb: verb, compromised: compromised, expected: expected)
                }
            }
        }
    }()

    @Test func `the table is whole`() {
        #expect(Self.cases.count == CertificateStatus.allCases.count * CertificateVerb.allCases.count * 2)
    }

    @Test(arguments: cases)
    func `a verb does what the contract's table says`(_ one: Case) {
        #expect(one.status.transition(one.verb, compromised: one.compromised) == one.expected)
    }

    @Test(arguments: cases)
    func `the store does the same to a stored record, and refuses without changing it`(_ one: Case) throws {
        let store = try Store()
        let record = try store.certificate(one.status, compromised: one.compromised)
        // A certificate arrives by its own way: see `KeyStoreTests`.
        if one.verb == .upload { return }
        switch one.expected {
        case .refused:
            let problem = #expect(throws: KeyStoreTests.stateConflict) { try store.apply(one.verb, record) }
            #expect(problem?.context.contains { $0.name == "status" && $0.value == .text(one.status.rawValue) } == true)
            #expect(try store.status(record) == one.status)
        case .alreadyDone:
            let (after, changed) = try store.apply(one.verb, record)
            #expect(!changed && after.status == one.status && after.updatedAt == record.updatedAt)
        case .becomes(let status):
            let (after, changed) = try store.apply(one.verb, record)
            #expect(changed && after.status == status)
            #expect(try store.status(record) == status)
        }
    }

    @Test func `only a held, undestroyed key opens tokens`() {
        #expect(CertificateStatus.allCases.filter(\.opensTokens) == [.staged, .active, .retiring, .retired])
    }

    @Test func `the texts that are stored and shown stay`() {
        #expect(
            CertificateStatus.allCases.map(\.rawValue) == ["awaiting_certificate", "staged", "active", "retiring", "retired", "destroyed", "cancelled"])
    }
}
