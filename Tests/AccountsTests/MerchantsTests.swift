import Database
import Encodings
import Problems
import SQLite
import Testing

@testable import Accounts

@Suite struct MerchantsTests {
    let table: CredentialTable
    let merchants = Merchants()
    init() throws { table = try CredentialTable() }

    private func make(_ number: Int, contacts: [String] = []) throws -> Merchant {
        let merchant = Merchant(
            id: MerchantID(bits: UInt128(100 - number)), name: "Shop \(number)", contacts: contacts, createdAt: CredentialTable.now,
            updatedAt: CredentialTable.now)
        try table.write { [merchants] connection throws(Problem) in try merchants.insert(merchant, in: connection) }
        return merchant
    }

    private func find(_ id: MerchantID, among: Set<MerchantID>?) throws(Problem) -> Merchant {
        try table.database.read { connection throws(Problem) in try merchants.find(id, among: among, connection) }
    }

    @Test func `comes back as it went in, quotes and all`() throws {
        let contacts = ["a@example.com", #"Zoë "Z" O'Neill \ <z@example.com>"#, ""]
        var merchant = try make(1, contacts: contacts)
        #expect(try find(merchant.id, among: nil).contacts == contacts)
        merchant.name = "New"
        merchant.contacts = []
        merchant.updatedAt = CredentialTable.now.adding(seconds: 1)
        let changed = merchant
        try table.write { [merchants] connection throws(Problem) in try merchants.update(changed, in: connection) }
        let found = try find(merchant.id, among: nil)
        #expect(found.name == "New" && found.contacts == [] && found.updatedAt == changed.updatedAt && found.createdAt == CredentialTable.now)
    }

    @Test func `somebody else's and none answer alike`() throws {
        let merchant = try make(1)
        let foreign = #expect(throws: Problem(MerchantProblem.unknown)) { try find(merchant.id, among: [MerchantID(bits: 5)]) }
        let absent = #expect(throws: Problem(MerchantProblem.unknown)) { try find(MerchantID(bits: 5), among: nil) }
        #expect(foreign?.description == absent?.description && foreign?.status == 404)
        #expect(try find(merchant.id, among: [merchant.id]).id == merchant.id)
    }

    @Test func `lists in the order of making, page by page, one's own only`() throws {
        let ids = try (1...5).map { try make($0).id }
        func list(_ among: Set<MerchantID>? = nil, after: MerchantID? = nil, limit: Int = 9) throws -> [MerchantID] {
            try table.database.read { connection throws(Problem) in
                try merchants.list(among: among, after: after, limit: limit, connection).map(\.id)
            }
        }
        #expect(try list() == ids)
        #expect(try list(limit: 2) == Array(ids.prefix(2)))
        #expect(try list(after: ids[1], limit: 2) == [ids[2], ids[3]])
        #expect(try list([ids[4], ids[0]]) == [ids[0], ids[4]])
        #expect(try list([]) == [])
    }
}
