import Foundation
import RecordLog

/// The attributes of an entity that the model preserves in the history of a deleted object.
///
/// They are stored as a row with its own layout, so that rows' code writes and reads them. The row contains external data whole.
package final class PreservedColumns {
    /// With the IDs that the columns have in the entity's table.
    package let columns: [Column]
    private let properties: [Int]
    private let layout: RowLayout
    private let runtime: EntityRuntime
    private let builder = RowBuilder()

    /// Returns nil where no attribute is preserved.
    package init?(of table: EntityTable) {
        runtime = table.runtime
        var columns: [Column] = [], properties: [Int] = []
        for (property, position) in table.positions.enumerated() {
            guard let position, runtime.isPreserved(property) else { continue }
            var column = table.layout.columns[position]
            if column.type == .value { column.type = .bytes }
            column.name = ""
            columns.append(column)
            properties.append(property)
        }
        guard !columns.isEmpty else { return nil }
        self.columns = columns
        self.properties = properties
        layout = RowLayout(id: LayoutID(rawValue: 0), columns: columns)
    }

    /// Returns the preserved values of a row, valid until the next call; nil where all are null.
    func body(of row: UnsafeRowView, in snapshot: Snapshot) throws -> UnsafeRawBufferPointer? {
        builder.begin(layout)
        var isEmpty = true
        for (index, property) in properties.enumerated() {
            guard let access = runtime.access(property, in: row) else { continue }
            if let value = try snapshot.value(access, of: row) {
                try Data(value).withUnsafeBytes { builder.set(index, bytes: $0) }
            } else {
                // A value of another type is from before a migration.
                guard access.type == columns[index].type else { continue }
                builder.copy(index, from: row, access)
            }
            isEmpty = false
        }
        return isEmpty ? nil : builder.unsafeBody()
    }

    /// Returns preserved values that come from elsewhere, valid until the next call; nil where all are null.
    /// - Parameter value: gives the value of the property with an index; nil for null.
    package func body(_ value: (Int) throws -> ManagedValue?) throws -> UnsafeRawBufferPointer? {
        builder.begin(layout)
        var isEmpty = true
        for (index, property) in properties.enumerated() {
            guard let value = try value(property) else { continue }
            try value.encode(into: builder, at: index)
            isEmpty = false
        }
        return isEmpty ? nil : builder.unsafeBody()
    }

    /// Returns the preserved values of a deleted object by property name. Values of properties that the entity no longer has are left out.
    /// - Parameter properties: the entity's properties by column.
    static func values(
        _ body: [UInt8], _ layout: RowLayout, _ runtime: EntityRuntime, _ properties: [ColumnID: Int]
    ) throws -> [AnyHashable: Any]? {
        try body.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress, layout.fits(bytes) else { throw HistoryDecoder.Malformed() }
            let row = UnsafeRowView(body: start, byteCount: bytes.count, reference: RowReference(rawValue: 0), version: 0)
            var values: [String: Any] = [:]
            for (position, column) in layout.columns.enumerated() where !row.isNull(layout.access[position]) {
                guard let index = properties[column.id] else { continue }
                let property = runtime.properties[index], kind: PropertyKind = property.kind == .externalData ? .data : property.kind
                guard kind.columnType == column.type else { continue }
                let value = ManagedValue(row: row, access: layout.access[position], kind: kind, slotBase: 0)
                values[property.name] = AttributeCoding.object(value, property: runtime.entity.propertiesByIndex[index], kind: kind)
            }
            let named = runtime.nested(values)
            return named.isEmpty ? nil : named
        }
    }
}

extension EntityRuntime {
    /// Whether the history of a deleted object has this attribute. The elements of a preserved composite are preserved.
    package func isPreserved(_ property: Int) -> Bool {
        [property, declaredIndex(property)].contains {
            (entity.propertiesByIndex[$0] as? NSAttributeDescription)?.preservesValueInHistoryOnDeletion == true
        }
    }
}
