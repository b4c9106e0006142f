public import Encodings
public import Problems

/// One line of the access log. It holds no part of a path, query or body: the route's pattern stands for the address, so no identifier and no account
/// data can come in.
public struct AccessRecord: Sendable {
    public let time: Timestamp
    /// A method that some route has, `HEAD`, or `other`.
    public let method: String
    /// The route's path with its braces; nil where the request fits none.
    public let route: String?
    public let status: Int
    /// The problem answered; nil where all went well.
    public let problem: Problem?
    public let requestID: String
    /// From the moment the body was there to the answer.
    public let microseconds: Int
    /// Nil where nobody was authenticated.
    public let caller: CredentialID?

    /// One JSON object, for a line of a log.
    public var json: [UInt8] {
        JSONWriter.object { object in
            object.member("time", time)
            object.member("method", method)
            object.member("route", route)
            object.member("status", status)
            object.member("code", problem?.code)
            object.member("request_id", requestID)
            object.member("microseconds", microseconds)
            object.member("caller", caller?.text)
            if let underlying = problem?.underlying { object.member("underlying", underlying) }
        }
    }
}
