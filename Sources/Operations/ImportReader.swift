import ApplePay
import Cryptography
import Encodings
import Problems

/// What an uploaded file comes to: a certificate, with its key where a `.p12` brought it.
struct ImportCandidate: Sendable {
    let certificate: PaymentProcessingCertificate
    let key: PrivateKey?
    let issuerPinned: Bool
    /// Codes of those that stay with the record.
    let warnings: [String]
}

/// Reads an uploaded file and judges all that can be judged without the store; the first thing wrong gives the code, in the order of `design.md` §4.
struct ImportReader: Sendable {
    let settings: Settings
    let issuers: IssuerRegister

    /// - Parameter identifier: whose certificate it must be; nil: whoever's it says it is.
    func read(_ upload: Upload, for identifier: MerchantIdentifier?, in environment: Environment) throws(Problem) -> ImportCandidate {
        let file = FileRecognizer.recognise(upload.content)
        if case .pkcs12(let bytes) = file.kind { return try read(pkcs12: bytes, upload, for: identifier, in: environment) }
        if case .privateKey = file.kind { throw Problem(ImportProblem.privateKeyExposed) }
        guard upload.content.count <= settings.maximumCertificateBytes else {
            throw Problem(
                ImportProblem.tooLarge, context: [("limit", .number(settings.maximumCertificateBytes)), ("size", .number(upload.content.count))])
        }
        guard !file.certificates.isEmpty else { throw Problem(CryptographyProblem.notACertificate, context: [("found", .text(file.kind.name))]) }
        return try judge(try choose(among: file.certificates, for: identifier), key: nil, warnings: [], in: environment)
    }

    private func read(
        pkcs12 bytes: [UInt8], _ upload: Upload, for identifier: MerchantIdentifier?, in environment: Environment
    ) throws(Problem) -> ImportCandidate {
        var limits = PKCS12Limits()
        limits.bytes = settings.maximumPKCS12Bytes
        let contents = try PKCS12.open(bytes, password: upload.password, keyPassword: upload.keyPassword, limits: limits)
        try contents.requireKeyAndCertificate()
        let pairs = contents.identities.flatMap { identity in identity.certificates.map { (key: identity.key, certificate: $0) } }
        let fitting = pairs.filter { (try? PaymentProcessingCertificate(certificate: $0.certificate, for: identifier)) != nil }
        if Set(fitting.map(\.certificate.spkiHash)).count > 1 {
            throw Problem(PKCS12Problem.ambiguous, context: [("serial_numbers", .list(fitting.map { .text($0.certificate.serialHex) }))])
        }
        // A certificate renewed on its key may be there twice: the later one is meant.
        if let pair = fitting.max(by: { $0.certificate.notAfter < $1.certificate.notAfter }) {
            let certificate = try PaymentProcessingCertificate(certificate: pair.certificate, for: identifier)
            return try judge(certificate, key: pair.key, warnings: contents.warnings.map(\.rawValue), in: environment)
        }
        // None fits: the certificate says why before the key is compared, as for a certificate alone.
        let leaf = pairs.first?.certificate ?? contents.certificates.first { !$0.isCA } ?? contents.certificates.first
        guard let leaf else { throw Problem(CryptographyProblem.notACertificate, context: [("found", "pkcs12")]) }
        _ = try judge(try PaymentProcessingCertificate(certificate: leaf, for: identifier), key: nil, warnings: [], in: environment)
        throw Problem(
            ImportProblem.keyMismatch,
            context: [
                ("certificate_public_key_hash", .text(leaf.spkiHash.base64)),
                ("private_key_public_key_hashes", .list(contents.keys.map { .text($0.spkiHash.base64) })),
            ])
    }

    /// Of several certificates in a file, the one that is a payment processing certificate of this identifier; where none is, the first that is no
    /// authority's says what is wrong.
    private func choose(among certificates: [Certificate], for identifier: MerchantIdentifier?) throws(Problem) -> PaymentProcessingCertificate {
        for certificate in certificates {
            if let fitting = try? PaymentProcessingCertificate(certificate: certificate, for: identifier) { return fitting }
        }
        guard let first = certificates.first(where: { !$0.isCA }) ?? certificates.first else { throw Problem(CryptographyProblem.notACertificate) }
        return try PaymentProcessingCertificate(certificate: first, for: identifier)
    }

    private func judge(
        _ certificate: PaymentProcessingCertificate, key: PrivateKey?, warnings: [String], in environment: Environment
    ) throws(Problem) -> ImportCandidate {
        let standing = issuers.standing(of: certificate)
        let issuerWarnings = try environment.admit(standing, of: certificate)
        return ImportCandidate(certificate: certificate, key: key, issuerPinned: standing == .apple, warnings: warnings + issuerWarnings.map(\.code))
    }
}
