import Foundation
import Heartwood
internal import HeartwoodSQLiteFile
import RecordLog

/// A condition of a predicate that an index of SQLite's can answer: a column is equal to one of some values.
///
/// The rows that it finds are tested by the whole predicate, so the search may find too many, but never too few.
struct CoreDataSearch {
    let property: Int
    let values: [PredicateValue]

    /// The searches of which each finds all rows that the comparisons hold for.
    static func all(_ comparisons: [RequiredComparison]) -> [CoreDataSearch] {
        comparisons.filter { $0.comparison == .equal || $0.comparison == .isIn }.map { CoreDataSearch(property: $0.property, values: $0.values) }
    }

    /// The keys of an index between which all rows are that the search finds, in SQLite's order.
    /// - Returns: nil if one of the values is of another type than the column's, or null, which no index needs to have.
    func ranges(_ runtime: EntityRuntime, _ encoding: DatabaseHeader.TextEncoding) -> [ClosedKeys]? {
        let kind = runtime.properties[property].kind, store = runtime.holder
        var result = Self.changedWhenRead(kind)
        for value in values {
            switch (kind, value) {
            // Foreign bytes are read as U+FFFD.
            case (.string, .text(let text)) where !text.unicodeScalars.contains("\u{FFFD}"):
                result.append(ClosedKeys(.text(encoding.bytes(text))))
            case (.int16, .integer(let number)), (.int32, .integer(let number)), (.int64, .integer(let number)):
                // A real is cut when it is read.
                result.append(ClosedKeys(.integer(max(number, .min + 1) - 1), .integer(min(number, .max - 1) + 1)))
            case (.date, .date(let seconds)), (.double, .double(let seconds)): result.append(ClosedKeys(.real(seconds)))
            case (.uuid, .uuid(let uuid)): result.append(ClosedKeys(.blob(withUnsafeBytes(of: uuid.uuid) { Array($0) })))
            case (.toOne, .object(let object)):
                guard let store, let key = object.key(in: store) else { return nil }
                result.append(ClosedKeys(.integer(Int64(key.row))))
            case (.toOne, .objectID(let id)):
                guard let store, let key = id.key(in: store) else { return nil }
                result.append(ClosedKeys(.integer(Int64(key.row))))
            default: return nil
            }
        }
        return result
    }

    /// What a column of Core Data's never has, though a file may: reading changes it, to any value.
    private static func changedWhenRead(_ kind: PropertyKind) -> [ClosedKeys] {
        func outside(_ least: Int64, _ greatest: Int64) -> [ClosedKeys] {
            [ClosedKeys(.real(-.infinity), .integer(least - 1)), ClosedKeys(.integer(greatest + 1), .real(.infinity))]
        }
        return switch kind {
        case .int16: outside(Int64(Int16.min), Int64(Int16.max))
        case .int32: outside(Int64(Int32.min), Int64(Int32.max))
        // A UUID may be written as text. Texts come before data.
        case .uuid: [ClosedKeys(.text([]), .blob([]))]
        default: []
        }
    }
}

/// A range of an index's first column, with both ends.
struct ClosedKeys {
    let lower: SQLiteValue
    let upper: SQLiteValue

    init(_ lower: SQLiteValue, _ upper: SQLiteValue) { (self.lower, self.upper) = (lower, upper) }
    init(_ value: SQLiteValue) { self.init(value, value) }
}

extension CoreDataReader {
    /// Finds rows by an index of the file.
    /// - Returns: the index's name, and the rows by key; nil where no index serves one of the searches.
    func rows(_ table: EntityTable, _ searches: [CoreDataSearch]) throws -> (index: String, rows: [RowReference])? {
        for search in searches {
            guard let index = try index(table, search.property), let ranges = search.ranges(table.runtime, file.header.encoding) else { continue }
            var keys: Set<Int64> = []
            for range in ranges {
                try index.forEachEntry(from: [range.lower], through: [range.upper]) { entry in
                    if entry.rowid > 0, entry.rowid <= CoreDataRows.keyMax { keys.insert(entry.rowid) }
                    return true
                }
            }
            return (index.name, keys.sorted().map { RowReference(table: table.id, row: UInt64($0)) })
        }
        return nil
    }

    /// The row that an index entry leads to; nil for a key that no object can have.
    static func reference(_ rowid: Int64, in table: EntityTable) -> RowReference? {
        rowid > 0 && rowid <= CoreDataRows.keyMax ? RowReference(table: table.id, row: UInt64(rowid)) : nil
    }

    /// An index of the file that begins with the column of a property.
    func index(_ table: EntityTable, _ property: Int) throws -> SQLiteIndex? {
        guard let entity = layout.entity(table.runtime.entity) else { return nil }
        let column: String
        switch entity.places[property] {
        case .column(let name)?, .toOne(let name, _)?: column = name
        case .inverse?, .join?, nil: return nil
        }
        return try index(beginningWith: column, of: entity.table)
    }
}
