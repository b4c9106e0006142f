import Secrets
import Testing

@testable import Accounts

@Suite struct CredentialTests {
    static let key = "ck_" + String(repeating: "0", count: 32)
    static let secret = "cs_" + String(repeating: "A", count: 43)

    @Test func `both ways of sending come to the same`() {
        #expect(PresentedCredential(apiKey: Self.key, apiSecret: Self.secret)?.apiKey == Self.key)
        let bearer = PresentedCredential(bearer: Self.key + "." + Self.secret)
        #expect(bearer?.apiKey == Self.key && bearer?.secret.copyExposed() == Array(Self.secret.utf8))
    }

    @Test(arguments: [
        "", ".", key, secret, key + secret, key + "." + secret + "x", "x" + key + "." + secret, key + ".." + secret, secret + "." + key,
        key.uppercased() + "." + secret, key + ". " + secret, String(key.dropLast()) + "." + secret, key + "." + secret.dropLast(),
        key + "." + secret + "." + secret, String(repeating: "a", count: 100_000),
    ])
    func `anything of another form is none`(_ text: String) { #expect(PresentedCredential(bearer: text) == nil) }

    @Test func `prints without its secret`() {
        let text = PresentedCredential(apiKey: Self.key, apiSecret: Self.secret).map { String(describing: $0) + String(reflecting: $0) } ?? ""
        #expect(!text.isEmpty && !text.contains(Self.secret))
    }
}
