public import Problems

/// A connection inside one transaction: everything read through it belongs to one snapshot.
///
/// Statements mark their parameters `$1`, `$2`, … in the order of first appearance; the text of a statement should be a literal, because an engine
/// keeps each prepared statement under its text.
public protocol ReadConnection: AnyObject {
    /// Every row of the result, in order, each turned into a value by `row`.
    func query<R>(_ sql: String, _ parameters: [Parameter], _ row: (any Row) throws(Problem) -> R) throws(Problem) -> [R]
    /// The first row, or nil; the rest is not computed.
    func first<R>(_ sql: String, _ parameters: [Parameter], _ row: (any Row) throws(Problem) -> R) throws(Problem) -> R?
}

extension ReadConnection {
    public func query<R>(_ sql: String, _ row: (any Row) throws(Problem) -> R) throws(Problem) -> [R] { try query(sql, [], row) }
    public func first<R>(_ sql: String, _ row: (any Row) throws(Problem) -> R) throws(Problem) -> R? { try first(sql, [], row) }
    /// Whether the statement gives any row at all.
    public func exists(_ sql: String, _ parameters: [Parameter] = []) throws(Problem) -> Bool {
        try first(sql, parameters) { _ in true } ?? false
    }
}

/// The one connection that writes, inside one body of a transaction that several bodies may share.
public protocol WriteConnection: ReadConnection {
    /// - Returns: how many rows were inserted, changed or deleted.
    @discardableResult func execute(_ sql: String, _ parameters: [Parameter]) throws(Problem) -> Int

    /// Asks for `hook` to run once, just before the transaction commits, whoever else asked under the same `owner`: for what is gathered over the
    /// bodies of a transaction and written in one statement.
    ///
    /// The first hook of an owner stands. One asked for by a body that was rolled back is forgotten. A hook that throws fails every body of the
    /// transaction with its problem. Hooks may not ask for hooks.
    func beforeCommit(_ owner: ObjectIdentifier, _ hook: @escaping (any WriteConnection) throws(Problem) -> Void)

    /// Grows by one with each physical transaction of this process. What was read under one number can't have been changed by another process.
    var transactionNumber: Int { get }
    /// Grows by one whenever a body, or a whole transaction, was rolled back. Who keeps a value across bodies of one transaction (the head of a
    /// chain) reads it again when this number or ``transactionNumber`` has moved.
    var rollbackNumber: Int { get }
}

extension WriteConnection {
    @discardableResult public func execute(_ sql: String) throws(Problem) -> Int { try execute(sql, []) }
}
