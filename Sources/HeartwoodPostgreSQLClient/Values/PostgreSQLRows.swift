/// Rows for a COPY in binary form.
///
/// Source: "Binary Format" of COPY in PostgreSQL's documentation.
package struct PostgreSQLRows: PostgreSQLValueWriter, Sendable {
    package var bytes: [UInt8] = []

    package init() {}

    /// Begins a row. The row's values follow, one a column.
    @inlinable
    package mutating func beginRow(columns: Int) { bytes.appendBigEndian(Int16(columns)) }

    package mutating func count(_ type: PostgreSQLType) {}
}
