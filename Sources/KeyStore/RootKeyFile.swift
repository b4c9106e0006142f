import Cryptography
public import Encodings
public import Foundation
public import Problems
public import Secrets

/// What opens the keyring from outside the database: a file today, a passphrase or a PKCS#11 token later.
public protocol RootSlot: Sendable {
    /// `file`, `passphrase`, `pkcs11`: stored beside each wrap.
    var kind: String { get }
    /// Says which root key this is without telling anything of it.
    var fingerprint: Digest256 { get }
    func wrap(_ key: SecretBytes, associatedData: [UInt8]) throws(Problem) -> [UInt8]
    func unwrap(_ wrapped: [UInt8], associatedData: [UInt8]) throws(Problem) -> SecretBytes
}

/// A root key of 32 random bytes in a file of its own: one line of 64 hexadecimal digits, readable by its owner only.
public struct RootKeyFile: RootSlot {
    public let kind = "file"
    public let fingerprint: Digest256
    private let key: AEADKey

    /// Makes a new root key and writes it; refuses a file that exists.
    public static func create(at url: URL) throws(Problem) -> RootKeyFile {
        let secret = try SecureRandom.secret(32)
        var line = Hex.encodeToBytes(secret.copyExposed()) + [UInt8(ascii: "\n")]
        defer { wipe(&line) }
        try FileWriting.create(line, at: url)
        return try RootKeyFile(secret)
    }

    /// Reads a root key; blanks and a line end around the digits are no matter.
    public init(reading url: URL) throws(Problem) {
        guard var content = try? [UInt8](Data(contentsOf: url)) else {
            throw .keyStore(.rootKeyMissing, context: [("file", .text(url.lastPathComponent))])
        }
        defer { wipe(&content) }
        let blanks: Set<UInt8> = [0x20, 0x09, 0x0a, 0x0d]
        guard let first = content.firstIndex(where: { !blanks.contains($0) }), let last = content.lastIndex(where: { !blanks.contains($0) }),
            var bytes = Hex.decode(content[first...last]), bytes.count == 32
        else {
            throw .keyStore(.rootKeyMalformed, context: [("file", .text(url.lastPathComponent)), ("size", .number(content.count))])
        }
        try self.init(SecretBytes(consuming: &bytes))
    }

    private init(_ secret: SecretBytes) throws(Problem) {
        fingerprint = SHA256.digest(LengthPrefixedList("coster root key fingerprint").bytes + secret.copyExposed())
        key = try AEADKey(secret)
    }

    public func wrap(_ secret: SecretBytes, associatedData: [UInt8]) throws(Problem) -> [UInt8] {
        try key.seal(secret, associatedData: associatedData)
    }

    public func unwrap(_ wrapped: [UInt8], associatedData: [UInt8]) throws(Problem) -> SecretBytes {
        try key.open(wrapped, associatedData: associatedData)
    }
}
