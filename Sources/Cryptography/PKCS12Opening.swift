internal import Problems
internal import Secrets

/// One file being opened.
struct PKCS12Opening {
    private let structure: PKCS12Structure
    private let library: PKCS12Library
    private let keyPassword: PKCS12Password?
    private let password: PKCS12Password
    /// The spellings of the password still in question: once a MAC has verified, those that agree with it.
    private var texts: [SecretBytes]
    private var octets: [SecretBytes]
    private var budget: PKCS12Budget
    private var contents = PKCS12Contents()
    /// Whether something encrypted under the file's password has opened.
    private var hasOpenedSomething = false
    /// The same, where the password went in as bytes.
    private var hasOpenedByBytes = false

    init(structure: PKCS12Structure, password: PKCS12Password, keyPassword: PKCS12Password?, limits: PKCS12Limits, library: PKCS12Library) {
        self.structure = structure
        self.library = library
        self.password = password
        self.keyPassword = keyPassword
        texts = password.texts
        octets = password.octets
        budget = PKCS12Budget(limits)
    }

    mutating func run() throws(Problem) -> PKCS12Contents {
        if case .unknown(let algorithm)? = structure.mac?.algorithm { throw unsupported(algorithm, at: "mac") }
        try askForAllInSight()
        if let mac = structure.mac { try verify(mac) } else { contents.warnings.append(.noIntegrityProtection) }
        for (index, safe) in structure.safes.enumerated() {
            contents.bagSummary.safes += 1
            switch safe {
            case .plain(let bags): try take(bags, of: name(safe: index))
            case .encrypted(let protected):
                var plaintext = try decrypt(protected, at: name(safe: index), isKey: false).copyExposed()  // wiped below
                defer { wipe(&plaintext) }
                let bags: [PKCS12Structure.Bag]
                do throws(DERError) { bags = try PKCS12Structure.bags(of: plaintext) } catch { throw PKCS12.unreadable(error) }
                try ask(bags, of: name(safe: index))  // counts that only now can be seen
                try take(bags, of: name(safe: index))
            case .unknown(let type): throw unsupported(type, at: name(safe: index))
            }
        }
        return contents
    }

    private func name(safe index: Int) -> String { "safe \(index + 1)" }

    private func unsupported(_ algorithm: OID, at place: String) -> Problem {
        .pkcs12(.algorithmUnsupported, context: [("algorithm", .text(algorithm.description)), ("place", .text(place))])
    }

    // MARK: Costs

    /// Reads every count that is not itself encrypted before the first derivation.
    private mutating func askForAllInSight() throws(Problem) {
        if case .known(let derivation, _, _)? = structure.mac?.algorithm { try budget.ask(derivation, at: "mac") }
        try budget.find(bags: structure.safes.count)
        for (index, safe) in structure.safes.enumerated() {
            switch safe {
            case .plain(let bags): try ask(bags, of: name(safe: index))
            case .encrypted(let protected): try ask(protected, at: name(safe: index))
            case .unknown: break
            }
        }
    }

    private mutating func ask(_ protected: PKCS12Structure.Protected, at place: String) throws(Problem) {
        guard case .known(let derivation, _, _) = protected.encryption else { return }
        try budget.ask(derivation, at: place)
    }

    private mutating func ask(_ bags: [PKCS12Structure.Bag], of safe: String) throws(Problem) {
        try budget.find(bags: bags.count)
        for bag in bags {
            switch bag {
            case .shroudedKey(let protected): try ask(protected, at: "key bag in \(safe)")
            case .nested(let bags): try ask(bags, of: safe)
            case .key, .certificate, .crl, .secret, .other: break
            }
        }
    }

    // MARK: The password

    private mutating func verify(_ mac: PKCS12Structure.MAC) throws(Problem) {
        guard case .known(let derivation, let digest, let keyBytes) = mac.algorithm else { return }
        for spelling in mac.isPBMAC1 ? octets : texts {
            try budget.make(derivation, at: "mac")
            let key = try derive(derivation, from: spelling, purpose: .mac, count: keyBytes)
            guard constantTimeEqual(try library.authenticate(structure.authenticated, key: key, digest: digest), mac.value) else { continue }
            // From here on only what agrees with the MAC is tried; an empty password may have been written one way here and the other way there.
            if password.isEmpty { return }
            if mac.isPBMAC1 { octets = [spelling] } else { texts = [spelling] }
            return
        }
        // Wrong password or damaged file? Whatever still opens under this password tells.
        if try opensSomething() { throw .pkcs12(.damaged) }
        throw passwordWrong()
    }

    private func passwordWrong() -> Problem {
        if password.isEmpty {
            return .pkcs12(
                .passwordWrong, cause: "This .p12 file has a password, and none was given.",
                fix: "Give the password that was set when the file was exported.")
        }
        if structure.mac == nil {
            return .pkcs12(
                .passwordWrong,
                cause: "The password does not open this .p12 file; the file carries no integrity check that could tell a wrong password from damage.")
        }
        return .pkcs12(.passwordWrong)
    }

    /// Whether the first encrypted thing in sight opens, as far as the budget allows to look.
    private mutating func opensSomething() throws(Problem) -> Bool {
        for safe in structure.safes {
            switch safe {
            case .encrypted(let protected): return (try? open(protected, at: "mac", isKey: false, isProbe: true)) != nil
            case .plain(let bags):
                for case .shroudedKey(let protected) in bags { return (try? open(protected, at: "mac", isKey: false, isProbe: true)) != nil }
            case .unknown: break
            }
        }
        return false
    }

    // MARK: Contents

    private mutating func take(_ bags: [PKCS12Structure.Bag], of safe: String) throws(Problem) {
        for bag in bags {
            switch bag {
            case .key(let pkcs8):
                contents.bagSummary.plainKeys += 1
                try take(key: SecretBytes(copying: pkcs8))
            case .shroudedKey(let protected):
                contents.bagSummary.shroudedKeys += 1
                try take(key: try decrypt(protected, at: "key bag in \(safe)", isKey: true))
            case .certificate(let der):
                contents.bagSummary.certificates += 1
                do throws(Problem) {
                    let certificate = try Certificate(der: der)
                    if !contents.certificates.contains(certificate) { contents.certificates.append(certificate) }
                } catch {
                    contents.unreadableCertificates += 1
                }
            case .nested(let bags): try take(bags, of: safe)
            case .crl, .secret, .other: contents.bagSummary.others += 1
            }
        }
    }

    /// A key of another kind is no failure here: the importer says which kind it wants.
    private mutating func take(key pkcs8: SecretBytes) throws(Problem) {
        do throws(Problem) {
            let key = try PrivateKey(pkcs8: pkcs8)
            if !contents.keys.contains(where: { $0.spkiHash == key.spkiHash }) { contents.keys.append(key) }
        } catch  where error.retryable {
            throw error  // no memory for keys at present says nothing about this one
        } catch {
            contents.otherKeyKinds.append(PrivateKeyKind(pkcs8: pkcs8).description)
        }
    }

    // MARK: Decryption

    private mutating func decrypt(_ protected: PKCS12Structure.Protected, at place: String, isKey: Bool) throws(Problem) -> SecretBytes {
        if let plaintext = try open(protected, at: place, isKey: isKey, isProbe: false) { return plaintext }
        let place: [(name: String, value: ContextValue)] = [("place", .text(place))]
        // The MAC is right, or another part has opened: so the password is.
        guard structure.mac != nil || hasOpenedSomething else { throw passwordWrong() }
        if keyPassword != nil {
            throw .pkcs12(
                .keyPasswordDiffers, cause: "Neither the password nor the key_password opens what is locked inside this .p12 file.",
                fix: "Give the other password as key_password, or export the file again with one password for both.", context: place)
        }
        // Letters outside ASCII reach PBKDF2 and scrypt as bytes, and writers differ in which. Where bytes have served elsewhere in the file they are
        // the right ones, and the password is another.
        if password.isBeyondASCII, !hasOpenedByBytes, case .known(let derivation, _, _) = protected.encryption, derivation.takesBytes {
            throw .pkcs12(.passwordEncoding, context: place)
        }
        throw .pkcs12(.keyPasswordDiffers, context: place)
    }

    /// The plaintext under the first spelling that gives sense; nil where none does.
    /// - Parameter isProbe: stop quietly where the budget ends.
    private mutating func open(
        _ protected: PKCS12Structure.Protected, at place: String, isKey: Bool, isProbe: Bool
    ) throws(Problem) -> SecretBytes? {
        guard case .known(let derivation, let cipher, let iv) = protected.encryption else {
            guard case .unknown(let algorithm) = protected.encryption else { return nil }
            throw unsupported(algorithm, at: place)
        }
        let own = derivation.takesBytes ? octets : texts
        let given = keyPassword.map { derivation.takesBytes ? $0.octets : $0.texts } ?? []
        for spelling in isProbe ? own : isKey ? given + own : own + given {
            if isProbe && !budget.affords(derivation) { return nil }
            try budget.make(derivation, at: place)
            let key = try derive(derivation, from: spelling, purpose: .key, count: cipher.keyBytes)
            let start = if let iv { SecretBytes(copying: iv) } else { try derive(derivation, from: spelling, purpose: .iv, count: cipher.ivBytes) }
            guard let plaintext = try library.decrypt(protected.ciphertext, cipher: cipher, key: key, iv: start) else { continue }
            var bytes = plaintext.copyExposed()  // wiped at once
            defer { wipe(&bytes) }
            guard PKCS12Structure.isOneSequence(bytes) else { continue }
            hasOpenedSomething = true
            hasOpenedByBytes = hasOpenedByBytes || derivation.takesBytes
            return plaintext
        }
        return nil
    }

    private func derive(
        _ derivation: PKCS12Structure.Derivation, from spelling: SecretBytes, purpose: PKCS12Library.Purpose, count: Int
    ) throws(Problem) -> SecretBytes {
        switch derivation {
        case .rfc7292(let salt, .positive(let iterations), let digest):
            guard count > 0 else { return SecretBytes(copying: []) }  // a stream cipher has no IV
            return try library.deriveRFC7292(spelling, salt: salt, purpose: purpose, iterations: iterations, count: count, digest: digest)
        case .pbkdf2(let salt, .positive(let iterations), let digest):
            return try library.derivePBKDF2(spelling, salt: salt, iterations: iterations, count: count, digest: digest)
        case .scrypt(let salt, .positive(let n), .positive(let r), .positive(let p)):
            return try library.deriveScrypt(spelling, salt: salt, n: n, r: r, p: p, count: count)
        default:
            // Not reached: the budget has refused every other count before.
            throw .pkcs12(.structureUnsupported)
        }
    }
}

extension PKCS12Structure.Derivation {
    /// Whether the password goes in as bytes; otherwise as UTF-16.
    var takesBytes: Bool {
        switch self {
        case .rfc7292: false
        case .pbkdf2, .scrypt: true
        }
    }
}
