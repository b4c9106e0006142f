import ApplePay
import Cryptography
import Encodings
import Problems
import Sandbox

/// Opens tokens made for the purpose: what other readers of payment tokens get wrong is tried on this machine, with this build.
enum SelfTest {
    static func run() throws(Problem) -> String {
        let now = Installation.clock()
        let authority = try SandboxAuthority.generate(now: now)
        let verifier = try SignatureVerifier(anchors: [TrustAnchor(certificate: authority.rootCertificate)])
        let identifier = try MerchantIdentifier("merchant.com.example.selftest")
        let key = PrivateKey.p256(try P256.AgreementKey.generate())

        func open(_ defects: Set<Defect>) throws(Problem) -> PaymentData {
            var order = MintOrder(recipient: key.spki, merchantIdentifier: identifier, now: now)
            order.defects = defects
            let token = try PaymentToken(parsing: try authority.mint(order))
            return try verifier.verify(token, at: now, maximumAgeSeconds: 300, rule: .sandbox).decrypt(with: key, merchantIdentifier: identifier)
        }
        for good in [[], [.sharedSecretLeadingZero], [.transactionIDLeadingZero]] as [Set<Defect>] {
            do throws(Problem) { _ = try open(good) } catch {
                throw .command(.selfTestFailed, context: [("token", .text(good.first?.rawValue ?? "good")), ("code", .text(error.code))])
            }
        }
        for bad in [.tagFlipped, .dataFlipped, .signatureFlipped, .untrustedRoot, .wrongMerchantIdentifier] as [Defect] {
            do throws(Problem) {
                _ = try open([bad])
            } catch {
                guard error.code == bad.expectedCode else {
                    throw .command(.selfTestFailed, context: [("token", .text(bad.rawValue)), ("code", .text(error.code))])
                }
                continue
            }
            throw .command(.selfTestFailed, context: [("token", .text(bad.rawValue)), ("code", "none: it was opened")])
        }
        return "8 payment tokens came out as they must"
    }
}
