/// Rows for a COPY in binary form.
///
/// Source: "Binary Format" of COPY in PostgreSQL's documentation.
package struct PostgreSQLRows: PostgreSQLValueWriter, Sendable {
    package var bytes: [UInt8] = []

    package init() {}

    /// Begins a row. The row's values follow, one a column.
    @inlinable
    package mutating func beginRow(columns: Int) { bytes.appendBigEndian(Int16(columns)) }

    /// Begins a value whose bytes follow in parts.
    /// - Throws: `badValue` for a gigabyte or more. Nothing is added then.
    package mutating func beginValue(count: Int) throws(PostgreSQLError) {
        if let fault = PostgreSQLValueLimit.fault(count: count) { throw fault }
        bytes.appendBigEndian(Int32(count))
    }

    package mutating func addPart(_ part: UnsafeRawBufferPointer) { bytes.append(contentsOf: part) }

    package mutating func count(_ type: PostgreSQLType) {}
}
