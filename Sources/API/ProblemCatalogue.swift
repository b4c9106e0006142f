import Accounts
import ApplePay
import AuditTrail
import Cryptography
import Database
import HTTPServer
import KeyStore
import Operations
public import Problems
import Sandbox

/// Every code that an answer of this service can carry, whichever room it comes from.
public enum ProblemCatalogue {
    /// In the order of codes.
    public static let entries: [(code: String, page: ProblemPage)] =
        rooms.flatMap { entries(of: $0) }.sorted { $0.code < $1.code }

    static let rooms: [any ProblemEntry.Type] = [
        APIProblem.self, AuditTrailProblem.self, CertificateProblem.self, CertificationRequestProblem.self, CredentialProblem.self,
        CryptographyProblem.self, DatabaseProblem.self, FileProblem.self, HTTPProblem.self, ImportProblem.self, KeyStoreProblem.self,
        ListenerProblem.self, MerchantIdentifierProblem.self, MerchantProblem.self, OperationsProblem.self, PaymentTokenProblem.self, PKCS12Problem.self,
        SandboxProblem.self, SignatureProblem.self,
    ]

    private static func entries<Entry: ProblemEntry>(of room: Entry.Type) -> [(code: String, page: ProblemPage)] {
        Entry.allCases.map { ($0.rawValue, $0.page) }
    }
}
