/// The HTTP/1.1 writer: one answer as bytes, head and body together, so that they leave in one write.
public struct ResponseEncoder: Sendable {
    /// What of the request, the connection and the moment goes into an answer.
    public struct Exchange: Sendable {
        public var requestID: String
        /// The answer to a HEAD request keeps its length and loses its body.
        public var isHEAD: Bool
        /// Whether the connection ends after this answer.
        public var closes: Bool
        /// The client speaks HTTP/1.0 and has to be told that the connection stays open.
        public var isHTTP10: Bool
        /// An IMF-fixdate, as ``HTTPDate`` makes it.
        public var date: [UInt8]

        public init(requestID: String, isHEAD: Bool, closes: Bool, isHTTP10: Bool, date: [UInt8]) {
            self.requestID = requestID
            self.isHEAD = isHEAD
            self.closes = closes
            self.isHTTP10 = isHTTP10
            self.date = date
        }
    }

    /// `HTTP/1.1 100 Continue`, whole.
    public static let continueResponse = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)

    /// Appends `response` to `output`.
    public static func encode(_ response: HTTPResponse, _ exchange: Exchange, into output: inout [UInt8]) {
        var size = 160 + exchange.requestID.utf8.count + response.body.count
        for (name, value) in response.headers { size += name.utf8.count + value.utf8.count + 4 }
        output.reserveCapacity(output.count + size)

        output.append(contentsOf: "HTTP/1.1 ".utf8)
        appendDecimal(response.status, to: &output)
        output.append(0x20)
        output.append(contentsOf: reason(response.status).utf8)
        output.append(contentsOf: "\r\nDate: ".utf8)
        output.append(contentsOf: exchange.date)
        // RFC 9110 §8.6: no Content-Length with 204; 304 would announce another answer's length.
        let hasContent = response.status >= 200 && response.status != 204 && response.status != 304
        if hasContent {
            output.append(contentsOf: "\r\nContent-Length: ".utf8)
            appendDecimal(response.body.count, to: &output)
        }
        output.append(contentsOf: "\r\nX-Request-ID: ".utf8)
        appendText(exchange.requestID, to: &output)
        if exchange.closes {
            output.append(contentsOf: "\r\nConnection: close".utf8)
        } else if exchange.isHTTP10 {
            output.append(contentsOf: "\r\nConnection: keep-alive".utf8)
        }
        for (name, value) in response.headers where !isOurs(name) {
            output.append(contentsOf: "\r\n".utf8)
            appendText(name, to: &output)
            output.append(contentsOf: ": ".utf8)
            appendText(value, to: &output)
        }
        output.append(contentsOf: "\r\n\r\n".utf8)
        if hasContent, !exchange.isHEAD { output.append(contentsOf: response.body) }
    }

    /// A control character would end the line and begin another: it becomes a blank.
    private static func appendText(_ text: String, to output: inout [UInt8]) {
        let start = output.count
        output.append(contentsOf: text.utf8)
        for index in start..<output.count where output[index] < 0x20 || output[index] == 0x7F { output[index] = 0x20 }
    }

    private static func appendDecimal(_ number: Int, to output: inout [UInt8]) {
        guard number > 0 else { return output.append(0x30) }
        var power = 1
        while number / power >= 10 { power *= 10 }
        while power > 0 {
            output.append(0x30 + UInt8(number / power % 10))
            power /= 10
        }
    }

    /// Headers that say how the message is framed are written by nobody else.
    private static func isOurs(_ name: String) -> Bool {
        switch name.utf8.count {
        case 4: name.lowercased() == "date"
        case 10: name.lowercased() == "connection"
        case 12: name.lowercased() == "x-request-id"
        case 14: name.lowercased() == "content-length"
        case 17: name.lowercased() == "transfer-encoding"
        default: false
        }
    }

    private static func reason(_ status: Int) -> String {
        switch status {
        case 200: "OK"
        case 201: "Created"
        case 202: "Accepted"
        case 204: "No Content"
        case 303: "See Other"
        case 304: "Not Modified"
        case 308: "Permanent Redirect"
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 406: "Not Acceptable"
        case 408: "Request Timeout"
        case 409: "Conflict"
        case 411: "Length Required"
        case 413: "Content Too Large"
        case 415: "Unsupported Media Type"
        case 417: "Expectation Failed"
        case 422: "Unprocessable Content"
        case 423: "Locked"
        case 429: "Too Many Requests"
        case 431: "Request Header Fields Too Large"
        case 500: "Internal Server Error"
        case 501: "Not Implemented"
        case 503: "Service Unavailable"
        case 505: "HTTP Version Not Supported"
        default: ""
        }
    }
}
