import Foundation
import Heartwood
internal import HeartwoodSQLiteFile

/// Finds rows of an entity and its subentities by key.
final class RowFinder {
    let table: SQLiteTable
    /// Of the entity and its subentities.
    let numbers: Set<Int64>
    private let entityColumn: Int
    private var finder: SQLiteTableCursor

    /// - Returns: nil if the entity has no table.
    init?(_ entity: NSEntityDescription, _ store: ExaminedStore) throws {
        guard let number = store.contents.numbers.number(of: entity), let place = store.layout?.entities[number] else { return nil }
        table = try store.file.table(named: place.table)
        finder = try table.rows()
        numbers = Set(entity.family.compactMap { store.contents.numbers.number(of: $0) })
        guard let column = table.index(ofColumn: "Z_ENT") else { return nil }
        entityColumn = column
    }

    /// - Returns: nil if there is no such row; 0 for a row without an entity number.
    func entity(ofRow key: Int64) throws -> Int64? { try finder.find(key) ? try finder.row.integer(entityColumn) ?? 0 : nil }

    /// A value of the row that was found last.
    func integer(_ column: Int) throws -> Int64? { try finder.row.integer(column) }
}

/// Finds rows of a table by key.
final class KeyFinder {
    private var cursor: SQLiteTableCursor

    init(_ table: SQLiteTable) throws { cursor = try table.rows() }

    func has(_ key: Int64) throws -> Bool { try cursor.find(key) }
}
