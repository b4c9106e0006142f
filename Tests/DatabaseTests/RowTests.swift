import Database
import Problems
import Testing

@Suite struct RowTests {
    @Test(arguments: Engine.allCases) func `reads every kind of value back as it was bound`(engine: Engine) throws {
        let fresh = try engine.make()
        let database = try fresh.withTable("id INTEGER PRIMARY KEY, i INTEGER, t TEXT, b BLOB")
        let texts = ["", "a", "naïve ✓ 𝄞", "with\0zero", "'; DROP TABLE item; --", String(repeating: "long ", count: 5000)]
        let blobs: [[UInt8]] = [[], [0], Array(0...255), [UInt8](repeating: 7, count: 100_000)]
        let integers: [Int64] = [.min, -1, 0, 1, .max]
        for (index, integer) in integers.enumerated() {
            for text in texts {
                for blob in blobs {
                    let row = try database.writeBlocking { connection throws(Problem) in
                        try connection.execute("DELETE FROM item")
                        try connection.execute(
                            "INSERT INTO item (id, i, t, b) VALUES ($1, $2, $3, $4)",
                            [.integer(Int64(index)), .integer(integer), .text(text), .blob(blob)])
                        return try connection.first("SELECT i, t, b FROM item", []) { row in (row.integer(0), row.text(1), row.blob(2)) }
                    }
                    #expect(row?.0 == integer)
                    #expect(row?.1 == text)
                    #expect(row?.2 == blob)
                }
            }
        }
    }

    @Test(arguments: Engine.allCases) func `tells null from empty`(engine: Engine) throws {
        let fresh = try engine.make()
        let database = try fresh.withTable("id INTEGER PRIMARY KEY, i INTEGER, t TEXT, b BLOB")
        try database.writeBlocking { connection throws(Problem) in
            _ = try connection.execute("INSERT INTO item (id, i, t, b) VALUES (1, $1, $2, $3)", [nil, nil, nil])
            _ = try connection.execute("INSERT INTO item (id, i, t, b) VALUES (2, $1, $2, $3)", [0, "", .blob([])])
        }
        let rows = try database.read { connection throws(Problem) in
            try connection.query("SELECT i, t, b FROM item ORDER BY id") { row in
                (row.optionalInteger(0), row.optionalText(1), row.optionalBlob(2), row.bool(0), row.text(1), row.blob(2))
            }
        }
        #expect(rows.count == 2)
        #expect(rows[0].0 == nil && rows[0].1 == nil && rows[0].2 == nil && !rows[0].3 && rows[0].4 == "" && rows[0].5 == [])
        #expect(rows[1].0 == 0 && rows[1].1 == "" && rows[1].2 == [] && !rows[1].3)
    }
}
