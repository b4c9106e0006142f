import Cryptography
public import Encodings
public import Problems

/// An Apple merchant identifier: `merchant.` and at least one label, of ASCII letters, digits, hyphens and dots, at most 255 bytes.
///
/// Case is kept and counts: the key derivation of `EC_v1` hashes the exact bytes, so `merchant.com.Example` and `merchant.com.example` are two.
/// - Source: Apple publishes no grammar; this one holds every identifier seen in a certificate.
public struct MerchantIdentifier: Hashable, Sendable, CustomStringConvertible {
    public let text: String
    /// SHA-256 of the text's UTF-8: party V of the key derivation, and what extension 1.2.840.113635.100.6.32 holds in hex.
    public let hash: Digest256

    public static let maximumBytes = 255
    private static let prefix = "merchant."

    /// - Throws: `merchant_identifier.malformed`, naming what is wrong; an invisible or foreign character by its code point and place.
    public init(_ text: String) throws(Problem) {
        guard !text.isEmpty else { throw .merchantIdentifier(.malformed, cause: "The merchant identifier is empty.") }
        for (index, scalar) in text.unicodeScalars.enumerated() where !MerchantIdentifier.isLegal(scalar) {
            throw .merchantIdentifier(
                .malformed,
                cause: "The merchant identifier holds the character \(MerchantIdentifier.name(of: scalar)) at position \(index + 1).",
                fix: "Use ASCII letters, digits, hyphens and dots only, exactly as the identifier is registered at Apple.")
        }
        guard text.hasPrefix(MerchantIdentifier.prefix), text.utf8.count > MerchantIdentifier.prefix.utf8.count else {
            throw .merchantIdentifier(
                .malformed, cause: "The merchant identifier does not begin with \"merchant.\" in lower case and a name after it.")
        }
        guard text.utf8.count <= MerchantIdentifier.maximumBytes else {
            throw .merchantIdentifier(
                .malformed, cause: "The merchant identifier has \(text.utf8.count) characters; \(MerchantIdentifier.maximumBytes) is the limit.")
        }
        guard !text.split(separator: ".", omittingEmptySubsequences: false).contains(where: \.isEmpty) else {
            throw .merchantIdentifier(.malformed, cause: "The merchant identifier has an empty part between two dots or at its end.")
        }
        self.text = text
        self.hash = SHA256.digest(Array(text.utf8))
    }

    /// Reads what a person typed or pasted: ASCII blanks around the identifier are taken off, and `trimmed` says so.
    public static func reading(_ text: String) throws(Problem) -> (identifier: MerchantIdentifier, trimmed: Bool) {
        let isBlank = { (byte: UInt8) in byte == 0x20 || (0x09...0x0d).contains(byte) }
        var bytes = Array(text.utf8)[...]
        while let last = bytes.last, isBlank(last) { bytes.removeLast() }
        bytes = bytes.drop(while: isBlank)
        let trimmed = bytes.count != text.utf8.count
        return (try MerchantIdentifier(trimmed ? String(decoding: bytes, as: UTF8.self) : text), trimmed)
    }

    /// Whether the two are alike but for the case of letters: the usual slip, told apart from an unknown identifier.
    public func differsOnlyInCase(from other: MerchantIdentifier) -> Bool {
        text != other.text && text.lowercased() == other.text.lowercased()
    }

    public var description: String { text }

    private static func isLegal(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", ".", "-": true
        default: false
        }
    }

    /// `U+200B`, and the character itself behind it where it can be seen.
    private static func name(of scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        let codePoint = "U+" + String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits
        return scalar.isASCII && scalar.value > 0x20 && scalar.value < 0x7f ? "\(codePoint) (\"\(scalar)\")" : codePoint
    }
}

extension Warning {
    /// The identifier was taken without the blanks around it.
    public static let identifierTrimmed = Warning(
        code: "identifier_trimmed", detail: "Blanks around the merchant identifier were taken off; send it without them.")
}
