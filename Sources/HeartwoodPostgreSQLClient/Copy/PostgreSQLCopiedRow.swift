/// A row of a COPY from the server. It is valid while the call that gets it runs.
package struct PostgreSQLCopiedRow {
    /// All values in binary form, each behind its length, as `PostgreSQLRows` has them.
    package let bytes: UnsafeRawBufferPointer
    private let ranges: [Range<Int>?]

    init(_ bytes: UnsafeRawBufferPointer, columns: Int) throws(PostgreSQLError) {
        var ranges: [Range<Int>?] = []
        ranges.reserveCapacity(max(0, columns))
        var offset = 0
        for _ in 0..<max(0, columns) {
            guard bytes.count - offset >= 4 else { throw Self.fault("a row is cut off") }
            let length = Int(Int32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Int32.self)))
            offset += 4
            guard length <= bytes.count - offset else { throw Self.fault("a value is cut off") }
            ranges.append(length < 0 ? nil : offset..<offset + length)
            offset += max(0, length)
        }
        guard columns >= 0, offset == bytes.count else { throw Self.fault("a row has bytes behind its values") }
        self.bytes = bytes
        self.ranges = ranges
    }

    package var count: Int { ranges.count }

    /// The bytes of a value in binary form; nil for a null.
    /// - Throws: `badAnswer` for a column that is not there.
    package func bytes(_ column: Int) throws(PostgreSQLError) -> UnsafeRawBufferPointer? {
        guard ranges.indices.contains(column) else { throw Self.fault("it has \(count) columns, and none is \(column)") }
        return ranges[column].map { UnsafeRawBufferPointer(rebasing: bytes[$0]) }
    }

    static func fault(_ text: String) -> PostgreSQLError { PostgreSQLError(.badAnswer, "The server's COPY cannot be read: \(text).") }
}
