/// One row of a result, valid only while the closure it was given to runs. Columns count from 0.
///
/// A column of another type, or beyond the last, reads as 0, empty text or no bytes: tables are STRICT, so a type is the schema's affair and
/// not a row's.
public protocol Row {
    func integer(_ column: Int) -> Int64
    func text(_ column: Int) -> String
    func blob(_ column: Int) -> [UInt8]
    func isNull(_ column: Int) -> Bool
}

extension Row {
    public func optionalInteger(_ column: Int) -> Int64? { isNull(column) ? nil : integer(column) }
    public func optionalText(_ column: Int) -> String? { isNull(column) ? nil : text(column) }
    public func optionalBlob(_ column: Int) -> [UInt8]? { isNull(column) ? nil : blob(column) }
    /// Whether an integer column is other than 0.
    public func bool(_ column: Int) -> Bool { integer(column) != 0 }
}
