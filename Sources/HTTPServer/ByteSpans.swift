extension [UInt8] {
    /// Appends `range` of `span` in one copy.
    mutating func append(_ span: borrowing Span<UInt8>, _ range: Range<Int>) {
        guard !range.isEmpty else { return }
        unsafe span.extracting(range).withUnsafeBufferPointer { unsafe self.append(contentsOf: $0) }
    }
}
