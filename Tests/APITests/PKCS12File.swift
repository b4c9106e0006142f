import Foundation
import TestSupport

/// A `.p12` made by `openssl` from a key and a certificate of the vectors, as a merchant would make it.
enum PKCS12File {
    static let password = "test"

    /// - Parameters: paths of PEM files among the vectors.
    static func make(key: String, certificate: String) throws -> [UInt8] {
        let folder = try TemporaryFolder()
        try Data(Vectors.bytes(key)).write(to: URL(filePath: folder.file("key.pem")))
        try Data(Vectors.bytes(certificate)).write(to: URL(filePath: folder.file("cert.pem")))
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            "openssl", "pkcs12", "-export", "-inkey", "key.pem", "-in", "cert.pem", "-passout", "pass:\(password)", "-out", "out.p12",
        ]
        process.currentDirectoryURL = URL(filePath: folder.path)
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return [UInt8](try Data(contentsOf: URL(filePath: folder.file("out.p12"))))
    }
}

extension Shop {
    /// Imports a key and its certificate from the vectors.
    /// - Returns: the certificate record's id.
    @discardableResult func importKey(_ key: String, _ certificate: String) async throws -> String {
        let answer = try await upload(try PKCS12File.make(key: key, certificate: certificate), password: PKCS12File.password)
        guard answer.status == 201, let id = answer["id"] else { throw CocoaError(.coderInvalidValue, userInfo: ["answer": answer.text]) }
        return id
    }
}
