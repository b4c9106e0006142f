import Accounts
import Encodings
import HTTPServer
import Operations
import Problems

/// Whether the service lives, whether it can work, what it has done, and what it understands.
enum StateResource {
    static let routes = [
        Route(open: "/healthz", answer: .ok(status, "It lives."), "Says that the process answers.") { _ in
            .json(JSONWriter.object { $0.member("status", "ok") })
        },
        Route(open: "/openapi.json", answer: .other(types: ["application/json"], summary: "This document."), "Describes the API.") { _ in description },
        Route(
            insight: "/readyz", ReadOperations.self, openToStrangers: true, lane: .payments, answer: .ok(status, "Payments can be served."),
            "Says whether payments can be served; those who run the service are told why not.", ready),
        Route(
            insight: "/metrics", ReadOperations.self, openToStrangers: false, lane: .background,
            answer: .other(types: ["text/plain; version=0.0.4"], summary: "Prometheus' text format."), "Gives the counters.", metrics),
    ]

    private static let status = Schema.object("Status", nil, [.required("status", .oneOf(["ok", "ready"]))])

    private static let description = HTTPResponse(
        status: 200, headers: [("Content-Type", "application/json"), ("Cache-Control", "max-age=300"), HTTPResponse.noSniff], body: OpenAPI.document())

    private static func ready(_ exchange: Exchange, isInsider: Bool) throws(Problem) -> HTTPResponse {
        let reasons = exchange.unreadiness
        guard reasons.isEmpty else {
            guard isInsider else { throw .api(.notReady) }
            throw .api(
                .notReady,
                context: [("reasons", .list(reasons.map { .record(["code": .text($0.code), "title": .text($0.title), "detail": .text($0.detail)]) }))])
        }
        return .json(JSONWriter.object { $0.member("status", "ready") })
    }

    private static func metrics(_ exchange: Exchange, isInsider: Bool) throws(Problem) -> HTTPResponse {
        let gauges = [
            Metrics.Gauge(name: "coster_ready", summary: "1 where payments can be served.", value: exchange.unreadiness.isEmpty ? 1 : 0)
        ]
        return HTTPResponse(
            status: 200, headers: [("Content-Type", "text/plain; version=0.0.4; charset=utf-8"), ("Cache-Control", "no-store"), HTTPResponse.noSniff],
            body: exchange.service.metrics.text(exchange.service.serverStatistics(), gauges))
    }
}

extension Exchange {
    /// Why payments can't be served; empty where they can.
    fileprivate var unreadiness: [Problem] {
        switch service.state {
        case .open: service.readiness()
        case .sealed(let problem): [problem]
        }
    }
}
