import ApplePay
import Cryptography
import Database
import Encodings
import Problems
import SQLite
import Testing

@testable import Accounts

@Suite struct CredentialsTests {
    let table: CredentialTable
    init() throws { table = try CredentialTable() }

    static let invalid = Problem.credential(.invalid)

    // MARK: Authentication

    @Test func `the right secret proves who it is, with role, environment and merchants`() throws {
        let merchants = [MerchantID(bits: 2), MerchantID(bits: 1)]
        let (credential, secret) = try table.make(.merchant, environment: .production, merchants: merchants)
        let principal = try table.authenticate(credential, secret)
        #expect(principal.credential == credential.id && principal.role == .merchant && principal.environment == .production)
        #expect(principal.merchants == Set(merchants))
        let (all, allSecret) = try table.make(.auditor)
        #expect(try table.authenticate(all, allSecret).merchants == nil)
    }

    @Test func `a secret is 256 random bits, and nowhere in the database`() throws {
        let (credential, secret) = try table.make()
        #expect(secret.hasPrefix("cs_") && secret.utf8.count == 46 && credential.apiKey.hasPrefix("ck_") && credential.apiKey.utf8.count == 35)
        #expect(try table.make().secret != secret)
        let stored = try table.database.read { connection throws(Problem) in
            try connection.first("SELECT secret FROM credentials WHERE id = $1", [.text(credential.id.text)]) { row in row.blob(0) }
        }
        #expect(stored?.count == 32 && stored != SHA256.digest(Array(secret.utf8)).bytes)
    }

    @Test func `an unknown key and a wrong secret answer alike`() throws {
        let (credential, secret) = try table.make()
        let other = try table.make()
        let wrong = #expect(throws: Self.invalid) { try table.authenticate(credential, other.secret) }
        var unknownKey = credential
        unknownKey = Credential(
            id: credential.id, apiKey: try Credentials.freshAPIKey(), role: credential.role, name: "", environment: .sandbox, merchants: nil,
            clientCertificateSPKI: nil, createdAt: credential.createdAt, expiresAt: credential.expiresAt)
        let unknown = #expect(throws: Self.invalid) { try table.authenticate(unknownKey, secret) }
        #expect(wrong?.description == unknown?.description && wrong?.context.isEmpty == true && unknown?.context.isEmpty == true)
        #expect(wrong?.status == 401)
    }

    /// What is wrong with a credential is told only to who holds its secret.
    @Test func `a wrong secret is told nothing of revocation, end or pin`() throws {
        let (credential, _) = try table.make(pin: CredentialTable.pin)
        let other = try table.make().secret
        try table.revoke(credential)
        #expect(throws: Self.invalid) { try table.authenticate(credential, other, at: 99_999) }
    }

    @Test func `a credential ends at its time`() throws {
        let (credential, secret) = try table.make(expiresIn: 100)
        _ = try table.authenticate(credential, secret, at: 99)
        let problem = #expect(throws: Problem.credential(.expired)) { try table.authenticate(credential, secret, at: 100) }
        #expect(problem?.status == 401)
    }

    @Test func `a revoked credential ends at once, and again is no error`() throws {
        let (credential, secret) = try table.make()
        #expect(try table.revoke(credential, at: 5).revokedAt == CredentialTable.now.adding(seconds: 5))
        #expect(throws: Problem.credential(.revoked)) { try table.authenticate(credential, secret) }
        #expect(try table.revoke(credential, at: 9).revokedAt == CredentialTable.now.adding(seconds: 5))
        #expect(throws: Problem.credential(.ended)) { try table.rotate(credential, overlap: 0) }
    }

    @Test func `a pinned credential works with its client certificate only`() throws {
        let (credential, secret) = try table.make(pin: CredentialTable.pin)
        for wrong in [nil, [], SHA256.digest([1]).bytes, Array(CredentialTable.pin.bytes.dropLast())] as [[UInt8]?] {
            let problem = #expect(throws: Problem.credential(.clientCertificateRequired)) { try table.authenticate(credential, secret, pin: wrong) }
            #expect(problem?.status == 401)
        }
        _ = try table.authenticate(credential, secret, pin: CredentialTable.pin.bytes)
        // Whoever is not pinned may bring any.
        let (free, freeSecret) = try table.make()
        _ = try table.authenticate(free, freeSecret, pin: CredentialTable.pin.bytes)
    }

    // MARK: Rotation

    @Test func `the former secret lives for the overlap, under the same key`() throws {
        let (credential, former) = try table.make()
        let (rotated, secret) = try table.rotate(credential, overlap: 100)
        #expect(rotated.apiKey == credential.apiKey && rotated.formerSecretEndsAt == CredentialTable.now.adding(seconds: 100) && secret != former)
        for (text, seconds) in [(former, 0), (former, 99), (secret, 0), (secret, 100), (secret, 3000)] as [(String, Int64)] {
            #expect(try table.authenticate(credential, text, at: seconds).credential == credential.id)
        }
        #expect(throws: Self.invalid) { try table.authenticate(credential, former, at: 100) }
    }

    @Test func `two live secrets are enough; nought ends both former ones`() throws {
        let (credential, first) = try table.make()
        let second = try table.rotate(credential, overlap: 100).secret
        let problem = #expect(throws: Problem.credential(.rotationPending)) { try table.rotate(credential, overlap: 100, at: 99) }
        #expect(problem?.status == 409 && problem?.context.first?.name == "former_secret_ends_at")
        // Nothing was changed by the refusal.
        _ = try table.authenticate(credential, second, at: 99)
        let (ended, third) = try table.rotate(credential, overlap: 0, at: 99)
        #expect(ended.formerSecretEndsAt == nil)
        for former in [first, second] { #expect(throws: Self.invalid) { try table.authenticate(credential, former, at: 99) } }
        _ = try table.authenticate(credential, third, at: 99)
    }

    @Test func `once the former secret has ended, the next rotation goes`() throws {
        let (credential, first) = try table.make()
        let second = try table.rotate(credential, overlap: 100).secret
        let third = try table.rotate(credential, overlap: 50, at: 100).secret
        #expect(throws: Self.invalid) { try table.authenticate(credential, first, at: 100) }
        for text in [second, third] { _ = try table.authenticate(credential, text, at: 149) }
        #expect(throws: Self.invalid) { try table.authenticate(credential, second, at: 150) }
        #expect(throws: Problem.credential(.unknown)) {
            try table.write { [table] connection throws(Problem) in
                _ = try table.credentials.rotate(.random(), overlapSeconds: 0, at: CredentialTable.now, in: connection)
            }
        }
        #expect(throws: Problem.credential(.unknown)) {
            try table.write { [table] connection throws(Problem) in _ = try table.credentials.revoke(.random(), at: CredentialTable.now, in: connection) }
        }
    }

    // MARK: Rows altered by somebody else

    static let alterations: [(column: String, value: String)] = [
        ("id", "'cred_00000000000000000000000000000009'"), ("id", "''"), ("api_key", "'ck_00000000000000000000000000000009'"), ("role", "'operator'"),
        ("role", "'root'"), ("name", "'other'"), ("environment", "'production'"), ("environment", "''"), ("merchants", "NULL"), ("merchants", "''"),
        ("merchants", "merchants || ' mer_00000000000000000000000000000009'"), ("client_certificate_spki", "NULL"),
        ("client_certificate_spki", "zeroblob(32)"), ("created_at", "created_at + 1"), ("expires_at", "expires_at + 1"), ("revoked_at", "NULL"),
        ("revoked_at", "revoked_at + 1"), ("secret", "former_secret"), ("secret", "zeroblob(0)"), ("former_secret", "secret"), ("former_secret", "NULL"),
        ("former_secret_ends_at", "NULL"), ("former_secret_ends_at", "former_secret_ends_at + 1"), ("mac", "zeroblob(32)"), ("mac", "zeroblob(0)"),
    ]

    @Test(arguments: alterations)
    func `any column altered by somebody else is noticed`(_ column: String, _ value: String) throws {
        let (credential, _) = try table.make(.merchant, merchants: [MerchantID(bits: 1)], pin: CredentialTable.pin)
        let secret = try table.rotate(credential, overlap: 100).secret
        try table.revoke(credential)
        #expect(try table.write { connection throws(Problem) in try connection.execute("UPDATE credentials SET \(column) = \(value)") } == 1)
        let altered = Problem.credential(.altered)
        #expect(altered.code == "custody.credential_altered" && altered.status == 500)
        if column != "api_key" { #expect(throws: altered) { try table.authenticate(credential, secret, pin: CredentialTable.pin.bytes) } }
        if column != "id" { #expect(throws: altered) { try table.revoke(credential) } }
        try table.database.read { connection throws(Problem) in
            for environment in Environment.allCases where column != "environment" && environment == .sandbox {
                #expect(throws: altered) { try table.credentials.list(environment: environment, merchants: nil, after: nil, limit: 9, connection) }
            }
        }
    }

    @Test func `the columns of the table are those tried here`() throws {
        let columns = try table.database.read { connection throws(Problem) in
            try connection.query("SELECT name FROM pragma_table_info('credentials')") { row in row.text(0) }
        }
        #expect(Set(columns) == Set(Self.alterations.map(\.column)).union(["number"]))
    }

    @Test func `a secret's MAC moved to another key opens nothing`() throws {
        let (first, secret) = try table.make()
        let (second, _) = try table.make()
        try table.write { connection throws(Problem) in
            try connection.execute(
                "UPDATE credentials SET secret = (SELECT secret FROM credentials WHERE id = $1) WHERE id = $2", [.text(first.id.text), .text(second.id.text)])
        }
        #expect(throws: Problem.credential(.altered)) { try table.authenticate(second, secret) }
    }

    // MARK: Reading

    @Test func `a caller sees the credentials of its environment that reach no further than its own merchants`() throws {
        let (one, two) = (MerchantID(bits: 1), MerchantID(bits: 2))
        let all = try table.make().credential
        let first = try table.make(merchants: [one]).credential
        let both = try table.make(merchants: [two, one]).credential
        let production = try table.make(environment: .production, merchants: [one]).credential
        func list(_ environment: Environment, _ merchants: Set<MerchantID>?) throws -> [CredentialID] {
            try table.database.read { connection throws(Problem) in
                try table.credentials.list(environment: environment, merchants: merchants, after: nil, limit: 9, connection).map(\.id)
            }
        }
        #expect(try list(.sandbox, nil) == [all.id, first.id, both.id])
        #expect(try list(.sandbox, [one]) == [first.id])
        #expect(try list(.sandbox, [one, two]) == [first.id, both.id])
        #expect(try list(.sandbox, []) == [])
        #expect(try list(.production, nil) == [production.id])
        try table.database.read { connection throws(Problem) in
            #expect(try table.credentials.find(first.id, environment: .sandbox, merchants: [one], connection).merchants == [one])
            let unseen: [(CredentialID, Set<MerchantID>?)] = [(all.id, [one]), (both.id, [one]), (production.id, nil), (.random(), nil)]
            for (id, merchants) in unseen {
                let problem = #expect(throws: Problem.credential(.unknown)) {
                    try table.credentials.find(id, environment: .sandbox, merchants: merchants, connection)
                }
                #expect(problem?.context.isEmpty == true)
            }
        }
    }

    @Test func `a page is filled however few of many a caller may see`() throws {
        let own = MerchantID(bits: 1)
        var visible: [CredentialID] = []
        for number in 0..<230 {
            let made = try table.make(merchants: [number % 50 == 49 ? own : MerchantID(bits: 2)]).credential
            if number % 50 == 49 { visible.append(made.id) }
        }
        try table.database.read { connection throws(Problem) in
            #expect(try table.credentials.list(environment: .sandbox, merchants: [own], after: nil, limit: 9, connection).map(\.id) == visible)
            #expect(try table.credentials.list(environment: .sandbox, merchants: [own], after: nil, limit: 2, connection).map(\.id) == Array(visible.prefix(2)))
            #expect(
                try table.credentials.list(environment: .sandbox, merchants: [own], after: visible[1], limit: 2, connection).map(\.id)
                    == Array(visible.suffix(2)))
        }
    }

    @Test func `a credential comes back as it went in`() throws {
        let made = try table.make(.merchant, merchants: [MerchantID(bits: 9), MerchantID(bits: 3)], pin: CredentialTable.pin).credential
        let found = try table.database.read { connection throws(Problem) in
            try table.credentials.find(made.id, environment: .sandbox, merchants: nil, connection)
        }
        #expect(found.apiKey == made.apiKey && found.role == .merchant && found.name == "shop" && found.expiresAt == made.expiresAt)
        #expect(found.merchants == [MerchantID(bits: 3), MerchantID(bits: 9)] && found.clientCertificateSPKI == CredentialTable.pin)
        #expect(found.createdAt == made.createdAt && found.revokedAt == nil && found.formerSecretEndsAt == nil)
    }
}
