import Accounts
import Encodings
import HTTPServer
import Problems
import Testing

@testable import API

@Suite struct ProblemResponseTests {
    @Test func `is a problem of RFC 9457 with our members`() throws {
        let problem = Problem(
            APIProblem.memberMissing, context: [("member", "name"), ("limit", 7), ("list", .list(["a", 1])), ("record", .record(["b": 2, "a": "x"]))],
            underlying: "library words")
        let response = HTTPResponse(problem, requestID: "req-1")
        #expect(response.status == 422)
        let headers = Dictionary(response.headers.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
        #expect(headers["Content-Type"] == "application/problem+json" && headers["Cache-Control"] == "no-store" && headers["Retry-After"] == nil)
        #expect(
            String(decoding: response.body, as: UTF8.self)
                == #"{"type":"/v1/problems#request.member_missing","title":"The request lacks a member that this call needs.","detail":"Add the member named here.","#
                + #""status":422,"code":"request.member_missing","retryable":false,"request_id":"req-1","#
                + #""context":{"member":"name","limit":7,"list":["a",1],"record":{"a":"x","b":2}}}"#)
    }

    @Test func `says when to come back, and how to authenticate`() {
        let limited = HTTPResponse(.api(.rateLimited, retryAfterSeconds: 9), requestID: "r")
        #expect(limited.headers.contains { $0 == ("Retry-After", "9") })
        #expect(HTTPResponse(.credential(.missing), requestID: "r").headers.contains { $0.name == "WWW-Authenticate" })
    }

    @Test func `a fact that comes twice is written once`() throws {
        let body = HTTPResponse(Problem.api(.memberInvalid, context: [("a", 1), ("a", 2)]), requestID: "r").body
        let root = try JSONDocument(body).root
        #expect(root.doubledMember == nil && root.member("context")?.member("a")?.integer == 2)
    }
}
