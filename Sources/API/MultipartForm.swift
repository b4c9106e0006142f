import Problems

/// A `multipart/form-data` body (RFC 7578, RFC 2046 §5.1), read strictly: nothing before the first boundary, known header lines, no nesting.
///
/// Incremental it is not: a body is at most as large as its route allows, and lies in memory.
struct MultipartForm: Sendable {
    struct Part: Sendable {
        let name: String
        /// Where the content stands in the body.
        let content: Range<Int>
    }

    let parts: [Part]

    private static let maximumParts = 16
    private static let maximumHeaderBytes = 4096

    /// - Parameter contentType: the whole value of the Content-Type header.
    /// - Throws: `request.multipart_malformed`, saying what and from which byte on.
    init(_ body: [UInt8], contentType: String) throws(Problem) {
        guard let boundary = MultipartForm.boundary(of: contentType) else {
            throw MultipartForm.malformed("The Content-Type header names no boundary of 1 to 70 characters.", 0)
        }
        let dashBoundary = Array("--\(boundary)".utf8)
        let delimiter = [0x0d, 0x0a] + dashBoundary
        // RFC 2046 allows text before the first boundary; nobody sends any but the line end.
        var position = body.starts(with: [0x0d, 0x0a]) ? 2 : 0
        guard body[position...].starts(with: dashBoundary) else {
            throw MultipartForm.malformed("The body does not begin with the boundary that the Content-Type header names.", position)
        }
        position += dashBoundary.count
        var parts: [Part] = []
        while true {
            if body[position...].starts(with: "--".utf8) { break }
            // RFC 2046 §5.1.1: blanks may stand behind a boundary.
            while position < body.count, body[position] == 0x20 || body[position] == 0x09 { position += 1 }
            guard body[position...].starts(with: [0x0d, 0x0a]) else {
                throw MultipartForm.malformed("A boundary is followed by neither a line end nor two hyphens.", position)
            }
            position += 2
            guard parts.count < MultipartForm.maximumParts else {
                throw MultipartForm.malformed("The form has more than \(MultipartForm.maximumParts) parts.", position)
            }
            let name = try MultipartForm.readHeader(body, &position)
            guard let end = MultipartForm.find(delimiter, in: body[...], from: position) else {
                throw MultipartForm.malformed("The last part has no boundary behind it: the body was cut.", body.count)
            }
            parts.append(Part(name: name, content: position..<end))
            position = end + delimiter.count
        }
        position += 2
        // What may follow is a line end and no more.
        guard position == body.count || body[position...].elementsEqual([0x0d, 0x0a]) else {
            throw MultipartForm.malformed("Something follows the last boundary.", position)
        }
        self.parts = parts
    }

    /// Reads the header lines of a part and the empty line behind them.
    /// - Returns: the part's name.
    private static func readHeader(_ body: [UInt8], _ position: inout Int) throws(Problem) -> String {
        let start = position
        var name: String?
        while true {
            let limit = min(body.count, start + maximumHeaderBytes)
            guard let end = find([0x0d, 0x0a], in: body[..<limit], from: position) else {
                throw malformed("The head of a part has no end within \(maximumHeaderBytes) bytes.", position)
            }
            let line = body[position..<end]
            let lineStart = position
            position = end + 2
            if line.isEmpty { break }
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")), line.allSatisfy({ $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 }) else {
                throw malformed("A header line of a part is not a name, a colon and a value.", lineStart)
            }
            let value = line[(colon + 1)...]
            switch String(decoding: line[..<colon], as: UTF8.self).lowercased() {
            case "content-disposition":
                guard name == nil, let parameters = HeaderParameters(value), parameters.value == "form-data", let given = parameters["name"] else {
                    throw malformed("The Content-Disposition of a part is not form-data with one name.", lineStart)
                }
                name = given
            case "content-transfer-encoding":
                guard ["binary", "8bit", "7bit"].contains(HeaderParameters(value)?.value) else {
                    throw malformed("A part is sent in a transfer encoding; RFC 7578 has none.", lineStart)
                }
            default: break  // Content-Type and the like are hints; the content is recognised by itself.
            }
        }
        guard let name else { throw malformed("A part has no Content-Disposition.", start) }
        return name
    }

    /// The boundary, if the type is `multipart/form-data` and it is one of RFC 2046 §5.1.1.
    static func boundary(of contentType: String) -> String? {
        guard let parameters = HeaderParameters(Array(contentType.utf8)[...]), parameters.value == "multipart/form-data", let boundary = parameters["boundary"]
        else { return nil }
        let isLegal = boundary.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"): true
            default: "'()+_,-./:=? ".utf8.contains(byte)
            }
        }
        return isLegal && (1...70).contains(boundary.utf8.count) && !boundary.hasSuffix(" ") ? boundary : nil
    }

    private static func malformed(_ cause: String, _ offset: Int) -> Problem {
        .api(.multipartMalformed, cause: cause, context: [("offset", .number(offset))])
    }

    /// Where `mark` next begins at or after `start`, wholly inside `text`. Linear: no proper beginning of a mark comes again within it, as its one CR
    /// stands in front.
    private static func find(_ mark: [UInt8], in text: ArraySlice<UInt8>, from start: Int) -> Int? {
        var index = start
        while index + mark.count <= text.endIndex {
            if text[index] == mark[0], text[index..<index + mark.count].elementsEqual(mark) { return index }
            index += 1
        }
        return nil
    }
}
