import API
import Cryptography
import Encodings
import Foundation
import HTTPServer
import KeyStore
import Operations
import Problems
import SQLite
import Secrets
import Synchronization

/// The service. SIGTERM drains, SIGHUP forgets opened keys.
enum ServeCommand: Command {
    static let name = "serve"
    static let synopsis = "[--listen ADDR:PORT …] [--trust-anchor FILE …] [other settings as flags]"
    static let summary = "Runs the service until SIGTERM, which lets requests under way end."
    static let options = Configuration.flags

    static func run(_ arguments: Arguments) throws(Problem) -> Int32 {
        ProcessSignals.block()
        let configuration = try Configuration(arguments)
        let database = try Installation.database(configuration, .readWrite)
        let lock = try OwnerLock(path: configuration.data.appending(path: "owner.lock").path)
        defer {
            database.close()
            withExtendedLifetime(lock) {}
        }
        let (state, operations) = try open(configuration, database)

        let statistics = Mutex<HTTPServer?>(nil)
        let service = APIService(
            state, rateLimits: rateLimits(configuration), clock: Installation.clock,
            readiness: { operations?.readiness() ?? [] }, serverStatistics: { statistics.withLock { $0 }?.statistics }, log: log(configuration))
        let server = try HTTPServer(configuration: try serverConfiguration(configuration), handler: APIHandler(service))
        let addresses = try server.start()
        statistics.withLock { $0 = server }
        for address in addresses {
            let host = address.address.contains(":") ? "[\(address.address)]" : address.address
            Terminal.print("listening on \(address.name == "https" ? "https" : "http")://\(host):\(address.port)")
        }
        let housekeeping = Housekeeping(operations)
        housekeeping.start()

        while ProcessSignals.next() == .forget { operations?.forgetOpenedKeys() }
        housekeeping.stop()
        server.drain(seconds: Double(configuration.number("drain_seconds")))
        statistics.withLock { $0 = nil }
        return 0
    }

    /// A root key that is not there starts the service sealed; one that does not fit stops the start.
    private static func open(
        _ configuration: Configuration, _ database: SQLiteDatabase
    ) throws(Problem) -> (state: APIService.State, operations: Operations?) {
        do throws(Problem) {
            let installation = try Installation(configuration, database, keyring: try Installation.keyring(configuration, database))
            return (.open(installation.operations, installation.sandbox), installation.operations)
        } catch {
            guard error == Problem(KeyStoreProblem.rootKeyMissing) else { throw error }
            Terminal.report(error, asJSON: false)
            Terminal.error("coster: serving sealed\n")
            var sealed = Problem(KeyStoreProblem.sealed)
            sealed.context = error.context.filter { $0.name == "fingerprint_needed" }
            return (.sealed(sealed), nil)
        }
    }

    private static func serverConfiguration(_ configuration: Configuration) throws(Problem) -> HTTPServerConfiguration {
        let certificate = try InputFile.read(configuration.file("tls_certificate").path)
        var privateKey = try InputFile.read(configuration.file("tls_private_key").path)
        let tls = TLSConfiguration(
            certificateChainPEM: certificate, privateKeyPEM: SecretBytes(consuming: &privateKey),
            requestClientCertificates: configuration.flag("request_client_certificates"))
        var listeners: [HTTPServerConfiguration.Listener] = []
        for text in configuration.list("listen") { listeners.append(try listener("https", text, tls: tls)) }
        for text in configuration.list("plain_listen") { listeners.append(try listener("http", text, tls: nil)) }
        if let text = configuration.text("metrics_listen") { listeners.append(try listener(APIService.operatorsListener, text, tls: nil)) }
        var server = HTTPServerConfiguration(listeners: listeners, loops: configuration.number("loops"))
        server.limits.connections = configuration.number("connections")
        server.payments.threads = configuration.number("payment_threads")
        server.background.threads = configuration.number("background_threads")
        return server
    }

    private static func listener(_ name: String, _ text: String, tls: TLSConfiguration?) throws(Problem) -> HTTPServerConfiguration.Listener {
        guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]), (0...65_535).contains(port) else {
            throw .command(.settingInvalid, cause: "An address to listen on is written ADDR:PORT.", context: [("given", .text(text))])
        }
        let address = text[..<colon].trimmingPrefix("[")
        return .init(name: name, address: String(address.hasSuffix("]") ? address.dropLast() : address), port: port, tls: tls)
    }

    private static func rateLimits(_ configuration: Configuration) -> RateLimits {
        func rate(_ name: String) -> RateLimits.Rate? {
            configuration.optionalNumber(name).map { RateLimits.Rate(perMinute: $0, burst: $0 * 2) }
        }
        var limits = RateLimits()
        limits.certificateSigningRequests = rate("rate_certificate_signing_requests")
        limits.uploads = rate("rate_uploads")
        limits.inspections = rate("rate_inspections")
        limits.diagnoses = rate("rate_diagnoses")
        limits.decryptions = rate("rate_decryptions")
        return limits
    }

    /// Faults always, everything where the access log is on.
    private static func log(_ configuration: Configuration) -> @Sendable (AccessRecord) -> Void {
        let isOn = configuration.flag("access_log")
        return { record in
            guard isOn || record.status >= 500 else { return }
            Terminal.error(json: record.json)
        }
    }
}

/// Keeps house every minute on a thread of its own.
private final class Housekeeping: Sendable {
    private let operations: Operations?
    private let task = Mutex<Task<Void, Never>?>(nil)

    init(_ operations: Operations?) { self.operations = operations }

    func start() {
        guard let operations else { return }
        let running = Task.detached(priority: .background) {
            while !Task.isCancelled {
                do throws(Problem) { try await operations.keepHouse() } catch { Terminal.report(error, asJSON: true) }
                try? await Task.sleep(for: .seconds(60))
            }
        }
        task.withLock { $0 = running }
    }

    func stop() { task.withLock { $0.take() }?.cancel() }
}
