import ApplePay
import Cryptography
import Encodings
import Problems
import TestSupport
import Testing

@Suite struct PaymentTokenTests {
    /// Shape only: nobody looks at the signature here.
    private static let ec: TestToken? = {
        var token = try? TestToken(for: .p256(P256.AgreementKey.generate()))
        token?.signature = [1, 2, 3]
        return token
    }()
    private static let rsa: TestToken? = {
        var token = try? TestToken(for: .rsa(RSA.DecryptionKey.generate()))
        token?.signature = [1, 2, 3]
        return token
    }()

    private func problem(_ json: String) -> Problem? {
        do throws(Problem) {
            _ = try PaymentToken(parsing: Array(json.utf8))
            return nil
        } catch {
            return error
        }
    }

    @Test func `reads each member as it is`() throws {
        var parts = try #require(Self.ec)
        parts.applicationData = [UInt8](repeating: 0xab, count: 32)
        let token = try parts.parsed()
        guard case .ecV1(let key) = token.version else {
            Issue.record("not EC_v1")
            return
        }
        #expect(key.spki == parts.keyField)
        #expect(token.version.name == "EC_v1" && token.version.keyAlgorithm == .ecP256)
        #expect(token.data == parts.data)
        #expect(Array(token.signatureText) == Array(Base64.encode(parts.signature).utf8))
        #expect(token.publicKeyHash == parts.publicKeyHash)
        #expect(token.transactionId == parts.transactionId)
        #expect(token.applicationData == parts.applicationData)
        #expect(token.signedContentDigest == SHA256.digest(parts.keyField + parts.data + parts.transactionId + [UInt8](repeating: 0xab, count: 32)))
        #expect(token.warnings == [])
        #expect(token.unsigned == (try parts.parsed().unsigned) && token.unsigned.network == nil)
    }

    @Test func `reads RSA_v1`() throws {
        let parts = try #require(Self.rsa)
        let token = try parts.parsed()
        guard case .rsaV1(let key) = token.version else {
            Issue.record("not RSA_v1")
            return
        }
        #expect(key == parts.keyField)
        #expect(token.version.name == "RSA_v1" && token.version.keyAlgorithm == .rsa2048)
        #expect(token.signedContentDigest == SHA256.digest(parts.keyField + parts.data + parts.transactionId))
    }

    @Test(arguments: RealToken.all)
    func `digests what Apple signed`(_ real: RealToken) throws {
        let token = try real.token()
        let notes = try JSONDocument(Vectors.bytes(real.name + ".intermediate.json")).root
        #expect(token.signedContentDigest.hex == notes.member("signedContentSha256")?.string)
        #expect(token.publicKeyHash.base64 == notes.member("publicKeyHash")?.string)
        #expect(token.version.name == notes.member("version")?.string)
    }

    // MARK: - Missing and null

    @Test(arguments: ["version", "data", "signature", "header", "header.publicKeyHash", "header.transactionId", "header.ephemeralPublicKey"])
    func `a missing member, or null, is named`(_ path: String) throws {
        let parts = try #require(Self.ec)
        for value in [nil, "null"] as [String?] {
            let name = String(path.split(separator: ".").last ?? "")
            let json = path.hasPrefix("header.") ? parts.json(header: [name: value]) : parts.json(members: [name: value])
            let problem = problem(json)
            #expect(problem?.code == "payment_token.malformed")
            guard case .list(let missing) = problem?.context.first?.value else {
                Issue.record("nothing listed")
                return
            }
            #expect(missing.contains(.text(path)), "\(missing)")
        }
    }

    @Test func `all that is missing is listed at once`() {
        let problem = problem(#"{"version":"EC_v1"}"#)
        #expect(
            problem?.context.first?.value
                == .list(["data", "signature", "header", "header.publicKeyHash", "header.transactionId", "header.ephemeralPublicKey"].map { .text($0) }))
        #expect(self.problem(#"{"header":{}}"#)?.title.contains("header.ephemeralPublicKey or header.wrappedKey") == true)
    }

    @Test(arguments: ["null", "\"\""])
    func `application data that is null or empty is absent`(_ value: String) throws {
        let parts = try #require(Self.ec)
        let token = try PaymentToken(parsing: Array(parts.json(header: ["applicationData": value]).utf8))
        #expect(token.applicationData == nil)
        #expect(token.signedContentDigest == (try parts.parsed().signedContentDigest))
    }

    // MARK: - Version

    @Test(arguments: ["EC_v2", "ec_v1", "FAKE_v1", "", "RSA_v2", " EC_v1", String(repeating: "x", count: 5000)])
    func `an unknown version is unsupported, and the supported ones are named`(_ version: String) throws {
        let problem = problem(try #require(Self.ec).json(members: ["version": quoted(version)]))
        #expect(problem?.code == "payment_token.version_unsupported")
        #expect(problem?.title.contains("EC_v1 and RSA_v1") == true)
        #expect(problem.map { $0.title.utf8.count < 200 } == true)
    }

    @Test(arguments: ["1", "true", "{}", "[]"])
    func `a version that is no text is malformed`(_ version: String) throws {
        #expect(problem(try #require(Self.ec).json(members: ["version": version]))?.code == "payment_token.malformed")
    }

    @Test func `the version of the other kind lacks its key`() throws {
        #expect(problem(try #require(Self.ec).json(members: ["version": "\"RSA_v1\""]))?.title.contains("header.wrappedKey") == true)
        #expect(problem(try #require(Self.rsa).json(members: ["version": "\"EC_v1\""]))?.title.contains("header.ephemeralPublicKey") == true)
    }

    // MARK: - Wrong, doubled, over-long

    @Test(arguments: ["data", "signature", "header", "header.publicKeyHash", "header.transactionId", "header.ephemeralPublicKey", "header.applicationData"])
    func `a member of another type is malformed, by name`(_ path: String) throws {
        let parts = try #require(Self.ec)
        let name = String(path.split(separator: ".").last ?? "")
        for value in ["1", "true", "[]", "[\"AA==\"]", path == "header" ? "\"{}\"" : "{}"] {
            let problem = problem(path.hasPrefix("header.") ? parts.json(header: [name: value]) : parts.json(members: [name: value]))
            #expect(problem?.code == "payment_token.malformed")
            #expect(problem?.title.contains(path) == true)
        }
    }

    @Test(arguments: [
        ("data", "\"*\""), ("data", "\"\""), ("data", "\"AAAAAAAAAAAAAAAAAAAA\""), ("header.publicKeyHash", "\"AAAA\""), ("header.publicKeyHash", "\"\""),
        ("header.publicKeyHash", "\"\(String(repeating: "A", count: 48))\""), ("header.transactionId", "\"\""), ("header.transactionId", "\"abc\""),
        ("header.transactionId", "\"xy\""), ("header.transactionId", "\"\(String(repeating: "00", count: 129))\""),
        ("header.applicationData", "\"order 7\""), ("header.applicationData", "\"\(String(repeating: "00", count: 129))\""),
        ("header.ephemeralPublicKey", "\"\""), ("header.ephemeralPublicKey", "\"AAAA\""), ("header.ephemeralPublicKey", "\"**\""),
    ])
    func `a member of another content is malformed, by name`(_ path: String, _ value: String) throws {
        let parts = try #require(Self.ec)
        let name = String(path.split(separator: ".").last ?? "")
        let problem = problem(path.hasPrefix("header.") ? parts.json(header: [name: value]) : parts.json(members: [name: value]))
        #expect(problem?.code == "payment_token.malformed")
        #expect(problem?.title.contains(path) == true, "\(problem?.title ?? "accepted")")
    }

    @Test(arguments: [0, 255, 257, 512])
    func `a wrapped key has 256 bytes`(_ count: Int) throws {
        let wrapped = quoted(Base64.encode([UInt8](repeating: 7, count: count)))
        #expect(problem(try #require(Self.rsa).json(header: ["wrappedKey": wrapped]))?.code == "payment_token.malformed")
    }

    @Test func `16 bytes of data are a tag, 15 are none`() throws {
        var parts = try #require(Self.ec)
        parts.data = [UInt8](repeating: 0, count: 16)
        #expect(problem(parts.json()) == nil)
        parts.data.removeLast()
        #expect(problem(parts.json())?.code == "payment_token.malformed")
    }

    @Test func `a doubled member is refused at every level`() throws {
        let json = try #require(Self.ec).json()
        let doubles = [
            json.dropLast() + #","data":"AAAA"}"#, json.replacing("\"header\":{", with: "\"header\":{\"transactionId\":\"00\","),
            json.dropLast() + #","extra":{"a":1,"a":1}}"#, json.dropLast() + ##","d\u0061ta":"AAAA"}"##,
        ]
        for double in doubles.map({ String($0) }) {
            let whole = #"{"paymentData":\#(double)}"#
            for text in [double, whole, quoted(double), #"{"paymentData":\#(quoted(double))}"#] {
                #expect(problem(text)?.code == "payment_token.malformed")
                #expect(problem(text)?.title.contains("twice") == true)
            }
        }
        #expect(problem(#"{"transactionIdentifier":"1","transactionIdentifier":"2","paymentData":\#(json)}"#)?.code == "payment_token.malformed")
    }

    /// Wrong forms of a point, each in a well-formed SubjectPublicKeyInfo where there is one.
    @Test func `an ephemeral key is an uncompressed point on P-256 and nothing else`() throws {
        let parts = try #require(Self.ec)
        let spki = parts.keyField
        let header = Array(spki.prefix(27))
        let x = Array(spki[27..<59])
        let info = { (point: [UInt8]) in
            DERWriter.sequence {
                $0.sequence {
                    $0.objectIdentifier(.ecPublicKey)
                    $0.objectIdentifier(.p256)
                }
                $0.bitString(point)
            }
        }
        var offCurve = spki
        offCurve[90] ^= 1
        var hybrid = spki
        hybrid[26] = 6 | spki[90] & 1
        let wrong: [[UInt8]] = [
            offCurve, hybrid, info([2 | spki[90] & 1] + x), info([0]), spki + [0], Array(spki.dropLast()), header + [UInt8](repeating: 0, count: 64),
            header + [UInt8](repeating: 0xff, count: 64), try P384.SigningKey.generate().spki, try RSA.DecryptionKey.generate().spki,
        ]
        for key in wrong {
            #expect(problem(parts.json(header: ["ephemeralPublicKey": quoted(Base64.encode(key))]))?.code == "payment_token.malformed")
        }
        #expect(problem(parts.json()) == nil)
    }

    // MARK: - Tolerance

    @Test func `base64 fields take both alphabets, any padding, and blanks`() throws {
        let parts = try #require(Self.ec)
        let expected = try parts.parsed().signedContentDigest
        func lines(_ text: String, _ count: Int, _ end: String) -> String {
            var result = ""
            for (index, character) in text.enumerated() {
                if index > 0, index.isMultiple(of: count) { result += end }
                result.append(character)
            }
            return result + end
        }
        let dresses: [([UInt8]) -> String] = [
            { Base64.encodeURL($0) }, { Base64.encode($0).filter { $0 != "=" } }, { lines(Base64.encode($0), 64, "\n") },
            { lines(Base64.encode($0), 76, "\r\n") }, { lines(Base64.encodeURL($0), 10, "\t ") },
        ]
        for dress in dresses {
            let json = parts.json(
                header: ["ephemeralPublicKey": quoted(dress(parts.keyField)), "publicKeyHash": quoted(dress(parts.publicKeyHash.bytes))],
                members: ["data": quoted(dress(parts.data)), "signature": quoted(dress(parts.signature))])
            let token = try PaymentToken(parsing: Array(json.utf8))
            #expect(token.signedContentDigest == expected)
            #expect(token.publicKeyHash == parts.publicKeyHash)
        }
    }

    @Test func `hexadecimal of either case is the same bytes`() throws {
        var parts = try #require(Self.ec)
        parts.applicationData = [0xab, 0xcd]
        let upper = parts.json(header: [
            "transactionId": quoted(Hex.encode(parts.transactionId).uppercased()), "applicationData": "\"ABCD\"",
        ])
        let token = try PaymentToken(parsing: Array(upper.utf8))
        #expect(token.transactionId == parts.transactionId)
        #expect(token.signedContentDigest == (try parts.parsed().signedContentDigest))
    }

    @Test func `members that Apple does not define are ignored`() throws {
        let parts = try #require(Self.ec)
        let json = parts.json(header: ["zzz": "[1]"], members: ["more": "{\"a\":[null]}"])
        #expect(try PaymentToken(parsing: Array(#"{"x":1,"paymentData":\#(json),"y":[]}"#.utf8)).warnings == [])
    }

    @Test func `a key field of the other version is reported, null is not`() throws {
        let (ec, rsa) = (try #require(Self.ec), try #require(Self.rsa))
        let odd = try PaymentToken(parsing: Array(rsa.json(header: ["ephemeralPublicKey": "\"AAAA\""]).utf8))
        #expect(odd.warnings.map(\.code) == ["member_of_other_version"])
        #expect(try PaymentToken(parsing: Array(ec.json(header: ["wrappedKey": "\"AAAA\""]).utf8)).warnings.map(\.code) == ["member_of_other_version"])
        #expect(try PaymentToken(parsing: Array(ec.json(header: ["wrappedKey": "null"]).utf8)).warnings == [])
    }

    // MARK: - Outside paymentData

    @Test func `what Apple does not sign stands apart`() throws {
        let parts = try #require(Self.ec)
        let outer = { (identifier: String) in
            #"{"paymentData":\#(parts.json()),"paymentMethod":{"displayName":"Visa 6020","network":"Visa","type":"debit"}\#(identifier)}"#
        }
        let same = Hex.encode(parts.transactionId)
        let token = try PaymentToken(parsing: Array(outer(#","transactionIdentifier":"\#(same.uppercased())""#).utf8))
        #expect(token.unsigned.displayName == "Visa 6020" && token.unsigned.network == "Visa" && token.unsigned.type == "debit")
        #expect(token.unsigned.transactionIdentifier == same.uppercased())
        #expect(token.warnings == [])
        #expect(try PaymentToken(parsing: Array(outer("").utf8)).warnings == [])
        #expect(try PaymentToken(parsing: Array(outer(",\"transactionIdentifier\":null").utf8)).warnings == [])
        for identifier in ["00", "", "not hex", same + "00"] {
            let other = try PaymentToken(parsing: Array(outer(",\"transactionIdentifier\":\(quoted(identifier))").utf8))
            #expect(other.warnings.map(\.code) == ["transaction_identifier_differs"])
            #expect(other.transactionId == parts.transactionId)
        }
    }

    @Test func `any cut of a good token is refused, none stops the process`() throws {
        let json = Array(try #require(Self.ec).json().utf8)
        for count in stride(from: 0, to: json.count, by: 7) {
            #expect(throws: Problem.self) { try PaymentToken(parsing: Array(json.prefix(count))) }
        }
    }
}
