/// The whole content of a store as one sequence of bytes: system values, tables, rows and large values. Spec: docs/format/archive.md.
///
/// A row is written value by value, under the names of its table and columns, so that a store whose catalog has them in another order can
/// take it. A reference is written as its table's position in the archive, from 1, and the row.
package enum TableArchive {
    /// Row numbers stay below this, which bounds the cost of a hostile archive that claims more rows than it has.
    static let rowsMax: UInt64 = 1 << 32

    /// Bytes of a null bitmap.
    static func nullBytes(_ columns: Int) -> Int { (columns + 7) / 8 }

    /// A table's heading, before its rows.
    struct Heading {
        var name: String
        var nextRow: UInt64
        var columns: [(name: String, type: ColumnType)]

        init(_ table: TableDefinition, nextRow: UInt64) {
            name = table.name
            self.nextRow = nextRow
            columns = table.currentLayout.columns.map { ($0.name, $0.type) }
        }

        var encoded: [UInt8] {
            var writer = ByteWriter()
            writer.append(text: name)
            writer.append(nextRow)
            writer.append(UInt32(columns.count))
            for column in columns {
                writer.append(text: column.name)
                writer.append(column.type.rawValue)
            }
            return writer.bytes
        }

        /// - Returns: nil if the bytes are not a heading.
        init?(_ reader: inout ByteReader) {
            guard let name = reader.text(), let nextRow = reader.integer(UInt64.self), nextRow > 0, nextRow <= TableArchive.rowsMax,
                let count = reader.count(of: 5), count <= RowLayout.columnsMax
            else { return nil }
            self.name = name
            self.nextRow = nextRow
            columns = []
            for _ in 0..<count {
                guard let name = reader.text(), let type = reader.integer(UInt8.self).flatMap(ColumnType.init) else { return nil }
                columns.append((name, type))
            }
        }
    }
}
