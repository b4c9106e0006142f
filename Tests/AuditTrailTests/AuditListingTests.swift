import AuditTrail
import Database
import Encodings
import Problems
import SQLite
import Testing

@Suite struct AuditListingTests {
    static let count = 5000
    let fixture: Fixture

    init() throws { fixture = try Fixture.filledWith5000() }

    /// All pages, one after the other.
    private func sequences(_ filter: AuditFilter, limit: Int, _ order: AuditOrder) throws -> [Int64] {
        var found: [Int64] = []
        var after: Int64?
        repeat {
            let page = try fixture.database.read { connection throws(Problem) in
                try fixture.trail.entries(matching: filter, after: after, limit: limit, order: order, in: connection)
            }
            #expect(page.entries.count <= limit)
            found += page.entries.map(\.sequence)
            after = page.next
        } while after != nil
        return found
    }

    private static func fits(_ filter: AuditFilter, _ draft: AuditDraft) -> Bool {
        (filter.merchant == nil || filter.merchant == draft.merchant) && (filter.registration == nil || filter.registration == draft.registration)
            && (filter.certificate == nil || filter.certificate == draft.certificate) && (filter.actor == nil || filter.actor == draft.actor.id)
            && (filter.action == nil || filter.action == draft.action) && (filter.outcome == nil || filter.outcome == draft.outcome)
            && (filter.from.map { draft.at >= $0 } ?? true) && (filter.to.map { draft.at < $0 } ?? true)
    }

    static let filters: [AuditFilter] = [
        AuditFilter(), AuditFilter(merchant: Fixture.merchants[4]), AuditFilter(merchant: Fixture.merchants[3]),
        AuditFilter(registration: RegistrationID(bits: 1002)), AuditFilter(certificate: CertificateID(bits: 2010)),
        AuditFilter(certificate: CertificateID(bits: 2049)), AuditFilter(actor: Fixture.credentials[2].text), AuditFilter(actor: "root"),
        AuditFilter(action: "certificate.upload"), AuditFilter(outcome: "payment_token.undecryptable"),
        AuditFilter(from: Fixture.beginning.adding(seconds: 1500), to: Fixture.beginning.adding(seconds: 2700)),
        AuditFilter(from: Fixture.beginning.adding(seconds: 4999)), AuditFilter(to: Fixture.beginning.adding(seconds: 1)),
        AuditFilter(merchant: Fixture.merchants[1], action: "certificate.upload", from: Fixture.beginning.adding(seconds: 1023)),
        AuditFilter(merchant: Fixture.merchants[0], registration: RegistrationID(bits: 1001)), AuditFilter(merchant: MerchantID(bits: 1)),
        AuditFilter(from: Fixture.beginning.adding(seconds: 99_999)),
    ]

    @Test(arguments: filters, [AuditOrder.oldestFirst, .newestFirst]) func `finds what fits, all of it, in order`(filter: AuditFilter, order: AuditOrder) throws
    {
        var expected = (0..<Self.count).filter { Self.fits(filter, Fixture.draft($0)) }.map { Int64($0 + 1) }
        if order == .newestFirst { expected.reverse() }
        for limit in [7, 100] { #expect(try sequences(filter, limit: limit, order) == expected) }
    }

    static let edges: [(after: Int64, order: AuditOrder, first: Int64?)] = [
        (.min, .oldestFirst, 1), (-1, .oldestFirst, 1), (0, .oldestFirst, 1), (4999, .oldestFirst, 5000), (5000, .oldestFirst, nil), (.max, .oldestFirst, nil),
        (.max, .newestFirst, 5000), (5001, .newestFirst, 5000), (2, .newestFirst, 1), (1, .newestFirst, nil), (.min, .newestFirst, nil),
    ]

    @Test(arguments: edges) func `any place to go on from is taken`(edge: (after: Int64, order: AuditOrder, first: Int64?)) throws {
        let page = try fixture.database.read { connection throws(Problem) in
            try fixture.trail.entries(after: edge.after, limit: 1, order: edge.order, in: connection)
        }
        #expect(page.entries.first?.sequence == edge.first)
    }

    @Test(arguments: [(0, 1), (-5, 1), (1, 1), (100, 100), (5000, 100)]) func `a page has one to a hundred entries`(limit: Int, expected: Int) throws {
        let page = try fixture.database.read { connection throws(Problem) in try fixture.trail.entries(limit: limit, in: connection) }
        #expect(page.entries.count == expected)
    }

    @Test func `an empty trail has an empty page`() throws {
        let empty = try Fixture()
        let page = try empty.database.read { connection throws(Problem) in try empty.trail.entries(in: connection) }
        #expect(page.entries.isEmpty && page.next == nil)
    }
}
