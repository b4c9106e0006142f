import Encodings
import Problems
import Secrets

@testable import Cryptography

/// Builds `.p12` files no tool would write: counts of any size at each place, passwords that differ, safes and bags in any order.
/// Safes are encrypted with RC4, a stream cipher, so that the reader's own decryption encrypts too.
struct PKCS12Builder {
    /// The content of an INTEGER.
    typealias Integer = [UInt8]

    static let library = PKCS12Library.shared
    static let salt: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]

    static func text(_ password: String) -> SecretBytes {
        var bytes: [UInt8] = password.utf16.flatMap { unit -> [UInt8] in [UInt8(unit >> 8), UInt8(truncatingIfNeeded: unit)] } + [0, 0]
        return SecretBytes(consuming: &bytes)
    }

    // MARK: Bags

    static func bag(_ type: OID, _ value: [UInt8]) -> [UInt8] {
        DERWriter.sequence {
            $0.objectIdentifier(type)
            $0.constructed(.context(0)) { $0.raw(value) }
        }
    }

    static func keyBag(_ pkcs8: [UInt8]) -> [UInt8] { bag("1.2.840.113549.1.12.10.1.1", pkcs8) }
    static func shroudedBag(_ encrypted: [UInt8]) -> [UInt8] { bag("1.2.840.113549.1.12.10.1.2", encrypted) }
    static func nestedBag(_ bags: [[UInt8]]) -> [UInt8] { bag("1.2.840.113549.1.12.10.1.6", safeContents(bags)) }
    static func certificateBag(_ der: [UInt8]) -> [UInt8] {
        bag(
            "1.2.840.113549.1.12.10.1.3",
            DERWriter.sequence {
                $0.objectIdentifier("1.2.840.113549.1.9.22.1")
                $0.constructed(.context(0)) { $0.octetString(der) }
            })
    }

    static func safeContents(_ bags: [[UInt8]]) -> [UInt8] { DERWriter.sequence { for bag in bags { $0.raw(bag) } } }

    /// An EncryptedPrivateKeyInfo whose count is `iterations` and whose content is what RC4 makes of `pkcs8` (of nothing, where it can't be derived).
    static func shrouded(_ pkcs8: [UInt8], password: SecretBytes, iterations: Integer) throws -> [UInt8] {
        DERWriter.sequence { writer in
            writer.raw(rc4Algorithm(iterations))
            writer.octetString((try? rc4(pkcs8, password: password, iterations: iterations)) ?? [0, 0, 0, 0])
        }
    }

    // MARK: Safes

    static func plainSafe(_ bags: [[UInt8]]) -> [UInt8] {
        DERWriter.sequence {
            $0.objectIdentifier(.data)
            $0.constructed(.context(0)) { $0.octetString(safeContents(bags)) }
        }
    }

    static func encryptedSafe(_ bags: [[UInt8]], password: SecretBytes, iterations: Integer = [1]) -> [UInt8] {
        let ciphertext = (try? rc4(safeContents(bags), password: password, iterations: iterations)) ?? [0, 0, 0, 0]
        return encryptedSafe(ciphertext, algorithm: rc4Algorithm(iterations))
    }

    static func encryptedSafe(_ ciphertext: [UInt8], algorithm: [UInt8]) -> [UInt8] {
        DERWriter.sequence {
            $0.objectIdentifier("1.2.840.113549.1.7.6")
            $0.constructed(.context(0)) {
                $0.sequence {
                    $0.integer(0)
                    $0.sequence {
                        $0.objectIdentifier(.data)
                        $0.raw(algorithm)
                        $0.primitive(.contextPrimitive(0), ciphertext)
                    }
                }
            }
        }
    }

    static func scryptAlgorithm(n: Integer, r: Integer, p: Integer) -> [UInt8] {
        DERWriter.sequence {
            $0.objectIdentifier("1.2.840.113549.1.5.13")
            $0.sequence {
                $0.sequence {
                    $0.objectIdentifier("1.3.6.1.4.1.11591.4.11")
                    $0.sequence {
                        $0.octetString(salt)
                        $0.primitive(.integer, n)
                        $0.primitive(.integer, r)
                        $0.primitive(.integer, p)
                    }
                }
                $0.sequence {
                    $0.objectIdentifier("2.16.840.1.101.3.4.1.42")
                    $0.octetString([UInt8](repeating: 0, count: 16))
                }
            }
        }
    }

    // MARK: The file

    /// - Parameter mac: the password's spelling, and the count as written; nil for no MAC.
    static func file(_ safes: [[UInt8]], mac: (password: SecretBytes, iterations: Integer)?) throws -> [UInt8] {
        let authenticated = DERWriter.sequence { for safe in safes { $0.raw(safe) } }
        var value = [UInt8](repeating: 0, count: 20)
        if let mac, let iterations = count(mac.iterations) {
            let key = try library.deriveRFC7292(mac.password, salt: salt, purpose: .mac, iterations: iterations, count: 20, digest: "SHA1")
            value = try library.authenticate(authenticated, key: key, digest: "SHA1")
        }
        return DERWriter.sequence {
            $0.integer(3)
            $0.sequence {
                $0.objectIdentifier(.data)
                $0.constructed(.context(0)) { $0.octetString(authenticated) }
            }
            guard let mac else { return }
            $0.sequence {
                $0.sequence {
                    $0.sequence {
                        $0.objectIdentifier("1.3.14.3.2.26")
                        $0.null()
                    }
                    $0.octetString(value)
                }
                $0.octetString(salt)
                $0.primitive(.integer, mac.iterations)
            }
        }
    }

    /// The same value in BER: every constructed element of indefinite length, every OCTET STRING in segments of 7 bytes.
    static func indefinite(_ der: [UInt8]) throws -> [UInt8] {
        func rewrite(_ reader: DERReader, into writer: inout DERWriter) throws {
            var reader = reader
            while !reader.isAtEnd {
                let element = try reader.next()
                let content = Array(reader.bytes[element.content])
                if element.tag.isConstructed {
                    let inside = try reader.inside(element)
                    try writer.indefinite(element.tag) { try rewrite(inside, into: &$0) }
                } else if element.tag == .octetString || element.tag == .contextPrimitive(0) {
                    writer.indefinite(element.tag) {
                        for start in stride(from: 0, to: content.count, by: 7) { $0.octetString(content[start..<min(start + 7, content.count)]) }
                    }
                } else {
                    writer.primitive(element.tag, content)
                }
            }
        }
        var writer = DERWriter()
        try rewrite(DERReader(der, rules: .ber), into: &writer)
        return writer.bytes
    }

    // MARK: RC4

    private static func rc4Algorithm(_ iterations: Integer) -> [UInt8] {
        DERWriter.sequence {
            $0.objectIdentifier("1.2.840.113549.1.12.1.1")
            $0.sequence {
                $0.octetString(salt)
                $0.primitive(.integer, iterations)
            }
        }
    }

    private static func rc4(_ bytes: [UInt8], password: SecretBytes, iterations: Integer) throws -> [UInt8] {
        guard let iterations = count(iterations) else { return [0, 0, 0, 0] }
        let key = try library.deriveRFC7292(password, salt: salt, purpose: .key, iterations: iterations, count: 16, digest: "SHA1")
        let cipher = PasswordCipher(name: "RC4", keyBytes: 16, ivBytes: 0, isLegacy: true)
        return try library.decrypt(bytes, cipher: cipher, key: key, iv: SecretBytes(copying: []))?.copyExposed() ?? []
    }

    /// The count, where one would want to derive with it.
    private static func count(_ content: Integer) -> Int? {
        guard content.count <= 3, let first = content.first, first < 0x80 else { return nil }
        let value = content.reduce(0) { $0 << 8 | Int($1) }
        return value > 0 ? value : nil
    }
}
