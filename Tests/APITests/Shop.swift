import Accounts
import ApplePay
import Encodings
import Foundation
import Testing

/// One merchant with one registration in a ``TestService``, and what is done for it over and over.
struct Shop {
    let service: TestService
    /// An operator's credential.
    let staff: String
    let merchant: String
    let registration: String
    let identifier: String

    /// - Parameters:
    ///   - staff: an operator's credential of the environment; made where nil.
    ///   - merchant: an existing merchant's id; made where nil.
    ///   - policies: further members of the registration: `, "replay_policy": "reject"`.
    init(
        _ service: TestService, identifier: String = "merchant.com.example.shop", staff: String? = nil, merchant: String? = nil,
        environment: Environment = .sandbox, policies: String = ""
    ) async throws {
        self.service = service
        self.identifier = identifier
        self.staff = try staff ?? service.credential(.operator, environment: environment)
        if let merchant {
            self.merchant = merchant
        } else {
            self.merchant = try #require(try await service.call("POST", "/v1/merchants", as: self.staff, .json(#"{"name":"Example"}"#))["id"])
        }
        let made = try await service.call(
            "POST", "/v1/merchant-identifiers", as: self.staff,
            .json(#"{"identifier":"\#(identifier)","merchant":"\#(self.merchant)","environment":"\#(environment.rawValue)"\#(policies)}"#))
        registration = try #require(made["id"], "\(made.text)")
    }

    var merchantID: MerchantID {
        get throws { try #require(MerchantID(merchant)) }
    }

    /// Makes a key pair and its request.
    /// - Returns: the certificate record's id.
    func newCertificate(_ members: String = "") async throws -> String {
        let made = try await service.call("POST", "/v1/merchant-identifiers/\(registration)/certificates", as: staff, .json("{\(members)}"))
        #expect(made.status == 201)
        return try #require(made["id"], "\(made.text)")
    }

    /// The request in PEM.
    func request(_ certificate: String) async throws -> String {
        try await service.call("GET", "/v1/certificates/\(certificate)/certificate-signing-request", as: staff).text
    }

    /// What the sandbox issues for the record's request.
    func issue(_ certificate: String) async throws -> String {
        let pem = try await request(certificate)
        let issued = try await service.call(
            "POST", "/v1/sandbox/certificates", as: staff,
            .json(#"{"certificate_signing_request":\#(quoted(pem)),"identifier":"\#(identifier)"}"#))
        return try #require(issued["certificate"], "\(issued.text)")
    }

    func upload(_ content: [UInt8], password: String? = nil) async throws -> Answer {
        var parts = [(name: "file", content: content)]
        if let password { parts.append((name: "password", content: Array(password.utf8))) }
        return try await service.call("POST", "/v1/merchant-identifiers/\(registration)/certificates/upload", as: staff, .form(parts))
    }

    /// A certificate that was requested, issued by the sandbox and uploaded: staged.
    func issuedCertificate(_ members: String = "") async throws -> String {
        let id = try await newCertificate(members)
        let uploaded = try await upload(Array(try await issue(id).utf8))
        #expect(uploaded.status == 200 && uploaded["id"] == id, "\(uploaded.text)")
        return id
    }

    /// A minted token, as JSON.
    /// - Parameter members: further members of the order: `, "defects": […]`.
    func token(_ members: String = "") async throws -> String {
        let minted = try await service.call("POST", "/v1/sandbox/payment-tokens", as: staff, .json(#"{"merchant_identifier":"\#(registration)"\#(members)}"#))
        let token = try #require(minted.value("token"), "\(minted.text)")
        return String(decoding: token.source, as: UTF8.self)
    }
}

/// A text as a JSON string.
func quoted(_ text: String) -> String {
    var writer = JSONWriter()
    writer.string(text)
    return String(decoding: writer.bytes, as: UTF8.self)
}
