import HTTPServer
import Problems
import Synchronization

/// Counters since the start, as `/metrics` shows them. Labels are routes, methods, statuses, codes and lanes: never an identifier.
final class Metrics: Sendable {
    private struct Counters {
        var routes: [ObjectIdentifier: RouteCounters] = [:]
        var problems: [String: Int] = [:]
    }

    private struct RouteCounters {
        let method: String
        let path: String
        var statuses: [Int: Int] = [:]
        /// How many answers took at most as long as the bound at the same place; one more place for the rest.
        var buckets = [Int](repeating: 0, count: Metrics.bounds.count + 1)
        var microseconds = 0

        mutating func add(_ status: Int, _ place: Int, _ duration: Int) {
            statuses[status, default: 0] += 1
            buckets[place] += 1
            microseconds += duration
        }
    }

    private let counters = Mutex(Counters())

    /// Upper bounds of the duration buckets, in microseconds, and as seconds.
    private static let bounds: [(microseconds: Int, seconds: String)] = [
        (250, "0.00025"), (500, "0.0005"), (1000, "0.001"), (2500, "0.0025"), (5000, "0.005"), (10_000, "0.01"), (25_000, "0.025"), (100_000, "0.1"),
        (500_000, "0.5"), (2_500_000, "2.5"),
    ]

    func count(_ route: Route, status: Int, microseconds: Int) {
        counters.withLock { counters in
            let place = Metrics.bounds.firstIndex { microseconds <= $0.microseconds } ?? Metrics.bounds.count
            counters.routes[
                ObjectIdentifier(route), default: RouteCounters(method: route.method.rawValue, path: route.path.text)
            ].add(status, place, microseconds)
        }
    }

    func count(_ problem: Problem) {
        counters.withLock { $0.problems[problem.code, default: 0] += 1 }
    }

    /// In Prometheus' text format 0.0.4.
    func text(_ server: HTTPServerStatistics?, _ gauges: [Gauge]) -> [UInt8] {
        let counters = counters.withLock { $0 }
        let routes = counters.routes.values.sorted { ($0.path, $0.method) < ($1.path, $1.method) }
        var page = Page()
        page.family("coster_requests_total", "counter", "Requests answered.") { page in
            for route in routes {
                for (status, count) in route.statuses.sorted(by: { $0.key < $1.key }) {
                    page.sample([("method", route.method), ("route", route.path), ("status", String(status))], count)
                }
            }
        }
        page.histogram("coster_request_duration_seconds", "From a complete request to its answer.") { page in
            for route in routes {
                let labels = [("method", route.method), ("route", route.path)]
                var sum = 0
                for (index, bound) in Metrics.bounds.enumerated() {
                    sum += route.buckets[index]
                    page.sample(labels + [("le", bound.seconds)], sum, suffix: "_bucket")
                }
                sum += route.buckets[Metrics.bounds.count]
                page.sample(labels + [("le", "+Inf")], sum, suffix: "_bucket")
                page.sample(labels, suffix: "_sum", text: Metrics.seconds(route.microseconds))
                page.sample(labels, sum, suffix: "_count")
            }
        }
        page.family("coster_problems_total", "counter", "Problems answered, by code.") { page in
            for (code, count) in counters.problems.sorted(by: { $0.key < $1.key }) { page.sample([("code", code)], count) }
        }
        for gauge in gauges { page.family(gauge.name, gauge.isCounter ? "counter" : "gauge", gauge.summary) { $0.sample([], gauge.value) } }
        if let server { page.server(server) }
        return Array(page.text.utf8)
    }

    /// One number that somebody else counts.
    struct Gauge {
        let name: String
        let summary: String
        let value: Int
        var isCounter = false
    }

    private static func seconds(_ microseconds: Int) -> String {
        let fraction = String(microseconds % 1_000_000)
        return "\(microseconds / 1_000_000)." + String(repeating: "0", count: 6 - fraction.utf8.count) + fraction
    }
}

/// Writes families of samples.
private struct Page {
    private(set) var text = ""
    private var name = ""

    mutating func family(_ name: String, _ type: String, _ summary: String, _ body: (inout Page) -> Void) {
        self.name = name
        text += "# HELP \(name) \(summary)\n# TYPE \(name) \(type)\n"
        body(&self)
    }

    mutating func histogram(_ name: String, _ summary: String, _ body: (inout Page) -> Void) { family(name, "histogram", summary, body) }

    mutating func sample(_ labels: [(String, String)], _ value: Int, suffix: String = "") { sample(labels, suffix: suffix, text: String(value)) }

    /// Label values are our own texts, without quotes, backslashes and line ends.
    mutating func sample(_ labels: [(String, String)], suffix: String, text value: String) {
        text += name + suffix
        if !labels.isEmpty { text += "{" + labels.map { "\($0)=\"\($1)\"" }.joined(separator: ",") + "}" }
        text += " \(value)\n"
    }

    mutating func server(_ server: HTTPServerStatistics) {
        family("coster_connections", "gauge", "Connections open now.") { $0.sample([], server.connections) }
        family("coster_connections_accepted_total", "counter", "Connections taken.") { $0.sample([], server.connectionsAccepted) }
        family("coster_connections_refused_total", "counter", "Connections closed unanswered because the limit was reached.") {
            $0.sample([], server.connectionsRefused)
        }
        family("coster_tls_handshakes_total", "counter", "TLS handshakes, by how they ended.") { page in
            page.sample([("result", "full")], server.handshakes - server.handshakesResumed)
            page.sample([("result", "resumed")], server.handshakesResumed)
            page.sample([("result", "failed")], server.handshakesFailed)
        }
        family("coster_deadlines_total", "counter", "Connections closed because something took too long, by what.") { page in
            for (kind, count) in server.deadlines.sorted(by: { $0.key < $1.key }) { page.sample([("deadline", kind)], count) }
        }
        family("coster_lane_requests", "gauge", "Requests at hand in each lane now.") { page in
            page.sample([("lane", "payments")], server.paymentsLoad)
            page.sample([("lane", "background")], server.backgroundLoad)
        }
    }
}
