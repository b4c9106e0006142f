import Problems
import Testing

@testable import API
@testable import HTTPServer

@Suite struct MetricsTests {
    @Test func `counts routes, durations and problems in Prometheus' format`() throws {
        let metrics = Metrics()
        let route = try #require(RouteTable.all.routes.first { $0.path.text == "/v1/merchants/{id}" })
        metrics.count(route, status: 200, microseconds: 300)
        metrics.count(route, status: 200, microseconds: 3_000_000)
        metrics.count(route, status: 404, microseconds: 1)
        metrics.count(.api(.pathUnknown))
        let lines = String(decoding: metrics.text(HTTPServerStatistics(), [Metrics.Gauge(name: "coster_x", summary: "X.", value: 7)]), as: UTF8.self)
            .split(separator: "\n").map(String.init)
        let labels = "method=\"\(route.method.rawValue)\",route=\"/v1/merchants/{id}\""
        for line in [
            "coster_requests_total{\(labels),status=\"200\"} 2", "coster_requests_total{\(labels),status=\"404\"} 1",
            "coster_request_duration_seconds_bucket{\(labels),le=\"0.00025\"} 1", "coster_request_duration_seconds_bucket{\(labels),le=\"0.0005\"} 2",
            "coster_request_duration_seconds_bucket{\(labels),le=\"+Inf\"} 3", "coster_request_duration_seconds_sum{\(labels)} 3.000301",
            "coster_request_duration_seconds_count{\(labels)} 3", "coster_problems_total{code=\"request.path_unknown\"} 1", "# TYPE coster_x gauge",
            "coster_x 7",
            "coster_connections 0",
        ] {
            #expect(lines.contains(line), "\(line)")
        }
        for line in lines where !line.hasPrefix("#") { #expect(line.wholeMatch(of: /[a-z_]+(\{[^{}]*(\{[a-z]+\}[^{}]*)*\})? [0-9.]+/) != nil, "\(line)") }
    }
}
