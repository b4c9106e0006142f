import Accounts
import ApplePay
import AuditTrail
import Cryptography
import Database
import Encodings
import Foundation
import KeyStore
import Operations
import Problems
import SQLite
import Sandbox
import Synchronization
import TestSupport
import Testing

@testable import API
@testable import HTTPServer

/// A whole service without sockets: a real database in a folder of its own, real operations, a clock that the test sets, and requests that go through
/// the HTTP reader straight to the handler. Every answer is held against its route's schema, every problem against the catalogue.
final class TestService: Sendable {
    let folder: URL
    let operations: Operations
    let handler: APIHandler
    let service: APIService
    private let clock: Clock
    private let log = Log()

    /// When the minted vectors are to be judged.
    static let referenceTime = Timestamp(seconds: 1_793_534_400)  // 2026-11-01T12:00:00Z
    /// One for all tests: making its keys takes longer than most tests.
    static let authority = Result { () throws in try SandboxAuthority.generate(now: referenceTime) }

    init(rateLimits: RateLimits = RateLimits(), change: (inout Settings) -> Void = { _ in }, readiness: @escaping @Sendable () -> [Problem] = { [] }) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "coster-api-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        self.folder = folder
        let authority = try TestService.authority.get()
        let now = TestService.referenceTime
        let database = try SQLiteDatabase(path: folder.appending(path: "coster.db").path, mode: .create)
        try database.migrate(Operations.migrations)
        let slot = try RootKeyFile.create(at: folder.appending(path: "root.key"))
        try database.writeBlocking { connection throws(Problem) in try Keyring.create(under: slot, at: now, in: connection) }
        let keyring = try database.read { connection throws(Problem) in try Keyring(opening: connection, with: slot) }
        var settings = Settings()
        change(&settings)
        let clock = Clock(now)
        self.clock = clock
        let operations = try Operations(
            database: database, keyring: keyring, settings: settings, sandboxAuthority: authority.rootCertificate, clock: { clock.now })
        self.operations = operations
        service = APIService(
            .open(operations, authority), rateLimits: rateLimits, clock: { clock.now }, readiness: readiness, log: { [log] in log.append($0) })
        handler = APIHandler(service)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    // MARK: Time and log

    /// Goes only when it is told to.
    private final class Clock: Sendable {
        private let time: Mutex<Timestamp>
        init(_ time: Timestamp) { self.time = Mutex(time) }
        var now: Timestamp {
            get { time.withLock { $0 } }
            set { time.withLock { $0 = newValue } }
        }
    }

    private final class Log: Sendable {
        private let records = Mutex<[AccessRecord]>([])
        func append(_ record: AccessRecord) { records.withLock { $0.append(record) } }
        var all: [AccessRecord] { records.withLock { $0 } }
    }

    var now: Timestamp {
        get { clock.now }
        set { clock.now = newValue }
    }
    func pass(seconds: Int64) { now = now.adding(seconds: seconds) }
    var accessLog: [AccessRecord] { log.all }

    // MARK: Callers

    /// A credential made as the command makes it: its text for the Authorization header.
    func credential(
        _ role: Role, merchants: [MerchantID]? = nil, environment: Environment = .sandbox, expiresAt: Timestamp? = nil, pin: Digest256? = nil
    ) throws -> String {
        let made = try operations.createCredential(
            CredentialDraft(
                role: role, name: "test", merchants: merchants, environment: environment, expiresAt: expiresAt, clientCertificateSPKI: pin),
            actor: .command(user: "test"))
        return "\(made.credential.apiKey).\(try #require(made.secret))"
    }

    // MARK: Requests

    enum Body {
        case none
        case json(String)
        case raw([UInt8], type: String?)
        /// `multipart/form-data`.
        case form([(name: String, content: [UInt8])])
    }

    /// - Parameters:
    ///   - caller: sent as a Bearer credential.
    ///   - pin: SHA-256 of the key of the connection's client certificate.
    @discardableResult func call(
        _ method: String, _ path: String, as caller: String? = nil, _ body: Body = .none, headers: [(String, String)] = [], pin: Digest256? = nil,
        listener: String = "https", sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Answer {
        var lines = headers
        if let caller { lines.append(("Authorization", "Bearer \(caller)")) }
        var content: [UInt8] = []
        switch body {
        case .none: break
        case .json(let text):
            content = Array(text.utf8)
            lines.append(("Content-Type", "application/json"))
        case .raw(let bytes, let type):
            content = bytes
            if let type { lines.append(("Content-Type", type)) }
        case .form(let parts):
            lines.append(("Content-Type", "multipart/form-data; boundary=boundary7"))
            for part in parts {
                content += Array("--boundary7\r\nContent-Disposition: form-data; name=\"\(part.name)\"\r\n\r\n".utf8) + part.content + Array("\r\n".utf8)
            }
            content += Array("--boundary7--\r\n".utf8)
        }
        var text = "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\n"
        if !content.isEmpty { text += "Content-Length: \(content.count)\r\n" }
        for (name, value) in lines { text += "\(name): \(value)\r\n" }
        let response = try await respond(Array("\(text)\r\n".utf8) + content, pin: pin, listener: listener)
        let answer = Answer(response)
        try check(answer, method, path, sourceLocation)
        return answer
    }

    /// What the server does with the bytes of one request, from the reader to the lane.
    private func respond(_ bytes: [UInt8], pin: Digest256?, listener: String) async throws -> HTTPResponse {
        var decoder = RequestDecoder()
        var position = 0
        guard case .head(var head) = decoder.next(bytes.span, at: &position) else { throw CocoaError(.coderInvalidValue) }
        head.requestID = head.acceptableRequestID ?? "made-here"
        switch handler.plan(head) {
        case .refuse(let response): return response
        case .read(let maximumBodyBytes, let lane):
            decoder.maximumBodyBytes = maximumBodyBytes
            switch decoder.next(bytes.span, at: &position) {
            case .body(let body):
                let details = ConnectionDetails(
                    listener: listener, peerAddress: "127.0.0.1", isTLS: true, clientCertificate: pin.map { ClientCertificate(spkiHash: $0) })
                let request = HTTPRequest(head: head, body: body, connection: details)
                if case .loop = lane { return handler.respondOnLoop(request) }
                return await handler.respond(to: request)
            case .refused(let problem): return handler.refusal(problem, requestID: head.requestID)
            case .head, nil: throw CocoaError(.coderInvalidValue)
            }
        }
    }

    private func check(_ answer: Answer, _ method: String, _ path: String, _ location: SourceLocation) throws {
        if let problem = answer.response.contentType == "application/problem+json" ? answer.json : nil {
            expectNoMismatch(problem, Problem.schema, location)
            let entry = ProblemCatalogue.entries.first { $0.code == answer.code }
            #expect(entry?.page.status == answer.status, "\(answer.code ?? "") is in the catalogue under this status", sourceLocation: location)
            return
        }
        guard answer.status < 300, case .route(let route, _) = RouteTable.all.match(method: method, path: String(path.split(separator: "?")[0])) else { return }
        if case .json(let schema, let statuses) = route.answer {
            #expect(statuses[answer.status] != nil, "\(method) \(path) declares \(answer.status)", sourceLocation: location)
            expectNoMismatch(try #require(answer.json, sourceLocation: location), schema, location)
        }
    }

    private func expectNoMismatch(_ value: JSONValue, _ schema: Schema, _ location: SourceLocation) {
        do throws(Problem) {
            try schema.check(value)
        } catch {
            Issue.record("The answer is not of its schema: \(error.title) \(error.context)", sourceLocation: location)
        }
    }
}

/// What came back.
struct Answer {
    let response: HTTPResponse
    let json: JSONValue?

    init(_ response: HTTPResponse) {
        self.response = response
        json = try? JSONDocument(response.body).root
    }

    var status: Int { response.status }
    /// The problem's code; nil where all went well.
    var code: String? { json?.member("code")?.string }
    /// `success`, or the problem's code.
    var outcome: String { status < 300 ? "success" : code ?? "no code" }
    var text: String { String(decoding: response.body, as: UTF8.self) }

    /// The text at a path of member names: `"network_token.last4"`.
    subscript(_ path: String) -> String? { value(path)?.string }

    func value(_ path: String) -> JSONValue? {
        path.split(separator: ".").reduce(json) { value, name in
            guard let value else { return nil }
            return Int(name).map { $0 < value.elements.count ? value.elements[$0] : nil } ?? value.member(String(name))
        }
    }

    func header(_ name: String) -> String? { response.headers.first { $0.name.lowercased() == name.lowercased() }?.value }
    /// The texts of the list at a path.
    func texts(_ path: String) -> [String] { value(path)?.elements.compactMap(\.string) ?? [] }
    /// The ids of a page.
    var ids: [String] { value("data")?.elements.compactMap { $0.member("id")?.string } ?? [] }
}

extension HTTPResponse {
    var contentType: String? { headers.first { $0.name == "Content-Type" }?.value }
}
