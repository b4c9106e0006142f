import Encodings
import Foundation
import Problems
import Secrets
import TestSupport
import Testing

@testable import Cryptography

struct PKCS12Tests {
    // MARK: Files of others

    struct Foreign: CustomTestStringConvertible, Sendable {
        let file: String
        let password: String
        var keys = 0
        var others: [String] = []
        var certificates = 0
        var warnings: [PKCS12Warning] = []
        var refusal: PKCS12Problem?
        var testDescription: String { file }
    }

    static let foreign: [Foreign] = {
        let redHat = "Red Hat Enterprise Linux 7.4"
        let corpus = "pkcs12-keyfile-corpus/"
        let list: [Foreign] = [
            .init(file: "rbkmoney/processing-keyonly.p12", password: "test", keys: 1),
            .init(file: "rbkmoney/identity.p12", password: "test", keys: 1, certificates: 1),
            .init(file: "pkcs12-keychain/keychain-export.p12", password: "password123", keys: 1, certificates: 1),
            .init(file: "pkcs12-go/windows-azure-tools.p12", password: "", keys: 1, certificates: 1),
            .init(file: "pkcs12-go/testing-example-com.p12", password: "", keys: 1, certificates: 1),
            .init(file: "pkcs12-sslmate/pbes2-aes256-windows.p12", password: "password", keys: 1, certificates: 1),
            .init(file: "pkcs12-sslmate/pbes2-aes128cbc.p12", password: "rHyQTJsubhfxcpH5JttyilHE6BBsNoZp", keys: 1, certificates: 1),
            // PBMAC1: we check it, which OpenSSL 3.0 cannot.
            .init(file: "pkcs12-rfc9579/a1.p12", password: "1234", keys: 1, certificates: 1),
            .init(file: "pkcs12-rfc9579/a3.p12", password: "1234", keys: 1, certificates: 1),
            .init(file: "pkcs12-rfc9579/a4.p12", password: "1234", refusal: .damaged),
            .init(file: "pkcs12-rfc9579/a6.p12", password: "1234", refusal: .structureUnsupported),
            .init(file: "pkcs12-pyca/cert-key-aes256cbc.p12", password: "cryptography", keys: 1, certificates: 1),
            .init(file: "pkcs12-pyca/cert-rc2-key-3des.p12", password: "cryptography", keys: 1, certificates: 1),
            .init(file: "pkcs12-pyca/cert-none-key-none.p12", password: "cryptography", keys: 1, certificates: 1),
            .init(file: "pkcs12-pyca/name-unicode-pwd.p12", password: "password", keys: 1, certificates: 3),
            .init(file: "pkcs12-pyca/no-cert-key-aes256cbc.p12", password: "cryptography", keys: 1),
            .init(file: "pkcs12-pyca/no-cert-no-name-pwd.p12", password: "password", certificates: 2),
            .init(file: "pkcs12-pyca/cert-aes256cbc-no-key.p12", password: "cryptography", certificates: 1),
            .init(file: "pkcs12-pyca/name-unicode-no-pwd.p12", password: "", keys: 1, certificates: 3),
            .init(file: corpus + "ec-rc2-3des-sha1.p12", password: redHat, keys: 1, certificates: 1),
            .init(file: corpus + "ec-aes128-sha1mac.p12", password: redHat, keys: 1, certificates: 1),
            .init(file: corpus + "ec-plain-mac.p12", password: redHat, keys: 1, certificates: 1),
            .init(file: corpus + "rsa-rc2-3des-emptypw.p12", password: "", keys: 1, certificates: 1),
            .init(file: corpus + "rsa-rc2-3des-unicode-111.p12", password: "Łódź is in Poland", keys: 1, certificates: 1),
            .init(file: corpus + "rsa-mac1.p12", password: redHat, keys: 1, certificates: 1),
            .init(file: corpus + "rsa-key-million.p12", password: redHat, keys: 1, certificates: 1),
            .init(file: corpus + "rsa-two-passwords.p12", password: redHat, refusal: .keyPasswordDiffers),
            .init(file: corpus + "rsa-nomac.p12", password: redHat, keys: 1, certificates: 1, warnings: [.noIntegrityProtection]),
            .init(file: corpus + "rsa-scrypt.p12", password: redHat, keys: 1, certificates: 1),
            .init(file: corpus + "rsa-nss-ber.p12", password: redHat, keys: 1, certificates: 1),
            .init(file: corpus + "rsa-rc4-128.p12", password: redHat, keys: 1, certificates: 1),
            .init(file: "pkcs12-forge/p12keyonly.p12", password: "", keys: 1, warnings: [.noIntegrityProtection]),
            .init(file: "pkcs12-forge/p12enckeyonly.p12", password: "nopass", keys: 1, warnings: [.noIntegrityProtection]),
            .init(file: "pkcs12-forge/p12ecdsa.p12", password: "123321", keys: 1, certificates: 1),
        ]
        return Vectors.shared == nil ? Vectors.unavailable("PKCS#12 files of other programs", cases: list.count) : list
    }()

    @Test(arguments: foreign)
    func `files of other programs come out as the manifest says`(_ file: Foreign) throws {
        let bytes = try Vectors.bytes(file.file)
        if let refusal = file.refusal {
            #expect(throws: Problem.pkcs12(refusal)) { try PKCS12.open(bytes, password: secret(file.password)) }
            return
        }
        let contents = try PKCS12.open(bytes, password: secret(file.password))
        #expect(contents.keys.count == file.keys)
        #expect(contents.otherKeyKinds == file.others)
        #expect(contents.certificates.count + contents.unreadableCertificates == file.certificates)
        #expect(contents.warnings == file.warnings)
        if file.keys == 1, file.certificates > 0 { #expect(contents.identities.first?.certificates.count == 1) }
    }

    @Test(arguments: foreign.filter { $0.refusal == nil && !$0.password.isEmpty && !$0.file.contains("million") })
    func `a wrong password is told as such, whoever made the file`(_ file: Foreign) throws {
        let bytes = try Vectors.bytes(file.file)
        // Nothing in this one is encrypted and nothing is authenticated.
        guard file.file != "pkcs12-forge/p12keyonly.p12" else { return }
        #expect(throws: Problem.pkcs12(.passwordWrong)) { try PKCS12.open(bytes, password: secret("wröng")) }
        #expect(throws: Problem.pkcs12(.passwordWrong)) { try PKCS12.open(bytes, password: nil) }
    }

    @Test(arguments: foreign.filter { $0.password.isEmpty })
    func `no password and an empty one open the same files`(_ file: Foreign) throws {
        let bytes = try Vectors.bytes(file.file)
        #expect(try PKCS12.open(bytes, password: nil).keys.count == file.keys)
        #expect(try PKCS12.open(bytes, password: secret("")).keys.count == file.keys)
    }

    struct Minted: Sendable, CustomTestStringConvertible {
        let file: String
        let password: String
        let expect: String
        let warning: String?
        var testDescription: String { file }
    }

    static let minted: [Minted] = {
        // A list that can't be read gives no case, and a test without cases fails.
        guard let document = try? JSONDocument(Vectors.bytes("minted/pki/expected.json")) else { return [] }
        return document.root.elements.compactMap { entry in
            guard let file = entry.member("file")?.string, file.hasSuffix(".p12"), let password = entry.member("password")?.string else { return nil }
            return Minted(file: file, password: password, expect: entry.member("expect")?.string ?? "", warning: entry.member("warning")?.string)
        }
    }()

    @Test(arguments: minted)
    func `minted files come out as written beside them`(_ file: Minted) throws {
        let bytes = try Vectors.bytes("minted/pki/" + file.file)
        let contents = try PKCS12.open(bytes, password: secret(file.password))
        #expect(contents.warnings.map(\.rawValue) == [file.warning].compactMap(\.self))
        var code = "success"
        do throws(Problem) { try contents.requireKeyAndCertificate() } catch { code = error.code }
        #expect(code == file.expect)
        if code == "success" { #expect(contents.identities.count == 1 && contents.identities.first?.certificates.isEmpty == false) }
    }

    @Test(.enabled(if: Vectors.shared != nil, "NOT TESTED: 1 case, no shared vectors"))
    func `two passwords open a file whose inside is locked with another`() throws {
        let bytes = try Vectors.bytes("pkcs12-keyfile-corpus/rsa-two-passwords.p12")
        let contents = try PKCS12.open(bytes, password: secret("Red Hat Enterprise Linux 7.4"), keyPassword: secret("Brno is in Czechia"))
        #expect(contents.keys.count == 1 && contents.certificates.count == 1)
        #expect(throws: Problem.pkcs12(.keyPasswordDiffers)) {
            try PKCS12.open(bytes, password: secret("Red Hat Enterprise Linux 7.4"), keyPassword: secret("Praha"))
        }
    }

    // MARK: Files of the openssl command

    struct Export: CustomTestStringConvertible, Sendable {
        let options: String
        var password = "secret"
        var keys = 1
        var certificates = 1
        var warnings: [PKCS12Warning] = []
        var testDescription: String { options + " " + password }
    }

    static let exports: [Export] = [
        .init(options: "-inkey ec.pem -in ec.crt"),
        .init(options: "-inkey rsa.pem -in rsa.crt"),
        .init(options: "-inkey ec.pem -in ec.crt -legacy"),
        .init(options: "-inkey ec.pem -in ec.crt -legacy", password: ""),
        .init(options: "-inkey ec.pem -in ec.crt -keypbe PBE-SHA1-3DES -certpbe PBE-SHA1-3DES -macalg sha1"),
        .init(options: "-inkey ec.pem -in ec.crt -keypbe PBE-SHA1-3DES -certpbe PBE-SHA1-3DES -macalg sha1", password: ""),
        .init(options: "-inkey ec.pem -in ec.crt -keypbe AES-256-CBC -certpbe AES-256-CBC -macalg sha256", password: ""),
        .init(options: "-inkey ec.pem -in ec.crt -keypbe PBE-SHA1-2DES -certpbe PBE-SHA1-RC2-128 -legacy"),
        .init(options: "-inkey ec.pem -in ec.crt -keypbe PBE-SHA1-RC4-40 -certpbe PBE-SHA1-RC4-128 -legacy"),
        .init(options: "-inkey ec.pem -in ec.crt -keypbe AES-192-CBC -certpbe AES-128-CBC -macalg sha384"),
        .init(options: "-inkey ec.pem -in ec.crt -keypbe DES-EDE3-CBC -certpbe NONE -macalg sha512"),
        .init(options: "-inkey ec.pem -in ec.crt -keypbe NONE -certpbe NONE"),
        .init(options: "-inkey ec.pem -in ec.crt -keypbe NONE -certpbe NONE -nomac", warnings: [.noIntegrityProtection]),
        .init(options: "-inkey ec.pem -in ec.crt -nomac", warnings: [.noIntegrityProtection]),
        .init(options: "-inkey ec.pem -in ec.crt -nomac -legacy", warnings: [.noIntegrityProtection]),
        .init(options: "-inkey ec.pem -in ec.crt -nomac", password: "", warnings: [.noIntegrityProtection]),
        .init(options: "-inkey ec.pem -in ec.crt -nomaciter -noiter"),
        .init(options: "-inkey ec.pem -in ec.crt -certfile ca.crt -name x -caname y", certificates: 2),
        .init(options: "-inkey ec.pem -in both.crt", certificates: 2),
        .init(options: "-nokeys -in both.crt", keys: 0, certificates: 2),
        .init(options: "-inkey ec.pem -nocerts", certificates: 0),
        .init(options: "-inkey ec.pem -in ec.crt", password: "pässwörd-密码-🔑"),
        .init(options: "-inkey ec.pem -in ec.crt -legacy", password: "pässwörd-密码-🔑"),
    ]

    /// Keys and certificates made by the command, once for the suite.
    static let maker: OpenSSLCommand? = try? {
        let openSSL = try OpenSSLCommand()
        try openSSL.must("ecparam -genkey -name prime256v1 -noout -out ec.pem")
        try openSSL.must("ecparam -genkey -name secp384r1 -noout -out p384.pem")
        try openSSL.must("genrsa -out rsa.pem 2048")
        try openSSL.must("genpkey -algorithm ED25519 -out ed.pem")
        for name in ["ec", "rsa", "p384", "ed"] {
            try openSSL.must("req -x509 -new -key \(name).pem -subj /CN=\(name) -days 30 -out \(name).crt")
            try openSSL.must("pkcs8 -topk8 -nocrypt -in \(name).pem -outform DER -out \(name).p8")
            try openSSL.must("x509 -in \(name).crt -outform DER -out \(name).cer")
        }
        try openSSL.must("req -x509 -newkey rsa:2048 -nodes -keyout ca.pem -subj /CN=ca -days 30 -out ca.crt")
        try openSSL.write("both.crt", try openSSL.read("ca.crt") + openSSL.read("ec.crt"))  // the leaf last
        return openSSL
    }()

    private var maker: OpenSSLCommand {
        get throws { try #require(Self.maker, "the openssl command is needed") }
    }

    @Test(arguments: exports)
    func `exports of the openssl command open, and a wrong password is told`(_ export: Export) throws {
        let openSSL = try maker
        let name = "\(UUID().uuidString)"
        try openSSL.write(name + ".pw", Array((export.password + "\n").utf8))
        try openSSL.must("pkcs12 -export \(export.options) -passout file:\(name).pw -out \(name).p12")
        let bytes = try openSSL.read(name + ".p12")
        let contents = try PKCS12.open(bytes, password: secret(export.password))
        #expect(contents.keys.count == export.keys)
        #expect(contents.certificates.count == export.certificates)
        #expect(contents.warnings == export.warnings)
        if export.keys == 1, export.certificates > 0 {
            let identity = try #require(contents.identities.first)
            #expect(identity.certificates.map(\.subject.commonName) == [export.options.contains("rsa.pem") ? "rsa" : "ec"])
        }
        // The same file in BER with indefinite lengths.
        let ber = try PKCS12.open(try PKCS12Builder.indefinite(bytes), password: secret(export.password))
        #expect(ber.keys.map(\.spkiHash) == contents.keys.map(\.spkiHash) && ber.certificates == contents.certificates)

        let isOpen = export.options.contains("-nomac") && export.options.contains("NONE")
        if !isOpen {
            #expect(throws: Problem.pkcs12(.passwordWrong)) { try PKCS12.open(bytes, password: secret("wrong")) }
            #expect(throws: Problem.pkcs12(.passwordWrong)) { try PKCS12.open(bytes, password: secret("secret\n")) }
        }
    }

    @Test func `a password written in Latin-1 opens when typed in UTF-8, and the other way`() throws {
        let openSSL = try maker
        try openSSL.write("latin1.pw", [0x63, 0x61, 0x66, 0xe9])
        try openSSL.must("pkcs12 -export -inkey ec.pem -in ec.crt -passout file:latin1.pw -out latin1.p12")
        let bytes = try openSSL.read("latin1.p12")
        #expect(try PKCS12.open(bytes, password: secret("café")).keys.count == 1)
        #expect(try PKCS12.open(bytes, password: SecretBytes(copying: [0x63, 0x61, 0x66, 0xe9])).keys.count == 1)
        #expect(throws: Problem.pkcs12(.passwordWrong)) { try PKCS12.open(bytes, password: secret("cafè")) }
        // The euro sign of a Windows-1252 terminal.
        try openSSL.write("euro.pw", [0x80, 0x75, 0x72, 0x6f])
        try openSSL.must("pkcs12 -export -inkey ec.pem -in ec.crt -passout file:euro.pw -out euro.p12")
        #expect(try PKCS12.open(try openSSL.read("euro.p12"), password: secret("€uro")).keys.count == 1)
    }

    @Test func `OpenSSL 1.0.2 took each byte of UTF-8 for a character`() throws {
        let perByte = PKCS12Builder.text(String(String.UnicodeScalarView("café".utf8.map { Unicode.Scalar($0) })))
        let file = try PKCS12Builder.file(
            [PKCS12Builder.encryptedSafe([PKCS12Builder.keyBag(try maker.read("ec.p8"))], password: perByte)], mac: (perByte, [1]))
        #expect(try PKCS12.open(file, password: secret("café")).keys.count == 1)
    }

    @Test func `a password in an unknown encoding is told as that, and a key's own password as that`() throws {
        let openSSL = try maker
        try openSSL.write("utf16.pw", [0xff, 0xe9, 0x01])  // bytes that no spelling of the password gives
        try openSSL.must("pkcs8 -topk8 -in ec.pem -outform DER -passout file:utf16.pw -out odd.p8")
        let shrouded = PKCS12Builder.shroudedBag(try openSSL.read("odd.p8"))
        let certificate = PKCS12Builder.certificateBag(try openSSL.read("ec.cer"))
        let accented = try PKCS12Builder.file([PKCS12Builder.plainSafe([shrouded])], mac: (PKCS12Builder.text("café"), [1]))
        #expect(throws: Problem.pkcs12(.passwordEncoding)) { try PKCS12.open(accented, password: secret("café")) }
        let plain = try PKCS12Builder.file([PKCS12Builder.plainSafe([certificate, shrouded])], mac: (PKCS12Builder.text("cafe"), [1]))
        #expect(throws: Problem.pkcs12(.keyPasswordDiffers)) { try PKCS12.open(plain, password: secret("cafe")) }
        #expect(try PKCS12.open(plain, password: secret("cafe"), keyPassword: SecretBytes(copying: [0xff, 0xe9, 0x01])).keys.count == 1)
    }

    @Test func `keys of other kinds do not fail the file, and are named`() throws {
        let openSSL = try maker
        let bags = try ["p384", "ec", "ed", "rsa", "ec"].map { PKCS12Builder.keyBag(try openSSL.read($0 + ".p8")) }
        let certificates = try ["rsa", "p384", "ec", "ec"].map { PKCS12Builder.certificateBag(try openSSL.read($0 + ".cer")) }
        let password = PKCS12Builder.text("x")
        // One safe a key, certificates nested two deep: every layout is the same to us.
        let safes =
            bags.map { PKCS12Builder.encryptedSafe([$0], password: password) }
            + [PKCS12Builder.plainSafe([PKCS12Builder.nestedBag([PKCS12Builder.nestedBag(certificates)])])]
        let contents = try PKCS12.open(try PKCS12Builder.file(safes, mac: (password, [1])), password: secret("x"))
        #expect(contents.keys.count == 2)
        #expect(contents.otherKeyKinds == ["P-384", "Ed25519"])
        #expect(contents.certificates.count == 3)
        #expect(contents.identities.map { $0.certificates.map(\.subject.commonName) } == [["ec"], ["rsa"]])
        #expect(contents.bagSummary.safes == 6 && contents.bagSummary.plainKeys == 5 && contents.bagSummary.certificates == 4)
    }

    @Test func `what is missing is named with what is there`() throws {
        let openSSL = try maker
        let password = PKCS12Builder.text("x")
        let key = PKCS12Builder.keyBag(try openSSL.read("ec.p8"))
        let certificate = PKCS12Builder.certificateBag(try openSSL.read("ec.cer"))
        func problem(_ bags: [[UInt8]]) throws -> Problem? {
            let contents = try PKCS12.open(try PKCS12Builder.file([PKCS12Builder.plainSafe(bags)], mac: (password, [1])), password: secret("x"))
            do throws(Problem) { try contents.requireKeyAndCertificate() } catch { return error }
            return nil
        }
        #expect(try problem([key, certificate]) == nil)
        let noKey = try #require(try problem([certificate]))
        #expect(noKey.code == "pkcs12.no_private_key" && noKey.detail.contains("select both rows"))
        #expect(noKey.context.contains { $0.name == "certificate_subjects" })
        #expect(try problem([key])?.code == "pkcs12.no_certificate")
        #expect(try problem([])?.code == "pkcs12.no_private_key")
        #expect(try problem([PKCS12Builder.keyBag(try openSSL.read("p384.p8")), certificate]) == nil)
    }

    // MARK: Hostile files

    struct Bomb: CustomTestStringConvertible, Sendable {
        let place: String
        let iterations: [UInt8]
        var refusal = PKCS12Problem.iterationsTooHigh
        var testDescription: String { "\(place) \(Hex.encode(iterations))" }
    }

    static let bombs: [Bomb] = ["mac", "safe", "key bag", "key bag in encrypted safe", "key bag in nested safe"].flatMap { place in
        [
            Bomb(place: place, iterations: [0x7f, 0xff, 0xff, 0xff]),
            Bomb(place: place, iterations: [0x4c, 0x4b, 0x41]),  // 5,000,001
            Bomb(place: place, iterations: [1, 0, 0, 0, 0]),
            Bomb(place: place, iterations: [0x40, 0, 0, 0, 0, 0, 0, 0, 0]),
            Bomb(place: place, iterations: [0], refusal: .structureUnsupported),
            Bomb(place: place, iterations: [0xff], refusal: .structureUnsupported),
            Bomb(place: place, iterations: [0x80, 0, 0, 0], refusal: .structureUnsupported),
            Bomb(place: place, iterations: [], refusal: .structureUnsupported),
        ]
    }

    private func file(with bomb: Bomb) throws -> [UInt8] {
        let password = PKCS12Builder.text("x")
        let pkcs8 = try maker.read("ec.p8")
        let mac = (password, bomb.place == "mac" ? bomb.iterations : [1])
        let shrouded = PKCS12Builder.shroudedBag(try PKCS12Builder.shrouded(pkcs8, password: password, iterations: bomb.iterations))
        switch bomb.place {
        case "mac": return try PKCS12Builder.file([PKCS12Builder.plainSafe([PKCS12Builder.keyBag(pkcs8)])], mac: mac)
        case "safe":
            return try PKCS12Builder.file(
                [PKCS12Builder.encryptedSafe([PKCS12Builder.keyBag(pkcs8)], password: password, iterations: bomb.iterations)], mac: mac)
        case "key bag": return try PKCS12Builder.file([PKCS12Builder.plainSafe([shrouded])], mac: mac)
        case "key bag in encrypted safe": return try PKCS12Builder.file([PKCS12Builder.encryptedSafe([shrouded], password: password)], mac: mac)
        default: return try PKCS12Builder.file([PKCS12Builder.encryptedSafe([PKCS12Builder.nestedBag([shrouded])], password: password)], mac: mac)
        }
    }

    @Test(arguments: bombs)
    func `a count out of bounds is refused at each place, right password or wrong`(_ bomb: Bomb) throws {
        let bytes = try file(with: bomb)
        #expect(throws: Problem.pkcs12(bomb.refusal)) { try PKCS12.open(bytes, password: secret("x")) }
        do throws(Problem) {
            _ = try PKCS12.open(bytes, password: secret("x"))
        } catch  where bomb.refusal == .iterationsTooHigh {
            #expect(error.context.first { $0.name == "limit" }?.value == 5_000_000)
            #expect(error.context.contains { $0.name == "iterations" } && error.context.contains { $0.name == "place" })
        } catch {}
        // Where the count lies open, the password does not matter.
        if !bomb.place.contains(" in ") { #expect(throws: Problem.pkcs12(bomb.refusal)) { try PKCS12.open(bytes, password: nil) } }
    }

    @Test func `counts are summed over all places`() throws {
        let password = PKCS12Builder.text("x")
        let bag = PKCS12Builder.shroudedBag(try PKCS12Builder.shrouded(try maker.read("ec.p8"), password: password, iterations: [2]))
        var limits = PKCS12Limits()
        // MAC 1, safe 3, two bags of 2: 8.
        let bytes = try PKCS12Builder.file([PKCS12Builder.encryptedSafe([bag, bag], password: password, iterations: [3])], mac: (password, [1]))
        limits.iterations = 8
        #expect(try PKCS12.open(bytes, password: secret("x"), limits: limits).keys.count == 1)
        limits.iterations = 7
        #expect(throws: Problem.pkcs12(.iterationsTooHigh)) { try PKCS12.open(bytes, password: secret("x"), limits: limits) }
        // Passes really made are bounded by themselves: a wrong key password in front costs two more derivations of 2.
        limits.iterations = 8
        limits.iterationsMade = 11
        #expect(throws: Problem.pkcs12(.iterationsTooHigh)) { try PKCS12.open(bytes, password: secret("x"), keyPassword: secret("y"), limits: limits) }
        limits.iterationsMade = 12
        #expect(try PKCS12.open(bytes, password: secret("x"), keyPassword: secret("y"), limits: limits).keys.count == 1)
    }

    @Test(
        arguments: [
            ([0x04, 0x00, 0x00], [8], [1], .tooExpensive),  // 256 MiB
            ([0x00, 0x80, 0x00], [9], [1], .tooExpensive),  // 36 MiB
            ([0x00, 0x80, 0x00], [8], [0x7f], .tooExpensive),  // 32 MiB, 127 times over
            ([0x40, 0, 0, 0, 0, 0, 0, 0, 0], [1], [1], .tooExpensive),
            ([0x40, 0, 0, 0, 0, 0, 0, 0], [0x40, 0, 0, 0, 0, 0, 0, 0], [1], .tooExpensive),
            ([0x04], [0x01], [0x40, 0, 0, 0, 0, 0, 0, 0], .tooExpensive),
            ([0x03], [1], [1], .structureUnsupported),  // no power of two
            ([0x00], [1], [1], .structureUnsupported), ([0x04], [0], [1], .structureUnsupported), ([0x04], [1], [0xff], .structureUnsupported),
        ] as [([UInt8], [UInt8], [UInt8], PKCS12Problem)])
    func `scrypt is bounded in memory and in work`(n: [UInt8], r: [UInt8], p: [UInt8], refusal: PKCS12Problem) throws {
        func minimal(_ value: [UInt8]) -> [UInt8] { value.count > 1 && value[0] == 0 && value[1] < 0x80 ? Array(value.dropFirst()) : value }
        let safe = PKCS12Builder.encryptedSafe([UInt8](repeating: 1, count: 32), algorithm: PKCS12Builder.scryptAlgorithm(n: minimal(n), r: r, p: p))
        let bytes = try PKCS12Builder.file([safe], mac: nil)
        #expect(throws: Problem.pkcs12(refusal)) { try PKCS12.open(bytes, password: secret("x")) }
    }

    @Test func `too many bytes, too many parts, too deep`() throws {
        let many = try PKCS12Builder.file([PKCS12Builder.plainSafe([[UInt8]](repeating: PKCS12Builder.nestedBag([]), count: 1001))], mac: nil)
        #expect(throws: Problem.pkcs12(.tooExpensive)) { try PKCS12.open(many, password: nil) }
        #expect(throws: Problem.pkcs12(.tooLarge)) { try PKCS12.open([UInt8](repeating: 0x30, count: 1 << 20 + 1), password: nil) }
        var bag = PKCS12Builder.nestedBag([])
        for _ in 0..<200 { bag = PKCS12Builder.nestedBag([bag]) }
        #expect(throws: Problem.pkcs12(.structureUnsupported)) {
            try PKCS12.open(try PKCS12Builder.file([PKCS12Builder.plainSafe([bag])], mac: nil), password: nil)
        }
    }

    @Test(arguments: [false, true])
    func `a file cut anywhere is truncated, in DER and in BER`(isBER: Bool) throws {
        let password = PKCS12Builder.text("x")
        let der = try PKCS12Builder.file([PKCS12Builder.plainSafe([PKCS12Builder.keyBag(try maker.read("ec.p8"))])], mac: (password, [1]))
        let bytes = isBER ? try PKCS12Builder.indefinite(der) : der
        for length in 0..<bytes.count {
            #expect(throws: Problem.pkcs12(.truncated), "\(length) of \(bytes.count)") { try PKCS12.open(Array(bytes.prefix(length)), password: secret("x")) }
        }
        #expect(try PKCS12.open(bytes + [0x0a, 0x00], password: secret("x")).keys.count == 1)
    }

    @Test(arguments: ["-legacy", "-keypbe AES-256-CBC -certpbe AES-256-CBC", "-keypbe NONE -certpbe NONE"])
    func `no flipped bit traps or passes for a right file`(options: String) throws {
        let openSSL = try maker
        let name = UUID().uuidString
        try openSSL.must("pkcs12 -export -inkey ec.pem -in ec.crt \(options) -iter 1 -passout pass:x -out \(name).p12")
        let bytes = try openSSL.read(name + ".p12")
        let good = try PKCS12.open(bytes, password: secret("x"))
        var limits = PKCS12Limits()
        limits.iterations = 100_000  // a flipped count costs time
        var codes: [String: Int] = [:]
        for index in bytes.indices {
            var flipped = bytes
            flipped[index] ^= 1 << UInt8(index % 8)
            do throws(Problem) {
                let contents = try PKCS12.open(flipped, password: secret("x"), limits: limits)
                // What opens is what was there: at most an object identifier's spare bits or the MAC's NULL parameter changed.
                #expect(contents.keys.map(\.spkiHash) == good.keys.map(\.spkiHash) && contents.certificates == good.certificates, "byte \(index)")
                #expect(contents.warnings.isEmpty, "byte \(index)")
                codes["success", default: 0] += 1
            } catch {
                codes[error.code, default: 0] += 1
            }
        }
        #expect(codes["success", default: 0] < 8, "\(codes)")
        #expect(codes.keys.allSatisfy { $0 == "success" || $0.hasPrefix("pkcs12.") }, "\(codes)")
        // The contents are most of the file, and where they are encrypted, damage there is told from a wrong password.
        if !options.contains("NONE") { #expect(codes["pkcs12.damaged", default: 0] > bytes.count / 2, "\(codes)") }
    }

    // MARK: Algorithms

    @Test func `without the legacy provider only the files that need it are refused, and not as a wrong password`() throws {
        let openSSL = try maker
        let bare = PKCS12Library(modules: openSSL.folder.path)
        #expect(!bare.hasLegacy && PKCS12Library.shared.hasLegacy)
        try openSSL.must("pkcs12 -export -inkey ec.pem -in ec.crt -legacy -passout pass:x -out old.p12")
        try openSSL.must("pkcs12 -export -inkey ec.pem -in ec.crt -passout pass:x -out new.p12")
        func open(_ name: String, _ password: String) throws -> PKCS12Contents {
            try PKCS12.open(try openSSL.read(name), password: secret(password), keyPassword: nil, limits: PKCS12Limits(), library: bare)
        }
        #expect(try open("new.p12", "x").keys.count == 1)
        #expect(throws: Problem.pkcs12(.legacyUnavailable)) { try open("old.p12", "x") }
        #expect(throws: Problem.pkcs12(.passwordWrong)) { try open("old.p12", "y") }
        #expect(throws: Problem.pkcs12(.legacyUnavailable)) { try PKCS12.selfTest(bare) }
        try PKCS12.selfTest()
    }

    @Test func `an algorithm nobody knows is unsupported, after the password where there is a MAC`() throws {
        let password = PKCS12Builder.text("x")
        let unknown = DERWriter.sequence {
            $0.objectIdentifier("1.2.3.4")
            $0.null()
        }
        let bytes = try PKCS12Builder.file([PKCS12Builder.encryptedSafe([1, 2, 3], algorithm: unknown)], mac: (password, [1]))
        #expect(throws: Problem.pkcs12(.algorithmUnsupported)) { try PKCS12.open(bytes, password: secret("x")) }
        #expect(throws: Problem.pkcs12(.passwordWrong)) { try PKCS12.open(bytes, password: secret("y")) }
    }

    @Test func `the error queue is empty afterwards`() throws {
        let bytes = try PKCS12Builder.file([PKCS12Builder.encryptedSafe([1, 2, 3], algorithm: [0x30, 0x00])], mac: nil)
        _ = try? PKCS12.open(bytes, password: secret("x"))
        _ = try? PKCS12.open([0x30], password: nil)
        #expect(OpenSSLErrors.drain() == "no error queued")
    }

    @Test(arguments: PKCS12Problem.allCases)
    func `every problem says what happened and what to do`(_ entry: PKCS12Problem) {
        #expect(entry.rawValue.hasPrefix("pkcs12."))
        #expect(entry.page.cause.hasSuffix(".") && entry.page.fix.hasSuffix("."))
    }

    private func secret(_ text: String) -> SecretBytes { SecretBytes(copying: Array(text.utf8)) }
}
