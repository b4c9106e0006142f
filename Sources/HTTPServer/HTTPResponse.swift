/// One answer. `Content-Length`, `Date`, `Connection`, `X-Request-ID` and `Transfer-Encoding` are the server's own; given here they are left out.
public struct HTTPResponse: Sendable {
    /// 200…599.
    public var status: Int
    public var headers: [(name: String, value: String)]
    /// For a HEAD request: the body a GET would have had. Its length is announced, its bytes are not sent.
    public var body: [UInt8]
    /// Whether the connection ends after this answer.
    public var closes: Bool

    public init(status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = [], closes: Bool = false) {
        self.status = status
        self.headers = headers
        self.body = body
        self.closes = closes
    }
}
