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

    /// Where one file lies: `minted/…` among our own, the rest among those made by others. Nil where these are not there.
    public static func url(_ path: String) -> URL? {
        path == "minted" || path.hasPrefix("minted/") ? own.appending(path: path) : shared?.appending(path: path)
    }

    /// The bytes of one file. Throws when it can't be read.
    public static func bytes(_ path: String) throws -> [UInt8] {
        guard let url = url(path) else { throw CocoaError(.fileNoSuchFile) }
        return [UInt8](try Data(contentsOf: url))
    }

    /// Says on standard error how many cases `what` could not run because the shared vectors are absent, and gives an empty list.
    public static func unavailable<Case>(_ what: String, cases: Int) -> [Case] {
        FileHandle.standardError.write(Data("NOT TESTED: \(cases) cases of \(what): no shared vectors (set COSTER_VECTORS)\n".utf8))
        return []
    }

    private static let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
}
