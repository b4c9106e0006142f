internal import Encodings

/// Says what a file is by looking inside, through everything that mail, editors, terminals and portals wrap around it.
///
/// DER and BER; PEM with text around it, in any line ends; UTF-8 with a byte order mark; UTF-16 as Notepad writes it; base64 of any of these in
/// one line, wrapped, or with blanks for line ends; a JSON string of any of these. No input makes it trap, and none makes it recurse beyond four layers.
public enum FileRecognizer {
    public static func recognise(_ bytes: [UInt8]) -> RecognisedFile {
        var peeling = Peeling()
        let kind = peeling.kind(of: bytes)
        return RecognisedFile(kind: kind, wrappers: peeling.wrappers, certificates: peeling.certificates)
    }
}

/// One file on its way from the outermost wrapper to the content.
private struct Peeling {
    var wrappers: [FileWrapper] = []
    var certificates: [Certificate] = []
    /// More certificates than this are not collected.
    private static let maximumCertificates = 100
    private static let maximumLayers = 4
    private var layers = 0

    mutating func kind(of bytes: [UInt8]) -> FileKind {
        layers += 1
        guard layers <= Peeling.maximumLayers else { return .unknown }
        if let text = FileText.decodingUTF16(bytes) {
            note(.utf16)
            return kind(ofOneByteText: text)
        }
        guard bytes.starts(with: [0xef, 0xbb, 0xbf]) else { return kind(ofOneByteText: bytes) }
        note(.byteOrderMark)
        return kind(ofOneByteText: Array(bytes.dropFirst(3)))
    }

    private mutating func kind(ofOneByteText bytes: [UInt8]) -> FileKind {
        if FileText.isPKCS12(bytes) { return .pkcs12(bytes) }
        if let kind = kind(ofDER: bytes) { return kind }
        if let kind = FileText.magic(bytes) { return kind }
        if FileText.isDamaged(bytes) { return .damagedAsText }
        let blocks = PEM.blocks(in: bytes)
        if !blocks.isEmpty { return kind(of: blocks, in: bytes) }
        let text = FileText.trimmed(bytes)
        guard let first = text.first else { return .empty }
        switch first {
        case UInt8(ascii: "<"): return .html
        case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "\""):
            if let kind = kind(ofJSON: Array(text)) { return kind }
        default: break
        }
        if text.count >= 16, let decoded = Base64.decode(text) {
            let before = wrappers
            note(.base64)
            let kind = kind(of: decoded)
            if case .unknown = kind { wrappers = before } else { return kind }
        }
        return FileText.looksCutOff(bytes) ? .truncated : .unknown
    }

    private mutating func note(_ wrapper: FileWrapper) {
        if !wrappers.contains(wrapper) { wrappers.append(wrapper) }
    }

    // MARK: PEM

    private mutating func kind(of blocks: [PEMBlock], in bytes: [UInt8]) -> FileKind {
        note(.pem)
        if bytes.contains(0x0d) { note(.carriageReturns) }
        if FileText.hasTextAroundPEM(bytes) { note(.surroundingText) }
        var kinds: [FileKind] = []
        for block in blocks.prefix(200) {
            let isEncrypted = block.headers.contains { $0.name == "Proc-Type" && $0.value.contains("ENCRYPTED") }
            let inner = block.bytes.flatMap { FileText.isPKCS12($0) ? .pkcs12($0) : kind(ofDER: $0) }
            if block.label.contains("PRIVATE KEY"), !isPrivateKey(inner) {
                // The armour counts: whoever wrote it meant a private key, even where we cannot read it.
                kinds.append(.privateKey(form: form(block.label), isEncrypted: isEncrypted || block.label.contains("ENCRYPTED")))
            } else if let inner {
                kinds.append(inner)
            } else if block.bytes == nil {
                kinds.append(.truncated)
            }
        }
        return Peeling.foremost(kinds, certificates: certificates) ?? .unknown
    }

    private func isPrivateKey(_ kind: FileKind?) -> Bool {
        if case .privateKey? = kind { true } else { false }
    }

    private func form(_ label: String) -> PrivateKeyForm {
        switch label {
        case "PRIVATE KEY", "ENCRYPTED PRIVATE KEY": .pkcs8
        case "EC PRIVATE KEY": .sec1
        case "RSA PRIVATE KEY": .pkcs1
        case "DSA PRIVATE KEY": .dsa
        case "OPENSSH PRIVATE KEY": .openssh
        default: .other
        }
    }

    /// The kind a file of several parts goes by: what must not be overlooked comes first.
    private static func foremost(_ kinds: [FileKind], certificates: [Certificate]) -> FileKind? {
        func rank(_ kind: FileKind) -> Int {
            switch kind {
            case .privateKey: 0
            case .pkcs12: 1
            case .certificate: 2
            case .certificationRequest: 3
            case .pkcs7: 4
            case .truncated: 5
            default: 6
            }
        }
        guard let foremost = kinds.min(by: { rank($0) < rank($1) }) else { return nil }
        if case .certificate(let first) = foremost { return .certificate(certificates.first { !$0.isCA } ?? first) }
        return foremost
    }

    // MARK: JSON

    private mutating func kind(ofJSON text: [UInt8]) -> FileKind? {
        let document: JSONDocument
        do throws(JSONError) {
            document = try JSONDocument(text)
        } catch .tooDeep {
            return .json  // deeper than anything we would look into
        } catch {
            return nil
        }
        if let string = document.root.stringBytes {
            note(.quotes)
            return kind(of: string)
        }
        if FileText.isPaymentToken(document.root) { return .paymentTokenJSON(text) }
        if FileText.holdsPrivateJWK(document.root) { return .privateKey(form: .jwk, isEncrypted: false) }
        return .json
    }

    // MARK: DER

    /// What one DER value is, or several one after another; nil where it is none we know.
    private mutating func kind(ofDER bytes: [UInt8]) -> FileKind? {
        var reader = DERReader(bytes, rules: .ber)
        var kinds: [FileKind] = []
        while kinds.count < Peeling.maximumCertificates, reader.nextTag == .sequence, let element = try? reader.next(.sequence) {
            guard let kind = try? kind(of: element, in: reader) else { break }
            kinds.append(kind)
        }
        return Peeling.foremost(kinds, certificates: certificates)
    }

    private mutating func kind(of element: DERElement, in reader: DERReader) throws(DERError) -> FileKind? {
        let bytes = reader.bytes
        var content = try reader.inside(element)
        switch content.nextTag {
        case .integer?:
            let version = try content.next(.integer).content
            switch content.nextTag {
            case .sequence?:
                _ = try content.next(.sequence)
                return content.nextTag == .octetString ? .privateKey(form: .pkcs8, isEncrypted: false) : nil
            case .octetString?: return .privateKey(form: .sec1, isEncrypted: false)
            case .integer?:
                var integers = 1
                while content.nextTag == .integer {
                    _ = try content.next(.integer)
                    integers += 1
                }
                switch integers {
                case 9: return .privateKey(form: .pkcs1, isEncrypted: false)
                case 6: return .privateKey(form: .dsa, isEncrypted: false)
                case 2: return version.count >= 64 ? .publicKey : nil
                default: return nil
                }
            default: return nil
            }
        case .objectIdentifier?:
            guard try content.objectIdentifier() == .signedData else { return nil }
            return .pkcs7(try certificates(inSignedData: content))
        case .sequence?:
            if try content.enter(.sequence).nextTag == .objectIdentifier {
                switch content.nextTag {
                case .bitString?: return .publicKey
                case .octetString?: return .privateKey(form: .pkcs8, isEncrypted: true)
                default: return nil
                }
            }
            let whole = Array(bytes[element.whole])
            if let certificate = try? Certificate(der: whole) {
                collect(certificate)
                return .certificate(certificate)
            }
            return (try? CertificationRequest(der: whole)).map(FileKind.certificationRequest)
        default: return nil
        }
    }

    /// The certificates of a SignedData, here the only thing wanted of it (RFC 5652 §5.1).
    private mutating func certificates(inSignedData contentInfo: DERReader) throws(DERError) -> [Certificate] {
        var contentInfo = contentInfo
        var explicit = try contentInfo.enter(.context(0))
        var signedData = try explicit.enter(.sequence)
        _ = try signedData.next(.integer)
        _ = try signedData.next(.set)
        _ = try signedData.next(.sequence)
        guard signedData.nextTag == .context(0) else { return [] }
        var list = try signedData.enter(.context(0))
        var found: [Certificate] = []
        while !list.isAtEnd, found.count < Peeling.maximumCertificates {
            let element = try list.next()
            guard let certificate = try? Certificate(der: Array(list.bytes[element.whole])) else { continue }
            found.append(certificate)
            collect(certificate)
        }
        return found
    }

    private mutating func collect(_ certificate: Certificate) {
        if certificates.count < Peeling.maximumCertificates { certificates.append(certificate) }
    }
}

/// Questions about the bytes of a file.
private enum FileText {
    /// UTF-8 for UTF-16 with a byte order mark, or without one where it is plain ASCII at the start; nil for anything else.
    static func decodingUTF16(_ bytes: [UInt8]) -> [UInt8]? {
        guard bytes.count >= 4 else { return nil }
        let isLittle: Bool
        var start = 0
        switch (bytes[0], bytes[1], bytes[2], bytes[3]) {
        case (0xff, 0xfe, _, _): (isLittle, start) = (true, 2)
        case (0xfe, 0xff, _, _): (isLittle, start) = (false, 2)
        case (0x09..<0x7f, 0, 0x09..<0x7f, 0): isLittle = true
        case (0, 0x09..<0x7f, 0, 0x09..<0x7f): isLittle = false
        default: return nil
        }
        var units: [UInt16] = []
        units.reserveCapacity(bytes.count / 2)
        for index in stride(from: start, to: bytes.count - 1, by: 2) {
            let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
            units.append(isLittle ? second << 8 | first : first << 8 | second)
        }
        return Array(String(decoding: units, as: UTF16.self).utf8)
    }

    static func trimmed(_ bytes: [UInt8]) -> ArraySlice<UInt8> {
        var text = bytes[...]
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0d).contains(byte) || byte == 0 }
        while let first = text.first, isBlank(first) { text.removeFirst() }
        while let last = text.last, isBlank(last) { text.removeLast() }
        return text
    }

    /// Whether the file begins as PFX does: version 3, then a ContentInfo of PKCS#7. Its end may be missing.
    static func isPKCS12(_ bytes: [UInt8]) -> Bool {
        guard let version = contentStart(bytes, 0), bytes[version...].starts(with: [0x02, 0x01, 0x03]) else { return false }
        guard let content = contentStart(bytes, version + 3) else { return false }
        return bytes[content...].starts(with: [0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07])
    }

    /// Whether the file begins with the header of a SEQUENCE longer than the file.
    static func looksCutOff(_ bytes: [UInt8]) -> Bool {
        guard let content = contentStart(bytes, 0), content < bytes.count, bytes[content] == 0x30 || bytes[content] == 0x02 || bytes[content] == 0x06 else {
            return false
        }
        var reader = DERReader(bytes, rules: .ber)
        do throws(DERError) {
            _ = try reader.next()
            return false
        } catch {
            return error.reason == .truncated
        }
    }

    /// Where the content of the SEQUENCE at `start` begins.
    private static func contentStart(_ bytes: [UInt8], _ start: Int) -> Int? {
        guard start + 2 <= bytes.count, bytes[start] == 0x30 else { return nil }
        let lengthBytes = bytes[start + 1] > 0x80 ? Int(bytes[start + 1] & 0x7f) : 0
        let content = start + 2 + lengthBytes
        return lengthBytes <= 4 && content <= bytes.count ? content : nil
    }

    static func magic(_ bytes: [UInt8]) -> FileKind? {
        switch bytes.prefix(4) {
        case [0xfe, 0xed, 0xfe, 0xed], [0xce, 0xce, 0xce, 0xce]: return .javaKeystore
        case [0x50, 0x4b, 0x03, 0x04]: return .archive
        case let start where start.starts(with: [0x1f, 0x8b]): return .archive
        case [0x37, 0x7a, 0xbc, 0xaf], [0x52, 0x61, 0x72, 0x21]: return .archive
        default: break
        }
        if bytes.starts(with: Array("PuTTY-User-Key-File".utf8)) {
            // "Encryption: none" stands in one of the first lines where the key is not encrypted.
            let isPlain = String(decoding: bytes.prefix(300), as: UTF8.self).contains("Encryption: none")
            return .privateKey(form: .putty, isEncrypted: !isPlain)
        }
        return bytes.starts(with: Array("ssh-rsa ".utf8)) || bytes.starts(with: Array("ecdsa-sha2-".utf8)) ? .publicKey : nil
    }

    /// Whether binary was read as UTF-8 (each byte that is none replaced by `EF BF BD`), or as Latin-1 or Windows-1252, and written as UTF-8.
    static func isDamaged(_ bytes: [UInt8]) -> Bool {
        let replacement: [UInt8] = [0xef, 0xbf, 0xbd]
        // DER begins with 30 and nearly always goes on with 80…84.
        if bytes.first == 0x30, bytes.count > 4 {
            let next = bytes[1...]
            if next.starts(with: replacement) || next.starts(with: [0xe2, 0x80, 0x9a]) || next.starts(with: [0xe2, 0x82, 0xac]) { return true }
            if next.starts(with: [0xc2]), (0x80...0x84).contains(bytes[2]) { return true }
        }
        if bytes.starts(with: replacement) { return true }
        var count = 0
        var index = 0
        while index + 2 < bytes.count {
            if bytes[index] == 0xef, bytes[index + 1] == 0xbf, bytes[index + 2] == 0xbd {
                count += 1
                index += 3
            } else {
                index += 1
            }
        }
        return count >= 8 && bytes.contains { $0 < 0x09 }
    }

    /// Whether anything but blanks stands outside the armour.
    static func hasTextAroundPEM(_ bytes: [UInt8]) -> Bool {
        let text = trimmed(bytes)
        return !text.starts(with: Array("-----BEGIN ".utf8)) || text.last != UInt8(ascii: "-")
    }

    /// Whether JSON is, or carries, a payment token in one of its dresses.
    static func isPaymentToken(_ value: JSONValue, depth: Int = 0) -> Bool {
        switch value.kind {
        case .object:
            // The decrypted payload has a member paymentData too: an object without these members.
            if value.member("data") != nil || value.member("header") != nil, value.member("signature") != nil || value.member("version") != nil { return true }
            if value.member("paymentData")?.kind == .string { return true }
            return depth < 4 && value.members.contains { isPaymentToken($0.value, depth: depth + 1) }
        case .array: return depth < 4 && value.elements.contains { isPaymentToken($0, depth: depth + 1) }
        case .string: return value.string.map { $0.contains("publicKeyHash") && $0.contains("signature") } ?? false
        case .number, .bool, .null: return false
        }
    }

    /// Whether a JSON Web Key with its private part stands in it (RFC 7518 §6).
    static func holdsPrivateJWK(_ value: JSONValue, depth: Int = 0) -> Bool {
        switch value.kind {
        case .object:
            if value.member("kty") != nil, value.member("d") != nil { return true }
            return depth < 4 && value.members.contains { holdsPrivateJWK($0.value, depth: depth + 1) }
        case .array: return depth < 4 && value.elements.contains { holdsPrivateJWK($0, depth: depth + 1) }
        default: return false
        }
    }
}
