public import Problems
public import Secrets

/// The reader of `.p12` files (PKCS#12, RFC 7292), of Keychain Access, OpenSSL 0.9 to 3, Windows, Java, NSS and others.
///
/// The file is walked by ``PKCS12Structure``, and OpenSSL derives and decrypts what that walk found: no second reader could see other
/// iteration counts than the ones that were judged.
public enum PKCS12 {
    /// Opens a file: structure, MAC algorithm, iterations, password, contents, in this order; the first failure gives the code.
    ///
    /// A file without a private key, or without a certificate, opens: see ``PKCS12Contents/requireKeyAndCertificate()``.
    /// - Parameters:
    ///   - bytes: DER or BER. Bytes after the file's own end are ignored.
    ///   - password: UTF-8 as typed. nil and empty are the same, and try both ways in which files write "no password".
    ///   - keyPassword: where what is inside has a password of its own.
    public static func open(
        _ bytes: [UInt8], password: SecretBytes?, keyPassword: SecretBytes? = nil, limits: PKCS12Limits = PKCS12Limits()
    ) throws(Problem) -> PKCS12Contents {
        try open(bytes, password: password, keyPassword: keyPassword, limits: limits, library: .shared)
    }

    static func open(
        _ bytes: [UInt8], password: SecretBytes?, keyPassword: SecretBytes?, limits: PKCS12Limits, library: PKCS12Library
    ) throws(Problem) -> PKCS12Contents {
        guard bytes.count <= limits.bytes else {
            throw .pkcs12(.tooLarge, context: [("size", .number(bytes.count)), ("limit", .number(limits.bytes))])
        }
        var reader = DERReader(bytes, rules: .ber)
        do throws(DERError) {
            _ = try reader.next(.sequence)
        } catch  where error.reason == .truncated {
            throw .pkcs12(.truncated, context: [("size", .number(bytes.count))], underlying: error.description)
        } catch {
            throw unreadable(error)
        }
        let structure: PKCS12Structure
        do throws(DERError) { structure = try PKCS12Structure(reading: bytes) } catch { throw unreadable(error) }
        var opening = PKCS12Opening(
            structure: structure, password: PKCS12Password(password), keyPassword: keyPassword.map { PKCS12Password($0) }, limits: limits, library: library)
        return try opening.run()
    }

    /// Whether this server can open the files of Keychain Access: decrypts eight known bytes with RC2-40.
    /// - Throws: `pkcs12.legacy_unavailable`.
    public static func selfTest() throws(Problem) { try selfTest(.shared) }

    static func selfTest(_ library: PKCS12Library) throws(Problem) {
        let cipher = PasswordCipher(name: "RC2-40-CBC", keyBytes: 5, ivBytes: 8, isLegacy: true)
        let plaintext = try library.decrypt(
            [0x9d, 0xbc, 0x15, 0x07, 0x62, 0x62, 0x0c, 0x1a], cipher: cipher, key: SecretBytes(copying: [1, 2, 3, 4, 5]),
            iv: SecretBytes(copying: [UInt8](repeating: 0, count: 8)))
        guard plaintext == SecretBytes(copying: Array("coster".utf8)) else { throw .pkcs12(.legacyUnavailable) }
    }

    static func unreadable(_ error: DERError) -> Problem {
        .pkcs12(.structureUnsupported, context: [("offset", .number(error.offset))], underlying: error.description)
    }
}
