/// Something odd that stops nothing: it stands beside a result as `{"code", "detail"}`.
///
/// Codes are snake_case, without an area, and never reworded; the detail is one sentence and holds neither a secret nor account data.
public struct Warning: Sendable, Equatable {
    public let code: String
    public let detail: String

    public init(code: String, detail: String) {
        self.code = code
        self.detail = detail
    }
}
