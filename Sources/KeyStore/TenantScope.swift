public import ApplePay
import Database
public import Encodings

/// Whose rows a call may see: one environment, and the merchants named (nil: every merchant's). It stands in every query.
public struct TenantScope: Sendable {
    public let environment: Environment
    public let merchants: Set<MerchantID>?

    public init(environment: Environment, merchants: Set<MerchantID>?) {
        self.environment = environment
        self.merchants = merchants
    }

    public func contains(_ merchant: MerchantID) -> Bool { merchants?.contains(merchant) ?? true }

    /// An SQL condition over the columns `environment` and `merchant` of table `alias`, its placeholders numbered from `first`.
    func condition(alias: String, first: Int) -> (sql: String, parameters: [Parameter]) {
        var sql = "\(alias).environment = $\(first)"
        var parameters: [Parameter] = [.text(environment.rawValue)]
        if let merchants {
            let places = merchants.count
            sql += " AND \(alias).merchant IN (" + (0..<places).map { "$\(first + 1 + $0)" }.joined(separator: ", ") + ")"
            parameters += merchants.sorted().map { .text($0.text) }
        }
        return (sql, parameters)
    }
}
