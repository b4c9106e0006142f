import ApplePay
import Cryptography
import Encodings
import Problems
import Testing

@Suite struct TokenDressTests {
    private static let parts: TestToken? = {
        var token = try? TestToken(for: .p256(P256.AgreementKey.generate()))
        token?.signature = [1, 2, 3]
        return token
    }()
    private static var alone: String { parts?.json() ?? "" }
    private static var whole: String { #"{"paymentData":\#(alone),"paymentMethod":{"network":"Visa"}}"# }

    private static func base64(_ text: String) -> String { Base64.encode(Array(text.utf8)) }

    /// Reads `json` as the `token` member of a request, as the service does.
    private func parse(_ json: String) throws -> PaymentToken {
        try PaymentToken(parsing: JSONDocument(Array(json.utf8)).root)
    }

    @Test func `takes off up to two layers, whole or alone`() throws {
        let expected = try #require(Self.parts).parsed().signedContentDigest
        for (text, isWhole) in [(Self.alone, false), (Self.whole, true)] {
            let url = Base64.encodeURL(Array(text.utf8))
            let wrapped = Self.base64(text).enumerated().map { $0.offset.isMultiple(of: 76) ? "\n\($0.element)" : "\($0.element)" }.joined()
            let dresses: [(String, String)] = [
                (text, "object"), (" \n" + text + "\t", "object"), (quoted(text), "text"), (quoted("\u{feff} " + text + "\r\n"), "text"),
                (quoted(Self.base64(text)), "base64"), (quoted(url), "base64"), (quoted(wrapped), "base64"), (quoted(" " + url + " \n"), "base64"),
                (quoted(quoted(text)), "text+text"), (quoted(Self.base64(quoted(text))), "base64+text"),
                (quoted(quoted(Self.base64(text))), "text+base64"), (quoted(Self.base64(Self.base64(text))), "base64+base64"),
            ]
            for (json, name) in dresses {
                let token = try parse(json)
                #expect(token.signedContentDigest == expected)
                #expect(token.dress.description == name)
                #expect(token.dress.isWhole == isWhole)
            }
        }
    }

    @Test func `paymentData itself may be text or base64, and counts with what is around it`() throws {
        let expected = try #require(Self.parts).parsed().signedContentDigest
        let inner = { (value: String) in #"{"paymentData":\#(value),"transactionIdentifier":null}"# }
        for (json, name) in [
            (inner(quoted(Self.alone)), "text"), (inner(quoted(Self.base64(Self.alone))), "base64"), (inner(quoted(Self.whole)), "text"),
            (inner(quoted(quoted(Self.alone))), "text+text"), (quoted(inner(quoted(Self.alone))), "text+text"),
            (quoted(Self.base64(inner(quoted(Self.base64(Self.alone))))), "base64+base64"),
        ] {
            let token = try parse(json)
            #expect(token.signedContentDigest == expected)
            #expect(token.dress.description == name)
            #expect(token.dress.isWhole)
        }
    }

    @Test func `a third layer is too many`() {
        let inner = { (value: String) in #"{"paymentData":\#(value)}"# }
        for json in [
            quoted(quoted(quoted(Self.alone))), quoted(Self.base64(Self.base64(Self.base64(Self.alone)))), quoted(quoted(inner(quoted(Self.alone)))),
            quoted(Self.base64(quoted(Self.base64(quoted(Self.alone))))),
        ] {
            #expect(throws: Problem.paymentToken(.encodingUnrecognised)) { try parse(json) }
        }
    }

    @Test func `a file is JSON, or base64 without quotes`() throws {
        let expected = try #require(Self.parts).parsed().signedContentDigest
        for text in [Self.whole, "\u{feff}" + Self.whole + "\n", Self.base64(Self.whole), Self.base64(Self.alone) + "\n", quoted(Self.whole)] {
            #expect(try PaymentToken(parsing: Array(text.utf8)).signedContentDigest == expected)
        }
    }

    @Test(arguments: ["apple_pay_token", "payment_data", "payment_token"])
    func `the field's wrappers are looked into`(_ name: String) throws {
        let expected = try #require(Self.parts).parsed().signedContentDigest
        for value in [Self.alone, Self.whole, quoted(Self.whole), quoted(Self.base64(Self.alone))] {
            #expect(try parse(#"{"type":"apple","\#(name)":\#(value)}"#).signedContentDigest == expected)
        }
        #expect(try parse(#"{"wallet":{"payment_token":\#(quoted(Self.base64(Self.whole)))}}"#).signedContentDigest == expected)
    }

    @Test func `an unknown wrapper is refused, naming what looks like the token`() throws {
        for (json, name) in [
            (#"{"type":"applepay","token_data":\#(Self.alone)}"#, "token_data"), (#"{"a":1,"payment":{"token":\#(Self.whole)}}"#, "payment.token"),
            (#"{"blob":\#(quoted(Self.base64(Self.whole)))}"#, "blob"), (#"{"text":\#(quoted(Self.whole))}"#, "text"),
        ] {
            do throws(Problem) {
                _ = try PaymentToken(parsing: Array(json.utf8))
                Issue.record("accepted")
            } catch {
                #expect(error.code == "payment_token.malformed")
                #expect(error.context.contains { $0.name == "looks_like_token" && $0.value == .text(name) }, "\(error.context)")
                #expect(error.title.contains("paymentData"))
            }
        }
        for json in ["{}", #"{"a":{"b":1}}"#, #"{"token_data":"short"}"#] {
            #expect(throws: Problem.paymentToken(.malformed)) { try parse(json) }
        }
    }

    @Test(arguments: [
        "null", "1", "true", "[]", "[{}]", "\"\"", "\" \\n\"", "\"[]\"", "\"[1]\"", "\"W10=\"", #"{"paymentData":null}"#, #"{"paymentData":""}"#,
        #"{"paymentData":7}"#,
    ])
    func `what is no object, and holds none, is malformed`(_ json: String) {
        #expect(throws: Problem.paymentToken(.malformed)) { try parse(json) }
    }

    @Test(arguments: ["\"hello, world\"", "\"AAAA\"", "\"%7B%22version%22\"", "\"null\"", #"{"paymentData":"bnVsbA=="}"#])
    func `what is neither JSON nor base64 of it has no known encoding`(_ json: String) {
        #expect(throws: Problem.paymentToken(.encodingUnrecognised)) { try parse(json) }
    }

    /// C16: a layer of quoting lost on the way.
    @Test func `broken JSON is told with its place`() {
        for text in ["{\"paymentData\":\"{\"version\":\"EC_v1\"}\"}", "{\"a\":1,}"] {
            do throws(Problem) {
                _ = try PaymentToken(parsing: Array(text.utf8))
                Issue.record("accepted")
            } catch {
                #expect(error.code == "payment_token.malformed")
                #expect(error.context.contains { $0.name == "offset" })
            }
        }
        #expect(throws: Problem.paymentToken(.malformed)) { try parse(quoted("{\"version\":")) }
    }

    @Test func `depth is bounded in every layer`() {
        let deep = "{\"x\":" + String(repeating: "[", count: 100_000)
        for text in [deep, quoted(deep), quoted(Self.base64(deep)), #"{"paymentData":\#(quoted(deep))}"#] {
            #expect(throws: Problem.paymentToken(.tooDeep)) { try PaymentToken(parsing: Array(text.utf8)) }
        }
    }

    /// C14.
    @Test(arguments: [
        #"{"paymentData":"","transactionIdentifier":"Simulated Identifier","paymentMethod":{"displayName":"Simulated Instrument","network":"AmEx","type":0}}"#,
        #"{"paymentData":{},"transactionIdentifier":"Simulated Identifier"}"#, #"{"paymentData":null,"transactionIdentifier":"Simulated Identifier"}"#,
        #"{"paymentData":"","paymentMethod":{"displayName":"Simulated Instrument"}}"#,
        #""{\"paymentData\":\"\",\"transactionIdentifier\":\"Simulated Identifier\"}""#, #"{"transactionIdentifier":"Simulated Identifier"}"#,
    ])
    func `the simulator's token is known`(_ json: String) {
        #expect(throws: Problem.paymentToken(.simulator)) { try parse(json) }
    }
}
