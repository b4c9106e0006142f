public import Accounts
import AuditTrail
import Database
public import Encodings
public import Problems

/// Merchants: onboarding and reading.
extension Operations {
    public func createMerchant(
        name: String, contacts: [String], under grant: Grant<ManageMerchants>, _ call: Call
    ) async throws(Problem) -> Made<Merchant> {
        let now = clock()
        let draft = Merchant(
            id: .random(), name: try DisplayText.checked(name, member: "name", maximum: 200), contacts: try checkedContacts(contacts), createdAt: now,
            updatedAt: now)
        return try await made(by: grant, call, at: now) { [merchants, audit] connection throws(Problem) in
            try merchants.insert(draft, in: connection)
            try audit.append(.action("merchant.create", by: grant, call, at: now, merchant: draft.id), in: connection)
            return (draft, draft.id.text)
        } again: { [merchants] id, connection throws(Problem) in
            guard let id = MerchantID(id) else { throw Problem(MerchantProblem.unknown) }
            return try merchants.find(id, among: grant.merchants, connection)
        }
    }

    public func merchant(_ id: MerchantID, under grant: Grant<ReadMerchants>) throws(Problem) -> Merchant {
        try database.read { connection throws(Problem) in try merchants.find(id, among: grant.merchants, connection) }
    }

    public func merchants(after: MerchantID?, limit: Int, under grant: Grant<ReadMerchants>) throws(Problem) -> Page<Merchant> {
        let found = try database.read { connection throws(Problem) in
            try merchants.list(among: grant.merchants, after: after, limit: limit + 1, connection)
        }
        return Page(found, limit: limit, id: \.id.text)
    }

    public func changeMerchant(
        _ id: MerchantID, name: String?, contacts: [String]?, under grant: Grant<ManageMerchants>, _ call: Call
    ) async throws(Problem) -> Merchant {
        let now = clock()
        let name: String? = if let name { try DisplayText.checked(name, member: "name", maximum: 200) } else { nil }
        let contacts: [String]? = if let contacts { try checkedContacts(contacts) } else { nil }
        return try await database.write { [merchants, audit] connection throws(Problem) in
            var merchant = try merchants.find(id, among: grant.merchants, connection)
            if let name { merchant.name = name }
            if let contacts { merchant.contacts = contacts }
            merchant.updatedAt = now
            try merchants.update(merchant, in: connection)
            try audit.append(.action("merchant.change", by: grant, call, at: now, merchant: id), in: connection)
            return merchant
        }
    }

    private func checkedContacts(_ contacts: [String]) throws(Problem) -> [String] {
        guard contacts.count <= 20 else {
            throw .operation(.valueOutOfRange, context: [("member", "contacts"), ("limit", 20), ("size", .number(contacts.count))])
        }
        var checked: [String] = []
        for contact in contacts { checked.append(try DisplayText.checked(contact, member: "contacts", maximum: 254)) }
        return checked
    }
}

/// Text for people: names of merchants, registrations, certificates and credentials.
enum DisplayText {
    /// 1…`maximum` characters, no control characters.
    static func checked(_ text: String, member: String, maximum: Int) throws(Problem) -> String {
        let isPlain = !text.unicodeScalars.contains { $0.properties.generalCategory == .control || $0.properties.generalCategory == .format }
        guard !text.isEmpty, text.count <= maximum, isPlain else {
            throw .operation(
                .valueOutOfRange,
                context: [
                    ("member", .text(member)), ("limit", .number(maximum)), ("size", .number(text.count)), ("allowed", "text without control characters"),
                ])
        }
        return text
    }
}
