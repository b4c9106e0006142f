internal import Encodings

/// One armoured block: `-----BEGIN label-----`, base64, `-----END label-----` (RFC 7468, and RFC 1421's headers).
public struct PEMBlock: Sendable {
    /// `CERTIFICATE`, `PRIVATE KEY`, …, as written.
    public let label: String
    /// `Proc-Type` and the like; old encrypted keys have them.
    public let headers: [(name: String, value: String)]
    /// What the base64 stands for; nil where it is none, or where the `END` line is missing.
    public let bytes: [UInt8]?
}

/// PEM text, read as people mangle it and written as RFC 7468 says.
///
/// Reading accepts text before, between and after the blocks (`openssl pkcs12` writes "Bag Attributes" there), CRLF and CR, blank lines, blanks at
/// line ends, one single line, blanks where line ends were, and `\n` and `\/` spelt out, as they come out of environment variables and JSON.
public enum PEM {
    /// All blocks in order.
    public static func blocks(in text: [UInt8]) -> [PEMBlock] {
        var blocks: [PEMBlock] = []
        var position = 0
        while let begin = find(beginMark, in: text[...], from: position) {
            let labelStart = begin + beginMark.count
            guard let labelEnd = find(dashes, in: text.prefix(labelStart + 80), from: labelStart), labelEnd - labelStart <= 64,
                isLabel(text[labelStart..<labelEnd])
            else {
                position = labelStart
                continue
            }
            let bodyStart = labelEnd + dashes.count
            // The block ends with its own END line; a second BEGIN before it means that the END line is missing.
            let nextBegin = find(beginMark, in: text[...], from: bodyStart) ?? text.count
            let end = find(endMark, in: text[..<nextBegin], from: bodyStart)
            blocks.append(block(label: text[labelStart..<labelEnd], body: text[bodyStart..<(end ?? nextBegin)], isComplete: end != nil))
            position = end ?? nextBegin
        }
        return blocks
    }

    /// One block, lines of 64 characters, one line end behind it.
    public static func encode(_ bytes: [UInt8], label: String) -> String {
        var text = "-----BEGIN \(label)-----\n"
        var rest = Substring(Base64.encode(bytes))
        while !rest.isEmpty {
            text += rest.prefix(64)
            text += "\n"
            rest = rest.dropFirst(64)
        }
        return text + "-----END \(label)-----\n"
    }

    private static let beginMark = Array("-----BEGIN ".utf8)
    private static let endMark = Array("-----END ".utf8)
    private static let dashes = Array("-----".utf8)

    private static func block(label: ArraySlice<UInt8>, body: ArraySlice<UInt8>, isComplete: Bool) -> PEMBlock {
        var base64: [UInt8] = []
        var headers: [(name: String, value: String)] = []
        for line in lines(of: body) {
            // No base64 character is a colon, so a line with one is a header. Its continuation lines are not told apart: no key we read has any.
            if let colon = line.firstIndex(of: UInt8(ascii: ":")) {
                headers.append((text(line[..<colon]), text(line[line.index(after: colon)...])))
            } else {
                base64.append(contentsOf: line.lazy.filter { $0 != UInt8(ascii: "\\") })  // JSON writers put one before each slash
            }
        }
        return PEMBlock(label: text(label), headers: headers, bytes: isComplete && !base64.isEmpty ? Base64.decode(base64[...]) : nil)
    }

    /// Splits at CR, LF and at `\n`, `\r` spelt out with a backslash.
    private static func lines(of body: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        var lines: [ArraySlice<UInt8>] = []
        var start = body.startIndex
        var index = start
        while index < body.endIndex {
            let isSpelt =
                body[index] == UInt8(ascii: "\\") && index + 1 < body.endIndex
                && (body[index + 1] | 0x20 == UInt8(ascii: "n") || body[index + 1] == UInt8(ascii: "r"))
            if isSpelt || body[index] == 0x0a || body[index] == 0x0d {
                lines.append(body[start..<index])
                index += isSpelt ? 2 : 1
                start = index
            } else {
                index += 1
            }
        }
        lines.append(body[start...])
        return lines
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        var bytes = bytes
        while let first = bytes.first, first == 0x20 || first == 0x09 { bytes.removeFirst() }
        while let last = bytes.last, last == 0x20 || last == 0x09 { bytes.removeLast() }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func isLabel(_ bytes: ArraySlice<UInt8>) -> Bool {
        !bytes.isEmpty && bytes.allSatisfy { $0 >= 0x20 && $0 < 0x7f }
    }

    /// Where `mark` next begins at or after `start`, wholly inside `text`.
    private static func find(_ mark: [UInt8], in text: ArraySlice<UInt8>, from start: Int) -> Int? {
        var index = start
        while index + mark.count <= text.endIndex {
            if text[index] == mark[0], text[index..<index + mark.count].elementsEqual(mark) { return index }
            index += 1
        }
        return nil
    }
}
