public import Database
public import Encodings
public import Problems

/// A customer of the PSP, a tenant. It belongs to no environment; its registrations do.
public struct Merchant: Sendable {
    public let id: MerchantID
    public var name: String
    public var contacts: [String]
    public let createdAt: Timestamp
    public var updatedAt: Timestamp

    public init(id: MerchantID, name: String, contacts: [String], createdAt: Timestamp, updatedAt: Timestamp) {
        self.id = id
        self.name = name
        self.contacts = contacts
        self.createdAt = createdAt
        self.updatedAt = updatedAt
    }
}

/// The merchants table.
public struct Merchants: Sendable {
    public init() {}

    public static let migrations = [
        Migration(
            "merchants-1",
            [
                """
                CREATE TABLE merchants (
                    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, name TEXT NOT NULL, contacts TEXT NOT NULL,
                    created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL
                ) STRICT
                """
            ])
    ]

    public func insert(_ merchant: Merchant, in connection: any WriteConnection) throws(Problem) {
        try connection.execute(
            "INSERT INTO merchants (id, name, contacts, created_at, updated_at) VALUES ($1, $2, $3, $4, $5)",
            [
                .text(merchant.id.text), .text(merchant.name), .text(encode(merchant.contacts)), .integer(merchant.createdAt.milliseconds),
                .integer(merchant.updatedAt.milliseconds),
            ])
    }

    public func update(_ merchant: Merchant, in connection: any WriteConnection) throws(Problem) {
        try connection.execute(
            "UPDATE merchants SET name = $1, contacts = $2, updated_at = $3 WHERE id = $4",
            [.text(merchant.name), .text(encode(merchant.contacts)), .integer(merchant.updatedAt.milliseconds), .text(merchant.id.text)])
    }

    /// - Parameter merchants: those the caller may see; nil: all.
    /// - Throws: `merchant.unknown`, for ids outside too.
    public func find(_ id: MerchantID, among merchants: Set<MerchantID>?, _ connection: any ReadConnection) throws(Problem) -> Merchant {
        if let merchants, !merchants.contains(id) { throw Problem(MerchantProblem.unknown) }
        let found = try connection.first("SELECT id, name, contacts, created_at, updated_at FROM merchants WHERE id = $1", [.text(id.text)]) { row in
            read(row)
        }
        guard let merchant = found.flatMap({ $0 }) else { throw Problem(MerchantProblem.unknown) }
        return merchant
    }

    /// One page in the order of making.
    public func list(
        among merchants: Set<MerchantID>?, after: MerchantID?, limit: Int, _ connection: any ReadConnection
    ) throws(Problem) -> [Merchant] {
        var condition = ""
        var parameters: [Parameter] = [Parameter(after?.text)]
        if let merchants {
            condition = "AND id IN (" + (0..<merchants.count).map { "$\($0 + 2)" }.joined(separator: ", ") + ")"
            parameters += merchants.sorted().map { .text($0.text) }
        }
        return try connection.query(
            """
            SELECT id, name, contacts, created_at, updated_at FROM merchants
            WHERE number > coalesce((SELECT number FROM merchants WHERE id = $1), 0) \(condition) ORDER BY number LIMIT \(limit)
            """, parameters
        ) { row in read(row) }.compactMap { $0 }
    }

    private func read(_ row: any Row) -> Merchant? {
        guard let id = MerchantID(row.text(0)) else { return nil }
        return Merchant(
            id: id, name: row.text(1), contacts: decode(row.text(2)), createdAt: Timestamp(milliseconds: row.integer(3)),
            updatedAt: Timestamp(milliseconds: row.integer(4)))
    }

    private func encode(_ contacts: [String]) -> String {
        var writer = JSONWriter()
        writer.array { for contact in contacts { $0.string(contact) } }
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private func decode(_ text: String) -> [String] {
        guard let document = try? JSONDocument(Array(text.utf8)) else { return [] }
        return document.root.elements.compactMap(\.string)
    }
}
