import Foundation
import RecordLog

/// An order of rows: builds a key for each row, and keys sort bytewise as the rows do.
package struct RowOrder {
    private struct Part {
        /// Property indexes from the row's table on, through to-one relationships.
        let path: [Int]
        let isAscending: Bool
        let textOrder: NSSortDescriptor.TextOrder
    }

    /// A first sort key that is a number.
    private struct Leading {
        let layouts: EntityRuntime.Layouts
        let property: Int
        let isWhole: Bool
        let isAscending: Bool
    }

    private let parts: [Part]
    private let table: EntityTable
    private let leading: Leading?

    /// - Parameter readsOtherRows: false where the order may read only the row's own columns.
    /// - Returns: nil where a key is transient, or data outside the row.
    package init?(_ keys: [SortKey], table: EntityTable, readsOtherRows: Bool = true) {
        self.table = table
        var parts: [Part] = []
        for key in keys {
            guard readsOtherRows || key.path.count == 1 else { return nil }
            var entity = table.runtime.entity
            var path: [Int] = []
            for name in key.path {
                guard let index = entity.propertyIndexByName[name] else { return nil }
                let property = entity.propertiesByIndex[index]
                guard !property.isTransient, let type = PropertyKind(property).columnType, type != .value else { return nil }
                path.append(index)
                if let relationship = property as? NSRelationshipDescription, let destination = relationship.destinationEntity {
                    entity = destination
                }
            }
            parts.append(Part(path: path, isAscending: key.isAscending, textOrder: key.textOrder))
        }
        self.parts = parts
        leading = parts.first.flatMap { first in
            guard first.path.count == 1, let index = first.path.first else { return nil }
            let codec = PropertyKind(table.runtime.entity.propertiesByIndex[index]).codec
            // A Boolean's key is a byte.
            guard let raw = codec?.raw, raw != .decimal, codec?.number != .flag else { return nil }
            return Leading(layouts: table.runtime.layouts, property: index, isWhole: raw == .integer, isAscending: first.isAscending)
        }
    }

    /// Returns the value of `RowSorter.prefix` for a row without building its key; nil where the key is needed.
    @inline(__always)
    func prefix(of row: UnsafeRowView) -> UInt64? {
        guard let leading, let access = leading.layouts.access(leading.property, in: row) else { return nil }
        let word = leading.isWhole ? KeyBuilder.word(of: row.int64(access)) : KeyBuilder.word(of: row.double(access))
        return leading.isAscending ? RowSorter.prefix(word, isHigh: true) : RowSorter.prefix(~word, isHigh: false)
    }

    /// Whether the order needs `LocalizedKey`, because bytes alone do not give it.
    package var isLocalized: Bool { parts.contains(where: \.textOrder.isLocalized) }

    /// The order as columns of the table itself; nil where it goes through a relationship, or no index can have it.
    var directParts: [TableIndex.Part]? {
        var result: [TableIndex.Part] = []
        for part in parts {
            guard part.path.count == 1, part.textOrder == .literal else { return nil }
            result.append(TableIndex.Part(property: part.path[0], isAscending: part.isAscending))
        }
        return result
    }

    func appendKey(of row: UnsafeRowView, to key: KeyBuilder, _ scope: QueryScope) throws {
        for part in parts { try append(part, of: row, to: key, scope) }
    }

    private func append(_ part: Part, of row: UnsafeRowView, to key: KeyBuilder, _ scope: QueryScope) throws {
        guard let (row, access) = try column(part, of: row, scope) else { return key.appendNull(descending: !part.isAscending) }
        guard part.textOrder == .caseInsensitive, !access.isAbsent, !row.isNull(access) else {
            return key.append(column: access, of: row, descending: !part.isAscending)
        }
        let bytes = row.bytes(access)
        if let folded = scope.folding(.caseInsensitive).folded(bytes) {
            key.append(bytes: folded, descending: !part.isAscending)
        } else {
            key.append(text: TextMatcher.fold(String(stored: bytes), .caseInsensitive), descending: !part.isAscending)
        }
    }

    /// Returns the column at the end of a part's path, and its row; nil where a relationship on the path is null.
    @inline(__always)
    private func column(_ part: Part, of row: UnsafeRowView, _ scope: QueryScope) throws -> (UnsafeRowView, ColumnAccess)? {
        var row = row
        var runtime = table.runtime
        for (position, index) in part.path.enumerated() {
            guard let access = runtime.access(index, in: row) else { return nil }
            if position == part.path.count - 1 { return (row, access) }
            let reference = row.reference(access)
            guard let next = try scope.row(reference), let owner = scope.table(reference.table) else { return nil }
            row = next
            runtime = owner.runtime
        }
        return nil
    }

    // MARK: Localized text

    /// Returns a row's key, part by part.
    func localizedKey(of row: UnsafeRowView, _ scope: QueryScope) throws -> LocalizedKey {
        let key = scope.key
        return LocalizedKey(parts: try parts.map { part in
            guard part.textOrder.isLocalized else {
                key.removeAll()
                try append(part, of: row, to: key, scope)
                return .bytes(key.bytes)
            }
            guard let (row, access) = try column(part, of: row, scope), !access.isAbsent, !row.isNull(access) else {
                return .text(nil, part.textOrder, isAscending: part.isAscending)
            }
            return .text(String(stored: row.bytes(access)), part.textOrder, isAscending: part.isAscending)
        })
    }
}
