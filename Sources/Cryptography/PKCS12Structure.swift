internal import Encodings

/// A `.p12` file as it lies there: what is protected, how, and with which iteration counts, before any password is looked at.
///
/// Only shapes are judged here; what a count may be is the business of ``PKCS12Budget``. BER is read as well as DER (NSS writes indefinite lengths).
/// - Source: RFC 7292 (PKCS#12), RFC 8018 (PBES2, PBMAC1), RFC 7914 (scrypt), RFC 9579 (PBMAC1 in PKCS#12).
struct PKCS12Structure {
    /// A count as written: the uploader's choice, so nothing is taken for granted.
    enum Count: Equatable {
        case positive(Int)
        case notPositive
        case beyond63Bits
    }

    /// How a password becomes a key.
    enum Derivation {
        /// Appendix B of RFC 7292, with SHA-1 where it encrypts.
        case rfc7292(salt: [UInt8], iterations: Count, digest: String)
        case pbkdf2(salt: [UInt8], iterations: Count, digest: String)
        case scrypt(salt: [UInt8], n: Count, r: Count, p: Count)
    }

    /// Bytes under a password.
    struct Protected {
        enum Encryption {
            /// - iv: nil where it is derived from the password too.
            case known(Derivation, PasswordCipher, iv: [UInt8]?)
            /// The algorithm's identifier.
            case unknown(OID)
        }
        let encryption: Encryption
        let ciphertext: [UInt8]
    }

    struct MAC {
        enum Algorithm {
            /// HMAC over `digest`, with a key of its digest's length.
            case known(Derivation, digest: String, keyBytes: Int)
            case unknown(OID)
        }
        let algorithm: Algorithm
        let value: [UInt8]
        /// PBMAC1 takes the password as bytes, the older form as UTF-16.
        var isPBMAC1 = false
    }

    indirect enum Bag {
        /// PrivateKeyInfo, not encrypted.
        case key([UInt8])
        case shroudedKey(Protected)
        /// An X.509 certificate in DER.
        case certificate([UInt8])
        case nested([Bag])
        case crl, secret, other
    }

    enum Safe {
        case plain([Bag])
        case encrypted(Protected)
        /// For a certificate's holder (EnvelopedData), or of a type unknown.
        case unknown(OID)
    }

    /// What the MAC covers.
    let authenticated: [UInt8]
    let mac: MAC?
    let safes: [Safe]

    /// - Parameter pfx: a reader whose next element is the whole file.
    init(reading bytes: [UInt8]) throws(DERError) {
        var file = DERReader(bytes, rules: .ber)
        var pfx = try file.enter(.sequence)
        guard try pfx.smallInteger() == 3 else { throw DERError(.value, at: 0) }
        var content = try pfx.enter(.sequence)
        guard try content.objectIdentifier() == .data else { throw DERError(.unexpected, at: content.position) }
        var explicit = try content.enter(.context(0))
        authenticated = Array(try explicit.octets())
        mac = pfx.isAtEnd ? nil : try Self.mac(try pfx.enter(.sequence))

        var outer = DERReader(authenticated, rules: .ber)
        var list = try outer.enter(.sequence)
        var safes: [Safe] = []
        while !list.isAtEnd { safes.append(try Self.safe(try list.enter(.sequence))) }
        self.safes = safes
    }

    /// The bags of one SafeContents.
    static func bags(of safeContents: [UInt8]) throws(DERError) -> [Bag] {
        var reader = DERReader(safeContents, rules: .ber)
        return try bags(try reader.enter(.sequence))
    }

    /// Whether decryption gave sense: one SEQUENCE and nothing else. Under a wrong key the padding alone passes once in 256 times.
    static func isOneSequence(_ bytes: [UInt8]) -> Bool {
        var reader = DERReader(bytes, rules: .ber)
        return (try? reader.next(.sequence)) != nil && reader.isAtEnd
    }

    // MARK: Safes and bags

    private static func safe(_ reader: DERReader) throws(DERError) -> Safe {
        var reader = reader
        let type = try reader.objectIdentifier()
        switch type {
        case .data:
            var explicit = try reader.enter(.context(0))
            return .plain(try bags(of: Array(try explicit.octets())))
        case encryptedData:
            var explicit = try reader.enter(.context(0))
            var data = try explicit.enter(.sequence)
            _ = try data.smallInteger()
            var info = try data.enter(.sequence)
            _ = try info.objectIdentifier()
            let encryption = try encryption(try info.enter(.sequence))
            return .encrypted(Protected(encryption: encryption, ciphertext: Array(try info.octets(.contextPrimitive(0)))))
        default: return .unknown(type)
        }
    }

    private static func bags(_ reader: DERReader) throws(DERError) -> [Bag] {
        var reader = reader
        var bags: [Bag] = []
        while !reader.isAtEnd { bags.append(try bag(try reader.enter(.sequence))) }
        return bags
    }

    private static func bag(_ reader: DERReader) throws(DERError) -> Bag {
        var reader = reader
        let type = try reader.objectIdentifier()
        // The attributes behind the value (friendlyName, localKeyID) are not looked at: keys and certificates are matched by public key.
        var value = try reader.enter(.context(0))
        switch type {
        case keyBag: return .key(try definite(try value.next(.sequence), in: value))
        case shroudedKeyBag: return .shroudedKey(try protectedKey(try value.enter(.sequence)))
        case certificateBag:
            var certificate = try value.enter(.sequence)
            guard try certificate.objectIdentifier() == x509Certificate else { return .other }
            var explicit = try certificate.enter(.context(0))
            return .certificate(Array(try explicit.octets()))
        case safeContentsBag: return .nested(try bags(try value.enter(.sequence)))  // as deep as DERReader goes: 32 levels, three a nesting
        case crlBag: return .crl
        case secretBag: return .secret
        default: return .other
        }
    }

    /// A constructed value with definite lengths all the way down, as those who read keys want it.
    private static func definite(_ element: DERElement, in reader: DERReader) throws(DERError) -> [UInt8] {
        var writer = DERWriter()
        var inside = try reader.inside(element)
        var content: [UInt8] = []
        while let tag = inside.nextTag {
            switch tag {
            case .octetString, DERTag.octetString.constructed:
                var octets = DERWriter()
                octets.octetString(try inside.octets())
                content += octets.bytes
            case _ where tag.isConstructed: content += try definite(try inside.next(), in: inside)
            default: content += inside.bytes[try inside.next().whole]
            }
        }
        writer.primitive(element.tag, content)
        return writer.bytes
    }

    /// EncryptedPrivateKeyInfo (RFC 5958).
    static func protectedKey(_ reader: DERReader) throws(DERError) -> Protected {
        var reader = reader
        let encryption = try encryption(try reader.enter(.sequence))
        return Protected(encryption: encryption, ciphertext: Array(try reader.octets()))
    }

    // MARK: Algorithms

    private static func encryption(_ reader: DERReader) throws(DERError) -> Protected.Encryption {
        var reader = reader
        let algorithm = try reader.objectIdentifier()
        if let cipher = rfc7292Ciphers[algorithm] {
            var parameters = try reader.enter(.sequence)
            let salt = Array(try parameters.octets())
            return .known(.rfc7292(salt: salt, iterations: try count(&parameters), digest: "SHA1"), cipher, iv: nil)
        }
        guard algorithm == pbes2 else { return .unknown(algorithm) }
        var parameters = try reader.enter(.sequence)
        var kdf = try parameters.enter(.sequence)
        var scheme = try parameters.enter(.sequence)
        let schemeName = try scheme.objectIdentifier()
        guard let cipher = pbes2Ciphers[schemeName] else { return .unknown(schemeName) }
        let iv = Array(try scheme.octets())
        guard iv.count == cipher.ivBytes else { throw DERError(.value, at: scheme.position) }
        let kdfName = try kdf.objectIdentifier()
        switch kdfName {
        case pbkdf2:
            let (derivation, keyBytes, prf) = try pbkdf2Parameters(try kdf.enter(.sequence))
            guard let derivation else { return .unknown(prf) }
            guard keyBytes == nil || keyBytes == cipher.keyBytes else { throw DERError(.value, at: kdf.position) }
            return .known(derivation, cipher, iv: iv)
        case scrypt:
            var values = try kdf.enter(.sequence)
            let salt = Array(try values.octets())
            let (n, r, p) = (try count(&values), try count(&values), try count(&values))
            let keyBytes = values.isAtEnd ? cipher.keyBytes : try values.smallInteger()
            guard keyBytes == cipher.keyBytes else { throw DERError(.value, at: values.position) }
            return .known(.scrypt(salt: salt, n: n, r: r, p: p), cipher, iv: iv)
        default: return .unknown(kdfName)
        }
    }

    /// PBKDF2-params (RFC 8018 appendix A.2). The derivation is nil where its pseudo-random function is unknown.
    private static func pbkdf2Parameters(_ reader: DERReader) throws(DERError) -> (derivation: Derivation?, keyBytes: Int?, prf: OID) {
        var reader = reader
        let salt = Array(try reader.octets())
        let iterations = try count(&reader)
        let keyBytes = reader.nextTag == .integer ? try reader.smallInteger() : nil
        guard !reader.isAtEnd else { return (.pbkdf2(salt: salt, iterations: iterations, digest: "SHA1"), keyBytes, hmacWithSHA1) }
        var prf = try reader.enter(.sequence)
        let name = try prf.objectIdentifier()
        return (hmacs[name].map { .pbkdf2(salt: salt, iterations: iterations, digest: $0.name) }, keyBytes, name)
    }

    private static func mac(_ reader: DERReader) throws(DERError) -> MAC {
        var reader = reader
        var info = try reader.enter(.sequence)
        var identifier = try info.enter(.sequence)
        let algorithm = try identifier.objectIdentifier()
        let value = Array(try info.octets())
        if algorithm == pbmac1 {
            var parameters = try identifier.enter(.sequence)
            var kdf = try parameters.enter(.sequence)
            let kdfName = try kdf.objectIdentifier()
            guard kdfName == pbkdf2 else { return MAC(algorithm: .unknown(kdfName), value: value, isPBMAC1: true) }
            let (derivation, keyBytes, prf) = try pbkdf2Parameters(try kdf.enter(.sequence))
            var scheme = try parameters.enter(.sequence)
            let schemeName = try scheme.objectIdentifier()
            guard let derivation else { return MAC(algorithm: .unknown(prf), value: value, isPBMAC1: true) }
            guard let digest = hmacs[schemeName] else { return MAC(algorithm: .unknown(schemeName), value: value, isPBMAC1: true) }
            // RFC 9579 §4: the length must be there. Each digest's length more is one derivation more, so it is bounded.
            guard let keyBytes, (1...64).contains(keyBytes) else { throw DERError(.value, at: kdf.position) }
            return MAC(algorithm: .known(derivation, digest: digest.name, keyBytes: keyBytes), value: value, isPBMAC1: true)
        }
        let salt = Array(try reader.octets())
        let iterations: Count = reader.isAtEnd ? .positive(1) : try count(&reader)
        guard let digest = digests[algorithm] else { return MAC(algorithm: .unknown(algorithm), value: value) }
        let derivation = Derivation.rfc7292(salt: salt, iterations: iterations, digest: digest.name)
        return MAC(algorithm: .known(derivation, digest: digest.name, keyBytes: digest.bytes), value: value)
    }

    private static func count(_ reader: inout DERReader) throws(DERError) -> Count {
        let content = reader.bytes[try reader.integer()]
        guard let first = content.first, first < 0x80 else { return .notPositive }
        guard content.count <= 8 else { return .beyond63Bits }
        let value = content.reduce(0) { $0 << 8 | Int($1) }
        return value > 0 ? .positive(value) : .notPositive
    }

    // MARK: Names

    private static let encryptedData: OID = "1.2.840.113549.1.7.6"
    private static let keyBag: OID = "1.2.840.113549.1.12.10.1.1"
    private static let shroudedKeyBag: OID = "1.2.840.113549.1.12.10.1.2"
    private static let certificateBag: OID = "1.2.840.113549.1.12.10.1.3"
    private static let crlBag: OID = "1.2.840.113549.1.12.10.1.4"
    private static let secretBag: OID = "1.2.840.113549.1.12.10.1.5"
    private static let safeContentsBag: OID = "1.2.840.113549.1.12.10.1.6"
    private static let x509Certificate: OID = "1.2.840.113549.1.9.22.1"
    private static let pbkdf2: OID = "1.2.840.113549.1.5.12"
    private static let pbes2: OID = "1.2.840.113549.1.5.13"
    private static let pbmac1: OID = "1.2.840.113549.1.5.14"
    private static let scrypt: OID = "1.3.6.1.4.1.11591.4.11"
    private static let hmacWithSHA1: OID = "1.2.840.113549.2.7"

    /// RFC 7292 appendix C.
    private static let rfc7292Ciphers: [OID: PasswordCipher] = [
        "1.2.840.113549.1.12.1.1": PasswordCipher(name: "RC4", keyBytes: 16, ivBytes: 0, isLegacy: true),
        "1.2.840.113549.1.12.1.2": PasswordCipher(name: "RC4-40", keyBytes: 5, ivBytes: 0, isLegacy: true),
        "1.2.840.113549.1.12.1.3": PasswordCipher(name: "DES-EDE3-CBC", keyBytes: 24, ivBytes: 8),
        "1.2.840.113549.1.12.1.4": PasswordCipher(name: "DES-EDE-CBC", keyBytes: 16, ivBytes: 8),
        "1.2.840.113549.1.12.1.5": PasswordCipher(name: "RC2-CBC", keyBytes: 16, ivBytes: 8, isLegacy: true),
        "1.2.840.113549.1.12.1.6": PasswordCipher(name: "RC2-40-CBC", keyBytes: 5, ivBytes: 8, isLegacy: true),
    ]

    private static let pbes2Ciphers: [OID: PasswordCipher] = [
        "2.16.840.1.101.3.4.1.2": PasswordCipher(name: "AES-128-CBC", keyBytes: 16, ivBytes: 16),
        "2.16.840.1.101.3.4.1.22": PasswordCipher(name: "AES-192-CBC", keyBytes: 24, ivBytes: 16),
        "2.16.840.1.101.3.4.1.42": PasswordCipher(name: "AES-256-CBC", keyBytes: 32, ivBytes: 16),
        "1.2.840.113549.3.7": PasswordCipher(name: "DES-EDE3-CBC", keyBytes: 24, ivBytes: 8),
    ]

    private static let digests: [OID: (name: String, bytes: Int)] = [
        "1.2.840.113549.2.5": ("MD5", 16), "1.3.14.3.2.26": ("SHA1", 20), "2.16.840.1.101.3.4.2.4": ("SHA224", 28), .sha256: ("SHA256", 32),
        "2.16.840.1.101.3.4.2.2": ("SHA384", 48), "2.16.840.1.101.3.4.2.3": ("SHA512", 64), "2.16.840.1.101.3.4.2.5": ("SHA512-224", 28),
        "2.16.840.1.101.3.4.2.6": ("SHA512-256", 32),
    ]

    private static let hmacs: [OID: (name: String, bytes: Int)] = [
        hmacWithSHA1: ("SHA1", 20), "1.2.840.113549.2.8": ("SHA224", 28), "1.2.840.113549.2.9": ("SHA256", 32),
        "1.2.840.113549.2.10": ("SHA384", 48), "1.2.840.113549.2.11": ("SHA512", 64), "1.2.840.113549.2.12": ("SHA512-224", 28),
        "1.2.840.113549.2.13": ("SHA512-256", 32),
    ]
}
