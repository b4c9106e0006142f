// swift-tools-version: 6.2
// The drawing of the house: targets in floor order, each under the sentence that says what it is for.
// A target imports what stands here and nothing else; `scripts/check` compares every `import` line with this file.
import PackageDescription

let house: [SwiftSetting] = [
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("ExistentialAny"),
]

func room(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: house)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name + "Tests", dependencies: dependencies + ["TestSupport"], swiftSettings: house)
}

let package = Package(
    name: "Coster",
    products: [
        .library(name: "ApplePay", targets: ["ApplePay"]),
        .library(name: "Cryptography", targets: ["Cryptography"]),
        .executable(name: "coster", targets: ["coster"]),
    ],
    targets: [
        // C — system libraries, headers only.
        .systemLibrary(name: "CLibcrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CLibevent", pkgConfig: "libevent_core", providers: [.apt(["libevent-dev", "libssl-dev"])]),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),

        // 1 — The one error type of the house and the shape of a catalogue entry.
        room("Problems"),
        // 1 — Bytes that wipe themselves, compare in constant time and print as `<secret>`.
        room("Secrets"),
        // 1 — Bytes, times, ids and JSON as text: strict readers, exact writers.
        room("Encodings"),

        // 2 — Sockets, TLS, request and response values, limits. Knows no route.
        room("HTTPServer", ["CLibevent", "Encodings", "Secrets", "Problems"]),
        // 2 — Typed keys and the primitives on them: P-256 agreement, RSA-OAEP, AES-GCM, single-step KDF, X.509, CMS, PKCS#10, PKCS#12.
        room("Cryptography", ["CLibcrypto", "Encodings", "Secrets", "Problems"]),
        // 2 — The seam: connection, transaction, row, parameter, migration; knows no engine.
        room("Database", ["Problems"]),

        // 3 — Apple's formats and rules: token, header, certificate, signature check, decryption. No I/O, no clock of its own.
        room("ApplePay", ["Cryptography", "Encodings", "Secrets", "Problems"]),
        // 3 — The embedded engine behind the seam.
        room("SQLite", ["CSQLite", "Database", "Problems"]),

        // 4 — Sealed private keys by (registration, public key hash), their states and their key-encrypting keys.
        room("KeyStore", ["ApplePay", "Cryptography", "Database", "Encodings", "Secrets", "Problems"]),
        // 4 — Merchants, roles, API credentials; hands out `Grant`s.
        room("Accounts", ["ApplePay", "Cryptography", "Database", "Encodings", "Secrets", "Problems"]),
        // 4 — An append-only, hash-chained log of who did what to which key.
        room("AuditTrail", ["Cryptography", "Database", "Encodings", "Problems"]),

        // 5 — The use cases: create a CSR, import a certificate or a `.p12`, decrypt a token, move a certificate through its states.
        room("Operations", ["KeyStore", "Accounts", "AuditTrail", "ApplePay", "Cryptography", "Database", "Encodings", "Secrets", "Problems"]),
        // 5 — The throw-away CA that plays Apple: issues certificates for CSRs and mints payment tokens, good and faulted.
        room("Sandbox", ["ApplePay", "Cryptography", "Encodings", "Secrets", "Problems"]),

        // 6 — The JSON resources and the route table they and `openapi.json` come from.
        room(
            "API",
            [
                "HTTPServer", "Operations", "Sandbox", "KeyStore", "Accounts", "AuditTrail", "ApplePay", "Cryptography", "Database", "Encodings", "Secrets",
                "Problems",
            ]),

        // 7 — The commands. The only room that knows which engine runs.
        .executableTarget(
            name: "coster",
            dependencies: [
                "API", "Operations", "Sandbox", "KeyStore", "Accounts", "AuditTrail", "ApplePay", "SQLite", "HTTPServer", "Cryptography",
                "Database", "Encodings", "Secrets", "Problems",
            ], path: "Sources/Coster", swiftSettings: house),

        // Tests: one target a room. `TestSupport` finds the vectors.
        // Measures; not shipped.
        .executableTarget(
            name: "bench",
            dependencies: [
                "Operations", "Sandbox", "KeyStore", "AuditTrail", "ApplePay", "SQLite", "Cryptography", "CLibcrypto", "Database", "Encodings", "Secrets",
                "Problems",
            ], path: "Tests/Bench", swiftSettings: house),
        .target(name: "TestSupport", dependencies: ["Encodings"], path: "Tests/Support", swiftSettings: house),
        tests("Problems", ["Problems"]),
        tests("Secrets", ["Secrets"]),
        tests("Encodings", ["Encodings"]),
        tests("HTTPServer", ["HTTPServer", "CLibevent", "Encodings", "Secrets", "Problems"]),
        tests("Cryptography", ["Cryptography", "Encodings", "Secrets", "Problems"]),
        tests("Database", ["SQLite", "Database", "Problems"]),
        tests("ApplePay", ["ApplePay", "Cryptography", "Encodings", "Secrets", "Problems"]),
        tests("SQLite", ["SQLite", "Database", "Problems"]),
        tests("KeyStore", ["KeyStore", "SQLite", "ApplePay", "Cryptography", "Database", "Encodings", "Secrets", "Problems"]),
        tests("Accounts", ["Accounts", "SQLite", "ApplePay", "Cryptography", "Database", "Encodings", "Secrets", "Problems"]),
        tests("AuditTrail", ["AuditTrail", "SQLite", "Cryptography", "Database", "Encodings", "Secrets", "Problems"]),
        tests("Sandbox", ["Sandbox", "ApplePay", "Cryptography", "Encodings", "Secrets", "Problems"]),
        tests(
            "Operations",
            [
                "Operations", "Sandbox", "KeyStore", "Accounts", "AuditTrail", "SQLite", "ApplePay", "Cryptography", "Database", "Encodings", "Secrets",
                "Problems",
            ]),
        tests(
            "API",
            [
                "API", "HTTPServer", "Operations", "Sandbox", "KeyStore", "Accounts", "AuditTrail", "SQLite", "ApplePay", "Cryptography", "Database",
                "Encodings", "Secrets", "Problems",
            ]),
    ],
    swiftLanguageModes: [.v6]
)
