/// A list of fields as bytes, each behind its length, so that no two different lists give the same bytes: what MACs and associated data are made of.
///
/// Shape: for each field one byte for its kind (0 absent, 1 bytes, 2 text, 3 integer), then four bytes of length (big-endian), then the content.
public struct LengthPrefixedList: Sendable {
    public private(set) var bytes: [UInt8] = []

    /// - Parameter label: what the list is for; the first field.
    public init(_ label: String, reserving capacity: Int = 256) {
        bytes.reserveCapacity(capacity)
        append(label)
    }

    public mutating func append(_ text: String?) {
        guard let text else { return append(kind: 0, count: 0) }
        append(kind: 2, count: text.utf8.count)
        bytes.append(contentsOf: text.utf8)
    }

    public mutating func append(_ field: [UInt8]?) {
        guard let field else { return append(kind: 0, count: 0) }
        append(kind: 1, count: field.count)
        bytes.append(contentsOf: field)
    }

    public mutating func append(_ number: Int64?) {
        guard let number else { return append(kind: 0, count: 0) }
        append(kind: 3, count: 8)
        append(bigEndian: UInt64(bitPattern: number), count: 8)
    }

    public mutating func append(_ digest: Digest256?) { append(digest?.bytes) }
    public mutating func append(_ time: Timestamp?) { append(time?.milliseconds) }

    private mutating func append(kind: UInt8, count: Int) {
        bytes.append(kind)
        append(bigEndian: UInt64(count), count: 4)
    }

    private mutating func append(bigEndian value: UInt64, count: Int) {
        for index in 0..<count { bytes.append(UInt8(truncatingIfNeeded: value >> UInt64((count - 1 - index) * 8))) }
    }
}
