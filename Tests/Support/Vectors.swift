public import Foundation

/// Where the test data lies. Our own stand in `Tests/Vectors`; those made by others are read from `shared/vectors` beside the checkout, or from
/// the folder that `COSTER_VECTORS` names.
public enum Vectors {
    /// `Tests/Vectors` of this checkout.
    public static let own: URL = tests.appending(path: "Vectors")

    /// The folder of vectors made by others, or nil where there is none.
    public static let shared: URL? = {
        let named = ProcessInfo.processInfo.environment["COSTER_VECTORS"].map { URL(filePath: $0) }
        let beside = tests.deletingLastPathComponent().deletingLastPathComponent().appending(path: "shared/vectors")
        let folder = named ?? beside
        return FileManager.default.fileExists(atPath: folder.appending(path: "MANIFEST.md").path) ? folder : nil
    }()

    /// The bytes of one shared file. Throws when it can't be read: call it only where ``shared`` is there.
    public static func bytes(_ path: String) throws -> [UInt8] {
        guard let shared else { throw CocoaError(.fileNoSuchFile) }
        return [UInt8](try Data(contentsOf: shared.appending(path: path)))
    }

    /// Says on standard error how many cases `what` could not run because the shared vectors are absent, and gives an empty list.
    public static func unavailable<Case>(_ what: String, cases: Int) -> [Case] {
        FileHandle.standardError.write(Data("NOT TESTED: \(cases) cases of \(what): no shared vectors (set COSTER_VECTORS)\n".utf8))
        return []
    }

    private static let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
}
