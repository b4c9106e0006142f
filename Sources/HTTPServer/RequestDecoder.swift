public import Problems

/// The HTTP/1.1 reader of one connection: bytes in, heads and bodies out. No I/O, no clock.
///
/// Incremental: each byte is looked at once, wherever the chunks are split. Strict (RFC 9110, RFC 9112): where the standards let a server be
/// lenient with something two readers could understand differently, it refuses. After a refusal it reads nothing more.
///
/// Nothing of a request stays behind: the buffers go with the event that hands them out.
public struct RequestDecoder: Sendable {
    public struct Limits: Sendable {
        /// Request line and headers together, at most 65,535.
        public var headBytes: Int
        public var headerLines: Int

        public init(headBytes: Int = 16_384, headerLines: Int = 64) {
            self.headBytes = min(headBytes, 65_535)
            self.headerLines = headerLines
        }
    }

    public enum Event: Sendable {
        /// A whole head. Set ``RequestDecoder/maximumBodyBytes`` before asking for the next event.
        case head(HTTPRequestHead)
        /// The whole body, empty where there is none: the request is complete, the next one may follow.
        case body([UInt8])
        /// The connection is to be answered and closed.
        case refused(Problem)
    }

    /// How many bytes of body the request at hand may have. 0 again with each head.
    public var maximumBodyBytes = 0

    /// Whether a byte of a request has arrived whose end has not.
    public var isWithinRequest: Bool { state != .start }

    public init(limits: Limits = Limits()) { self.limits = limits }

    /// Reads on from `position`, which it moves, until something is complete. Nil: all input is used up and more is needed.
    public mutating func next(_ input: borrowing Span<UInt8>, at position: inout Int) -> Event? {
        switch state {
        case .failed:
            position = input.count
            return nil
        case State.start...State.headEnd:
            return scanHead(input, &position)
        default:
            return scanBody(input, &position)
        }
    }

    private enum State: UInt8, Comparable {
        // Of the head, in the order they come.
        case start, blankLineLF, method, targetStart, target, version, requestLineLF, lineStart, name, valueStart, value, lineLF, headEnd
        // Of the body.
        case bodyStart, length, chunkSize, chunkSizeLF, chunkData, chunkDataCR, chunkDataLF, lastCR, lastLF
        case failed

        static func < (left: State, right: State) -> Bool { left.rawValue < right.rawValue }
    }

    private let limits: Limits
    private var state = State.start
    private var sawBlankLine = false

    private var head: [UInt8] = []
    private var fields: [HTTPRequestHead.Field] = []
    private var field = HTTPRequestHead.Field(nameStart: 0, nameEnd: 0, valueStart: 0, valueEnd: 0)
    private var methodEnd = 0
    private var targetEnd = 0
    private var versionMatched = 0
    private var major: UInt8 = 0
    private var minor: UInt8 = 0

    private var framing = HTTPRequestHead.Framing.none
    private var body: [UInt8] = []
    /// Bytes still to come of the body (by length) or of the chunk.
    private var remaining = 0
    private var chunkDigits = 0
}

// MARK: - Head

extension RequestDecoder {
    private mutating func scanHead(_ input: borrowing Span<UInt8>, _ position: inout Int) -> Event? {
        var start = position
        var shift = head.count - start  // offset in `head` of a byte = its index in `input` + shift
        let end = min(input.count, start + limits.headBytes - head.count)
        var index = start
        while index < end {
            let byte = input[index]
            switch state {
            case .start:
                if byte == Byte.cr, !sawBlankLine {
                    state = .blankLineLF
                } else if Byte.isToken(byte) {
                    // A blank line before it is not part of the head.
                    start = index
                    shift = -start
                    state = .method
                    if fields.capacity == 0 { fields.reserveCapacity(16) }
                } else {
                    return refuse(.malformed, "The request does not begin with a method.", &position, input.count)
                }
            case .blankLineLF:
                // RFC 9112 §2.2: one empty line before the request line is passed over.
                guard byte == Byte.lf else { return refuse(.malformed, Cause.bareCR, &position, input.count) }
                sawBlankLine = true
                start = index + 1
                state = .start
            case .method:
                if byte == Byte.space {
                    methodEnd = index + shift
                    state = .targetStart
                } else if !Byte.isToken(byte) || index + shift >= 32 {
                    return refuse(.malformed, "The method is not a word followed by one space.", &position, input.count)
                }
            case .targetStart:
                guard Byte.isTarget(byte) else { return refuse(.malformed, Cause.target, &position, input.count) }
                state = .target
            case .target:
                while index < end, Byte.isTarget(input[index]) { index += 1 }
                guard index < end else { continue }
                guard input[index] == Byte.space else { return refuse(.malformed, Cause.target, &position, input.count) }
                targetEnd = index + shift
                versionMatched = 0
                state = .version
            case .version:
                guard let problem = matchVersion(byte) else { break }
                return refuse(problem, "The request line does not end in a version of HTTP and CR LF.", &position, input.count)
            case .requestLineLF:
                guard byte == Byte.lf else { return refuse(.malformed, Cause.bareCR, &position, input.count) }
                guard major == 1, minor <= 1 else { return refuse(.versionUnsupported, nil, &position, input.count) }
                state = .lineStart
            case .lineStart:
                if Byte.isToken(byte) {
                    field.nameStart = UInt16(index + shift)
                    state = .name
                } else if byte == Byte.cr {
                    state = .headEnd
                } else {
                    return refuse(.malformed, byte == Byte.space || byte == Byte.tab ? Cause.folded : Cause.name, &position, input.count)
                }
            case .name:
                while index < end, Byte.isToken(input[index]) { index += 1 }
                guard index < end else { continue }
                guard input[index] == Byte.colon else { return refuse(.malformed, Cause.name, &position, input.count) }
                field.nameEnd = UInt16(index + shift)
                state = .valueStart
            case .valueStart:
                if byte == Byte.space || byte == Byte.tab { break }
                field.valueStart = UInt16(index + shift)
                field.valueEnd = field.valueStart
                state = .value
                continue
            case .value:
                while index < end, Byte.isValue(input[index]) {
                    if input[index] > Byte.space { field.valueEnd = UInt16(index + shift + 1) }
                    index += 1
                }
                guard index < end else { continue }
                guard input[index] == Byte.cr else {
                    return refuse(.malformed, input[index] == Byte.lf ? Cause.bareLF : Cause.value, &position, input.count)
                }
                state = .lineLF
            case .lineLF:
                guard byte == Byte.lf else { return refuse(.malformed, Cause.bareCR, &position, input.count) }
                guard fields.count < limits.headerLines else {
                    return refuse(.tooManyHeaders, nil, &position, input.count, context: [("limit", .number(limits.headerLines))])
                }
                fields.append(field)
                state = .lineStart
            case .headEnd:
                guard byte == Byte.lf else { return refuse(.malformed, Cause.bareCR, &position, input.count) }
                head.append(input, start..<index + 1)
                position = index + 1
                return finishHead(&position, input.count)
            default:
                return refuse(.malformed, nil, &position, input.count)
            }
            index += 1
        }
        if state == .start || state == .blankLineLF {
            position = end
            return nil
        }
        head.append(input, start..<end)
        position = end
        guard head.count < limits.headBytes else {
            return refuse(.headTooLarge, nil, &position, input.count, context: [("limit", .number(limits.headBytes))])
        }
        return nil
    }

    /// `HTTP/`, a digit, a full stop, a digit, CR. Nil while it fits.
    private mutating func matchVersion(_ byte: UInt8) -> HTTPProblem? {
        let fits =
            switch versionMatched {
            case 0: byte == 0x48
            case 1, 2: byte == 0x54
            case 3: byte == 0x50
            case 4: byte == 0x2F
            case 6: byte == 0x2E
            case 5, 7: byte >= 0x30 && byte <= 0x39
            default: byte == Byte.cr
            }
        guard fits else { return .malformed }
        if versionMatched == 5 { major = byte - 0x30 }
        if versionMatched == 7 { minor = byte - 0x30 }
        versionMatched += 1
        if versionMatched == 9 { state = .requestLineLF }
        return nil
    }

    /// Judges target, host and framing of a head whose syntax is right.
    private mutating func finishHead(_ position: inout Int, _ inputEnd: Int) -> Event {
        var hosts = 0
        var lengths = 0
        var encodings = 0
        var length = 0
        var expectsContinue = false
        var keepsAlive = minor == 1
        var closes = false
        for field in fields {
            switch field.name.count {
            case 4 where equalIgnoringCase(head, field.name, "host"):
                hosts += 1
                for byte in head[field.value] where !Byte.isHost(byte) {
                    return refuse(.malformed, "The Host header holds a character that no host name has.", &position, inputEnd)
                }
            case 6 where equalIgnoringCase(head, field.name, "expect"):
                guard equalIgnoringCase(head, field.value, "100-continue") else { return refuse(.expectationUnsupported, nil, &position, inputEnd) }
                expectsContinue = minor == 1  // RFC 9110 §10.1.1: ignored from HTTP/1.0
            case 10 where equalIgnoringCase(head, field.name, "connection"):
                if hasListMember(field.value, "close") { closes = true }
                if hasListMember(field.value, "keep-alive") { keepsAlive = true }
            case 14 where equalIgnoringCase(head, field.name, "content-length"):
                lengths += 1
                guard lengths == 1, let value = decimal(field.value) else {
                    let cause = lengths == 1 ? "The value of Content-Length is not a plain number." : "The request has more than one Content-Length."
                    return refuse(.lengthAmbiguous, cause, &position, inputEnd)
                }
                length = value
            case 17 where equalIgnoringCase(head, field.name, "transfer-encoding"):
                encodings += 1
                if let problem = judgeTransferEncoding(field.value) { return refuse(problem, nil, &position, inputEnd) }
            default: break
            }
        }
        if encodings > 1 { return refuse(.lengthAmbiguous, "The request has more than one Transfer-Encoding.", &position, inputEnd) }
        if encodings == 1, lengths == 1 {
            return refuse(.lengthAmbiguous, "The request has both Content-Length and Transfer-Encoding.", &position, inputEnd)
        }
        if encodings == 1, minor == 0 {
            return refuse(.lengthAmbiguous, "The request has a Transfer-Encoding, which HTTP/1.0 does not know.", &position, inputEnd)
        }
        guard hosts == 1 || (hosts == 0 && minor == 0) else { return refuse(.hostMissing, nil, &position, inputEnd) }
        guard let path = pathRange() else { return refuse(.malformed, Cause.target, &position, inputEnd) }

        framing = encodings == 1 ? .chunked : length > 0 ? .length(length) : .none
        let complete = HTTPRequestHead(
            bytes: head, fields: fields, methodEnd: methodEnd, targetEnd: targetEnd, pathRange: path, framing: framing, minorVersion: Int(minor),
            expectsContinue: expectsContinue, keepsAlive: keepsAlive && !closes)
        head = []
        fields = []
        maximumBodyBytes = 0
        state = .bodyStart
        return .head(complete)
    }

    /// RFC 9112 §6.1: `chunked` alone is understood. Another coding is 501 where chunked comes last or not at all, and 400 where the end of
    /// the body could not be found.
    private func judgeTransferEncoding(_ range: Range<Int>) -> HTTPProblem? {
        if equalIgnoringCase(head, range, "chunked") { return nil }
        if range.isEmpty { return .lengthAmbiguous }
        var chunked = 0
        var members = 0
        var lastIsChunked = false
        forEachListMember(range) { member in
            members += 1
            lastIsChunked = equalIgnoringCase(head, member, "chunked")
            if lastIsChunked { chunked += 1 }
        }
        return chunked > 1 || members == 0 || (chunked == 1 && !lastIsChunked) ? .lengthAmbiguous : .transferEncodingUnsupported
    }

    private func hasListMember(_ range: Range<Int>, _ name: String) -> Bool {
        var found = false
        forEachListMember(range) { if equalIgnoringCase(head, $0, name) { found = true } }
        return found
    }

    private func forEachListMember(_ range: Range<Int>, _ body: (Range<Int>) -> Void) {
        var start = range.lowerBound
        while start <= range.upperBound {
            var end = start
            while end < range.upperBound, head[end] != Byte.comma { end += 1 }
            var first = start
            var last = end
            while first < last, head[first] == Byte.space || head[first] == Byte.tab { first += 1 }
            while last > first, head[last - 1] == Byte.space || head[last - 1] == Byte.tab { last -= 1 }
            if first < last { body(first..<last) }
            start = end + 1
        }
    }

    /// Digits only, any number of them; what would not fit is brought to a number too large for any limit.
    private func decimal(_ range: Range<Int>) -> Int? {
        guard !range.isEmpty else { return nil }
        var value = 0
        for byte in head[range] {
            guard byte >= 0x30, byte <= 0x39 else { return nil }
            value = value > 99_999_999_999_999_999 ? Int.max / 2 : value * 10 + Int(byte - 0x30)
        }
        return value
    }

    /// RFC 9112 §3.2: the origin form, the absolute form of `http` and `https`, and `*` for OPTIONS. The authority form belongs to CONNECT,
    /// which this server does not have.
    private func pathRange() -> Range<Int>? {
        let start = methodEnd + 1
        var pathStart = start
        if head[start] != Byte.slash {
            if targetEnd == start + 1, head[start] == Byte.star { return equalIgnoringCase(head, 0..<methodEnd, "options") ? start..<targetEnd : nil }
            let prefix = ["http://", "https://"].first { targetEnd - start > $0.utf8.count && equalIgnoringCase(head, start..<start + $0.utf8.count, $0) }
            guard let prefix else { return nil }
            pathStart = start + prefix.utf8.count
            let authorityStart = pathStart
            while pathStart < targetEnd, head[pathStart] != Byte.slash, head[pathStart] != Byte.question {
                guard Byte.isHost(head[pathStart]) else { return nil }
                pathStart += 1
            }
            guard pathStart > authorityStart else { return nil }
        }
        var end = pathStart
        while end < targetEnd, head[end] != Byte.question { end += 1 }
        return pathStart..<end
    }
}

// MARK: - Body

extension RequestDecoder {
    private mutating func scanBody(_ input: borrowing Span<UInt8>, _ position: inout Int) -> Event? {
        if state == .bodyStart {
            switch framing {
            case .none:
                return finishBody()
            case .length(let length):
                guard length <= maximumBodyBytes else { return tooLarge(length, &position, input.count) }
                remaining = length
                // An announced length is a claim: memory follows the bytes that come.
                body.reserveCapacity(min(length, max(input.count - position, 16_384)))
                state = .length
            case .chunked:
                beginChunk()
            }
        }
        while position < input.count {
            switch state {
            case .length, .chunkData:
                let count = min(remaining, input.count - position)
                body.append(input, position..<position + count)
                position += count
                remaining -= count
                guard remaining == 0 else { return nil }
                if state == .length { return finishBody() }
                state = .chunkDataCR
                continue
            case .chunkSize:
                let byte = input[position]
                if let digit = Byte.hexValue(byte), chunkDigits < 8 {
                    remaining = remaining << 4 | Int(digit)
                    chunkDigits += 1
                } else if byte == Byte.cr, chunkDigits > 0 {
                    state = .chunkSizeLF
                } else {
                    return refuse(.malformed, Cause.chunkSize, &position, input.count)
                }
            case .chunkSizeLF:
                guard input[position] == Byte.lf else { return refuse(.malformed, Cause.chunkSize, &position, input.count) }
                guard body.count + remaining <= maximumBodyBytes else { return tooLarge(body.count + remaining, &position, input.count) }
                state = remaining > 0 ? .chunkData : .lastCR
            case .chunkDataCR:
                guard input[position] == Byte.cr else { return refuse(.malformed, Cause.chunkEnd, &position, input.count) }
                state = .chunkDataLF
            case .chunkDataLF:
                guard input[position] == Byte.lf else { return refuse(.malformed, Cause.chunkEnd, &position, input.count) }
                beginChunk()
            case .lastCR:
                guard input[position] == Byte.cr else { return refuse(.malformed, "The body ends in trailer fields.", &position, input.count) }
                state = .lastLF
            case .lastLF:
                guard input[position] == Byte.lf else { return refuse(.malformed, Cause.chunkEnd, &position, input.count) }
                position += 1
                return finishBody()
            default:
                return refuse(.malformed, nil, &position, input.count)
            }
            position += 1
        }
        return nil
    }

    private mutating func beginChunk() {
        remaining = 0
        chunkDigits = 0
        state = .chunkSize
    }

    private mutating func finishBody() -> Event {
        let complete = body
        body = []
        state = .start
        sawBlankLine = false
        return .body(complete)
    }

    private mutating func tooLarge(_ size: Int, _ position: inout Int, _ inputEnd: Int) -> Event {
        refuse(.bodyTooLarge, nil, &position, inputEnd, context: [("limit", .number(maximumBodyBytes)), ("size", .number(size))])
    }

    private mutating func refuse(
        _ entry: HTTPProblem, _ cause: String?, _ position: inout Int, _ inputEnd: Int, context: [(name: String, value: ContextValue)] = []
    ) -> Event {
        state = .failed
        head = []
        fields = []
        body = []
        position = inputEnd
        return .refused(.http(entry, cause: cause, context: context))
    }
}

// MARK: - Words and bytes

/// Causes said in more than one place.
private enum Cause {
    static let bareCR = "A line holds a CR that no LF follows."
    static let bareLF = "A line ends in LF without CR."
    static let target = "The request target is not a path or an http address followed by one space."
    static let folded = "A header line begins with a blank: folded lines are not taken."
    static let name = "A header line is not a name directly followed by a colon."
    static let value = "A header value holds a control character."
    static let chunkSize = "A chunk size is not one to eight hexadecimal digits and nothing else."
    static let chunkEnd = "A chunk is not as long as its size says."
}

private enum Byte {
    static let tab: UInt8 = 0x09
    static let lf: UInt8 = 0x0A
    static let cr: UInt8 = 0x0D
    static let space: UInt8 = 0x20
    static let star: UInt8 = 0x2A
    static let comma: UInt8 = 0x2C
    static let slash: UInt8 = 0x2F
    static let colon: UInt8 = 0x3A
    static let question: UInt8 = 0x3F

    /// `tchar` of RFC 9110 §5.6.2: letters, digits and ``!#$%&'*+-.^_`|~``; one bit each.
    static func isToken(_ byte: UInt8) -> Bool { bit(byte, 0x03FF_6CFA_0000_0000, 0x57FF_FFFF_C7FF_FFFE) }
    /// Letters, digits and what RFC 3986 §3.2 lets a host and its port have: `!$%&'()*+,-.:;=[]_~`.
    static func isHost(_ byte: UInt8) -> Bool { bit(byte, 0x2FFF_7FF2_0000_0000, 0x47FF_FFFE_AFFF_FFFE) }
    /// Visible ASCII but `#`, which begins a fragment and is never sent.
    static func isTarget(_ byte: UInt8) -> Bool { byte > 0x20 && byte < 0x7F && byte != 0x23 }
    /// RFC 9110 §5.5: visible ASCII, blanks, and bytes beyond ASCII.
    static func isValue(_ byte: UInt8) -> Bool { byte >= 0x20 ? byte != 0x7F : byte == tab }

    static func hexValue(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x41 + 10
        case 0x61...0x66: byte - 0x61 + 10
        default: nil
        }
    }

    private static func bit(_ byte: UInt8, _ low: UInt64, _ high: UInt64) -> Bool {
        byte < 64 ? low >> UInt64(byte) & 1 == 1 : byte < 128 ? high >> UInt64(byte - 64) & 1 == 1 : false
    }
}
