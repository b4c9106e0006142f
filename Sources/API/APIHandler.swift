import Accounts
import Encodings
public import HTTPServer
public import Problems

/// Answers the requests of the HTTP server by the route table.
public final class APIHandler: RequestHandler {
    private let service: APIService
    private let table: RouteTable

    public init(_ service: APIService, table: RouteTable = .all) {
        self.service = service
        self.table = table
    }

    /// What can be said without a body, and without blocking, is said before the body is read.
    public func plan(_ head: HTTPRequestHead) -> RequestPlan {
        switch table.match(method: head.method, path: head.path) {
        case .unknown: return refuse(.api(.pathUnknown), head, nil)
        case .methodNotAllowed(let methods):
            var problem = Problem.api(.methodNotAllowed)
            let allowed = methods.flatMap { $0 == .get ? ["GET", "HEAD"] : [$0.rawValue] }
            problem.context = [("allowed", .list(allowed.map { .text($0) }))]
            return refuse(problem, head, nil, headers: [("Allow", allowed.joined(separator: ", "))])
        case .route(let route, _):
            if case .permission = route.access {
                if case .sealed(let problem) = service.state { return refuse(problem, head, route) }
                guard head.carriesCredential else { return refuse(.credential(.missing), head, route) }
            }
            return .read(maximumBodyBytes: route.body.maximumBytes, lane: route.lane)
        }
    }

    public func respondOnLoop(_ request: HTTPRequest) -> HTTPResponse {
        let start = ContinuousClock.now
        guard let exchange = exchange(request), case .onLoop(let handler) = exchange.route.responder else {
            return refusal(.api(.pathUnknown), requestID: request.id)
        }
        do throws(Problem) {
            _ = try exchange.query()
            return finish(try handler(exchange), nil, exchange, caller: nil, since: start)
        } catch {
            return finish(HTTPResponse(error, requestID: request.id), error, exchange, caller: nil, since: start)
        }
    }

    public func respond(to request: HTTPRequest) async -> HTTPResponse {
        let start = ContinuousClock.now
        guard let exchange = exchange(request), case .onWorker(let handler) = exchange.route.responder else {
            return refusal(.api(.pathUnknown), requestID: request.id)
        }
        var caller: CredentialID?
        do throws(Problem) {
            return finish(try await handler(exchange, &caller), nil, exchange, caller: caller, since: start)
        } catch {
            return finish(HTTPResponse(error, requestID: request.id), error, exchange, caller: caller, since: start)
        }
    }

    public func refusal(_ problem: Problem, requestID: String) -> HTTPResponse {
        service.metrics.count(problem)
        service.log(
            AccessRecord(
                time: service.clock(), method: "other", route: nil, status: problem.status, problem: problem, requestID: requestID, microseconds: 0,
                caller: nil))
        return HTTPResponse(problem, requestID: requestID)
    }

    private func exchange(_ request: HTTPRequest) -> Exchange? {
        guard case .route(let route, let segments) = table.match(method: request.head.method, path: request.head.path) else { return nil }
        // The operator's own listener is for insight, and takes no credential.
        if request.listener == APIService.operatorsListener, case .permission = route.access { return nil }
        return Exchange(request: request, route: route, segments: segments, service: service)
    }

    private func refuse(
        _ problem: Problem, _ head: HTTPRequestHead, _ route: Route?, headers: [(name: String, value: String)] = []
    ) -> RequestPlan {
        service.metrics.count(problem)
        service.log(
            AccessRecord(
                time: service.clock(), method: head.loggedMethod, route: route?.path.text, status: problem.status, problem: problem,
                requestID: head.requestID, microseconds: 0, caller: nil))
        var response = HTTPResponse(problem, requestID: head.requestID)
        response.headers += headers
        return .refuse(response)
    }

    private func finish(
        _ response: HTTPResponse, _ problem: Problem?, _ exchange: Exchange, caller: CredentialID?, since start: ContinuousClock.Instant
    ) -> HTTPResponse {
        let duration = (ContinuousClock.now - start).components
        let microseconds = Int(duration.seconds) * 1_000_000 + Int(duration.attoseconds / 1_000_000_000_000)
        service.metrics.count(exchange.route, status: response.status, microseconds: microseconds)
        if let problem { service.metrics.count(problem) }
        service.log(
            AccessRecord(
                time: service.clock(), method: exchange.request.head.loggedMethod, route: exchange.route.path.text, status: response.status,
                problem: problem, requestID: exchange.request.id, microseconds: microseconds, caller: caller))
        return response
    }
}

extension HTTPRequestHead {
    /// A method is the client's text: those no route has are not written down.
    fileprivate var loggedMethod: String {
        let method = method
        return HTTPMethod(rawValue: method) != nil || method == "HEAD" ? method : "other"
    }
}
