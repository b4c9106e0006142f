import Accounts
import Encodings
import HTTPServer
import Operations
import Problems

/// `/v1/merchants`: the PSP's customers.
enum MerchantResource {
    static let routes = [
        Route(
            .post, "/v1/merchants", ManageMerchants.self, body: .json(draft), answer: .made(record), "Makes a merchant.", makes: true, create),
        Route(
            .get, "/v1/merchants", ReadMerchants.self, query: [.limit, .after("a merchant's id")], answer: .ok(.page(of: record), "A page."),
            "Lists merchants in the order of making.", list),
        Route(.get, "/v1/merchants/{id}", ReadMerchants.self, answer: .ok(record), "Shows a merchant.", show),
        Route(.patch, "/v1/merchants/{id}", ManageMerchants.self, body: .json(changes), answer: .ok(record), "Changes a merchant.", change),
    ]

    private static let record = Schema.object(
        "Merchant", "A customer of the PSP. It belongs to no environment; its registrations do.",
        [
            .required("id", .text("`mer_…`")), .required("name", .text()), .required("contacts", .list(of: .text())),
            .required("created_at", .time()), .required("updated_at", .time()),
        ])
    private static let draft = Schema.object(
        "MerchantDraft", nil,
        [.required("name", .text("1 to 200 characters.")), .optional("contacts", .list(of: .text(), "At most 20, such as mail addresses."))])
    private static let changes = Schema.object(
        "MerchantChanges", "What is left out stays.",
        [.optional("name", .text("1 to 200 characters.")), .optional("contacts", .list(of: .text(), "At most 20."))])

    private static func create(_ exchange: Exchange, _ grant: Grant<ManageMerchants>) async throws(Problem) -> HTTPResponse {
        let object = try exchange.object()
        let made = try await exchange.operations.createMerchant(
            name: try object.demandedText("name"), contacts: object.texts("contacts") ?? [], under: grant, try exchange.call())
        return .made(made) { write($0, &$1) }
    }

    private static func list(_ exchange: Exchange, _ grant: Grant<ReadMerchants>) throws(Problem) -> HTTPResponse {
        let query = try exchange.query()
        return .page(try exchange.operations.merchants(after: try query.id("after"), limit: try query.limit(), under: grant)) { write($0, &$1) }
    }

    private static func show(_ exchange: Exchange, _ grant: Grant<ReadMerchants>) throws(Problem) -> HTTPResponse {
        .record(try exchange.operations.merchant(try id(exchange), under: grant)) { write($0, &$1) }
    }

    private static func change(_ exchange: Exchange, _ grant: Grant<ManageMerchants>) async throws(Problem) -> HTTPResponse {
        let object = try exchange.object()
        let merchant = try await exchange.operations.changeMerchant(
            try id(exchange), name: object.text("name"), contacts: object.texts("contacts"), under: grant, try exchange.call())
        return .record(merchant) { write($0, &$1) }
    }

    private static func id(_ exchange: Exchange) throws(Problem) -> MerchantID { try exchange.id(MerchantID.self, or: Problem(MerchantProblem.unknown)) }

    private static func write(_ merchant: Merchant, _ object: inout JSONWriter) {
        object.member("id", merchant.id.text)
        object.member("name", merchant.name)
        object.member("contacts", merchant.contacts)
        object.member("created_at", merchant.createdAt)
        object.member("updated_at", merchant.updatedAt)
    }
}

extension RequestObject {
    /// A member that names a merchant; one that can't be an id is as unknown as one that nobody has.
    func merchant(_ name: String) throws(Problem) -> MerchantID {
        guard let id = MerchantID(try demandedText(name)) else { throw Problem(MerchantProblem.unknown) }
        return id
    }
}
