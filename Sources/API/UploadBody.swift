import Encodings
import HTTPServer
import Operations
import Problems
import Secrets

/// The body of an upload: the file itself, `multipart/form-data` with `file`, `password` and `key_password`, or JSON with `content` (base64) and the
/// same two. Which file it is, its content says; the content type only says which of the three forms this is.
enum UploadBody {
    /// 1.5 MiB: a file of 1 MiB in base64, and room for the form around it.
    static let maximumBytes = 1_572_864

    static let schema = Schema.object(
        "UploadRequest", nil,
        [
            .required("content", .text("The file, base64.", format: "byte")),
            .optional("password", .text("Opens the .p12.", format: "password")),
            .optional("key_password", .text("Where the private key inside has a password of its own.", format: "password")),
        ])

    static let formSchema = Schema.object(
        "UploadForm", nil,
        [
            .required("file", .text("The file.", format: "binary")),
            .optional("password", .text("Opens the .p12.", format: "password")),
            .optional("key_password", .text("Where the private key inside has a password of its own.", format: "password")),
        ])

    /// - Throws: `request.*`.
    static func read(_ request: HTTPRequest) throws(Problem) -> Upload {
        guard let contentType = request.head.header("content-type") else { return Upload(content: request.body) }
        let type = HeaderParameters(contentType)?.value ?? contentType.lowercased()
        if type == "application/json" { return try readJSON(request) }
        if type == "multipart/form-data" { return try readForm(request.body, contentType) }
        if type.hasPrefix("multipart/") {
            throw .contentTypeUnsupported(contentType, supported: ["application/octet-stream", "multipart/form-data", "application/json"])
        }
        return Upload(content: request.body)
    }

    private static func readJSON(_ request: HTTPRequest) throws(Problem) -> Upload {
        try request.head.requireJSON()
        let object = try RequestObject(request.body, schema)
        guard let content = try object.base64("content") else { throw .memberMissing("content", at: JSONPointer()) }
        return Upload(content: content, password: secret(object.given("password")), keyPassword: secret(object.given("key_password")))
    }

    private static func secret(_ value: JSONValue?) -> SecretBytes? {
        guard var bytes = value?.stringBytes else { return nil }
        return SecretBytes(consuming: &bytes)
    }

    private static func readForm(_ body: [UInt8], _ contentType: String) throws(Problem) -> Upload {
        let form = try MultipartForm(body, contentType: contentType)
        var content: [UInt8]?
        var secrets: [String: SecretBytes] = [:]
        for part in form.parts {
            let isDoubled = part.name == "file" ? content != nil : secrets[part.name] != nil
            if isDoubled {
                throw .api(
                    .memberDoubled, cause: "The form has the member \"\(part.name)\" twice.",
                    context: [("member", .text(part.name)), ("pointer", .text(JSONPointer().adding(part.name).text))])
            }
            switch part.name {
            case "file": content = Array(body[part.content])
            case "password", "key_password": secrets[part.name] = SecretBytes(copying: body[part.content])
            default:
                throw .api(
                    .memberUnknown, cause: "The form has the member \"\(part.name.clipped)\", which this call does not know.",
                    context: [
                        ("member", .text(part.name.clipped)), ("pointer", .text(JSONPointer().adding(part.name).text)),
                        ("known", .list(["file", "password", "key_password"])),
                    ])
            }
        }
        guard let content else { throw .memberMissing("file", at: JSONPointer()) }
        return Upload(content: content, password: secrets["password"], keyPassword: secrets["key_password"])
    }
}
