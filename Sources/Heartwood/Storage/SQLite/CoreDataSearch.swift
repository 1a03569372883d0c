import Foundation
import RecordLog
internal import SQLiteFile

/// A condition of a predicate that an index of SQLite's can answer: a column is equal to one of some values.
///
/// The rows that it finds are tested by the whole predicate, so the search may find too many, but never too few.
struct CoreDataSearch {
    let property: Int
    let values: [PredicateValue]

    /// The searches of which each finds all rows that a predicate holds for.
    static func all(in node: PredicateNode?, _ runtime: EntityRuntime) -> [CoreDataSearch] {
        switch node {
        case .and(let parts)?: parts.flatMap { all(in: $0, runtime) }
        case .comparison(let comparison)?: search(comparison, runtime).map { [$0] } ?? []
        default: []
        }
    }

    private static func search(_ comparison: PredicateNode.Comparison, _ runtime: EntityRuntime) -> CoreDataSearch? {
        guard comparison.modifier == .direct, comparison.options.isEmpty else { return nil }
        switch (comparison.left, comparison.comparison, comparison.right) {
        case (.keyPath(let keys), .equal, .constant(let value)), (.constant(let value), .equal, .keyPath(let keys)):
            return make(keys, [value], runtime)
        case (.keyPath(let keys), .isIn, .constant(let value)): return value.members.flatMap { make(keys, $0, runtime) }
        case (.keyPath(let keys), .isIn, .aggregate(let list)):
            let values = list.compactMap { if case .constant(let value) = $0 { value } else { nil } }
            return values.count == list.count ? make(keys, values, runtime) : nil
        default: return nil
        }
    }

    private static func make(_ keys: [String], _ values: [PredicateValue], _ runtime: EntityRuntime) -> CoreDataSearch? {
        guard keys.count == 1, let property = runtime.index(of: keys[0]) else { return nil }
        return CoreDataSearch(property: property, values: values)
    }

    /// The values as SQLite stores them.
    /// - Returns: nil if one of them is of another type than the column's, or null, which no index needs to have.
    func stored(_ runtime: EntityRuntime, _ encoding: DatabaseHeader.TextEncoding) -> [SQLiteValue]? {
        let kind = runtime.properties[property].kind, store = runtime.holder
        var result: [SQLiteValue] = []
        for value in values {
            switch (kind, value) {
            case (.string, .text(let text)): result.append(.text(encoding.bytes(text)))
            case (.int16, .integer(let number)), (.int32, .integer(let number)), (.int64, .integer(let number)): result.append(.integer(number))
            case (.date, .date(let seconds)), (.double, .double(let seconds)): result.append(.real(seconds))
            case (.uuid, .uuid(let uuid)): result.append(.blob(withUnsafeBytes(of: uuid.uuid) { Array($0) }))
            case (.toOne, .object(let object)):
                guard let store, let key = object.key(in: store) else { return nil }
                result.append(.integer(Int64(key.row)))
            case (.toOne, .objectID(let id)):
                guard let store, let key = id.key(in: store) else { return nil }
                result.append(.integer(Int64(key.row)))
            default: return nil
            }
        }
        return result
    }
}

extension CoreDataReader {
    /// Finds rows by an index of the file.
    /// - Returns: the index's name, and the rows by key; nil where no index serves one of the searches.
    func rows(_ table: EntityTable, _ searches: [CoreDataSearch]) throws -> (index: String, rows: [RowReference])? {
        for search in searches {
            guard let index = try index(table, search.property), let values = search.stored(table.runtime, file.header.encoding) else { continue }
            var keys: Set<Int64> = []
            for value in values {
                try index.forEachEntry(equalTo: [value]) { entry in
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
