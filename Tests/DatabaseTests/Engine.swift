import Database
import Problems
import SQLite
import TestSupport

/// The engines behind the seam. Every test of this target runs once for each.
enum Engine: CaseIterable {
    case sqlite

    /// A new, empty database; it goes with its last reference.
    func make() throws -> Fresh {
        switch self {
        case .sqlite:
            let folder = try TemporaryFolder()
            return Fresh(database: try SQLiteDatabase(path: folder.file("coster.sqlite"), mode: .create), folder: folder)
        }
    }

    struct Fresh {
        let database: any Database
        let folder: TemporaryFolder

        func withTable(_ columns: String = "id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE") throws -> any Database {
            try database.migrate([Migration("test-1", ["CREATE TABLE item (\(columns)) STRICT"])])
            return database
        }
    }
}
