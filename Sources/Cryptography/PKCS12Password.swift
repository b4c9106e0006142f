internal import Secrets

/// One password in the spellings in which programs turn it into key material.
///
/// RFC 7292 derives from UTF-16 with a closing zero, PBKDF2 and scrypt from bytes as typed, and writers differ in both: OpenSSL 1.0.2 took each
/// byte of UTF-8 for a character; programs on a Latin-1 terminal hand over Latin-1; "no password" hashes nothing at all, an empty one two zero bytes.
struct PKCS12Password: Sendable {
    /// For RFC 7292 appendix B: big-endian UTF-16 and `00 00`, the right spelling first.
    let texts: [SecretBytes]
    /// For PBKDF2 and scrypt, UTF-8 first.
    let octets: [SecretBytes]
    /// Whether it has letters outside ASCII, which is where writers differ.
    let isBeyondASCII: Bool
    let isEmpty: Bool

    /// - Parameter typed: what the user typed, in UTF-8 (or in Latin-1, from a file); nil and empty mean the same.
    init(_ typed: SecretBytes?) {
        var bytes = typed?.copyExposed() ?? []  // wiped below
        defer { wipe(&bytes) }
        isEmpty = bytes.isEmpty
        isBeyondASCII = bytes.contains { $0 >= 0x80 }
        guard !bytes.isEmpty else {
            texts = [SecretBytes(copying: [0, 0]), SecretBytes(copying: [])]
            octets = [SecretBytes(copying: [])]
            return
        }
        guard isBeyondASCII else {
            texts = [Self.text(of: bytes.map(UInt16.init))]
            octets = [SecretBytes(copying: bytes)]
            return
        }
        let perByte = Self.text(of: bytes.map(UInt16.init))
        if let scalars = Self.scalars(utf8: bytes) {
            let right = Self.text(of: scalars.flatMap { UTF16.encode($0).map(Array.init) ?? [] })
            var texts = [right, perByte]
            var octets = [SecretBytes(copying: bytes)]
            let singles = scalars.map(Self.windows1252)
            if !singles.contains(nil) {
                var single = singles.compactMap(\.self)
                // Differs from the right text only where Windows-1252 has letters (the euro sign) and Latin-1 none.
                let asCharacters = Self.text(of: single.map(UInt16.init))
                if asCharacters != right { texts.append(asCharacters) }
                octets.append(SecretBytes(consuming: &single))
            }
            self.texts = texts
            self.octets = octets
        } else {
            let scalars = bytes.map { Self.scalar(windows1252: $0) }
            let right = Self.text(of: scalars.flatMap { UTF16.encode($0).map(Array.init) ?? [] })
            var utf8 = scalars.flatMap { UTF8.encode($0).map(Array.init) ?? [] }
            texts = right == perByte ? [right] : [right, perByte]
            octets = [SecretBytes(copying: bytes), SecretBytes(consuming: &utf8)]
        }
    }

    private static func text(of units: [UInt16]) -> SecretBytes {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(units.count * 2 + 2)
        for unit in units {
            bytes.append(UInt8(unit >> 8))
            bytes.append(UInt8(truncatingIfNeeded: unit))
        }
        bytes.append(contentsOf: [0, 0])
        return SecretBytes(consuming: &bytes)
    }

    /// The characters of valid UTF-8; nil for anything else.
    private static func scalars(utf8 bytes: [UInt8]) -> [Unicode.Scalar]? {
        String(validating: bytes, as: UTF8.self).map { Array($0.unicodeScalars) }
    }

    /// The byte that stands for `scalar` in Windows-1252, Latin-1 with letters in 80…9F.
    private static func windows1252(_ scalar: Unicode.Scalar) -> UInt8? {
        if scalar.value < 0x100 { return UInt8(scalar.value) }
        return upperHalf.firstIndex(of: UInt16(truncatingIfNeeded: scalar.value)).flatMap { scalar.value < 0x10000 ? UInt8(0x80 + $0) : nil }
    }

    private static func scalar(windows1252 byte: UInt8) -> Unicode.Scalar {
        guard (0x80..<0xa0).contains(byte) else { return Unicode.Scalar(byte) }
        return Unicode.Scalar(upperHalf[Int(byte) - 0x80]) ?? Unicode.Scalar(byte)
    }

    /// Windows-1252, 80…9F; the five unused places stand for themselves.
    private static let upperHalf: [UInt16] = [
        0x20ac, 0x0081, 0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160, 0x2039, 0x0152, 0x008d, 0x017d, 0x008f,
        0x0090, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0x009d, 0x017e, 0x0178,
    ]
}
