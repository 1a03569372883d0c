import Foundation
import Heartwood
import RecordLog

/// The primary keys that the rows of a record log get in the tables of a new SQLite file.
///
/// (1) A row keeps its number if no other row of its hierarchy's table has it. Then the URIs of objects stay.
/// (2) Otherwise the rows of the hierarchy's second entity come behind all numbers of the first, and so on. So a key is the row's number and a
///     constant of its entity, and needs no list.
/// (3) Keys are 1 to 2^47 - 1, so that the file can be opened again.
struct ExportKeys {
    /// By table ID: the entity's number; 0 for a table without objects.
    private let numbers: [Int64]
    /// By table ID: the constant that is added to a row's number.
    private let offsets: [Int64]
    /// By table of the new file: the greatest key that was given.
    let maxima: [String: Int64]
    /// The tables of the new file whose rows have other keys than before.
    let renumbered: Set<String>

    /// - Parameter tables: the entities' tables by table of the new file, in the order of their numbers.
    /// - Throws: 134030 if the keys of a table leave their range.
    init(_ tables: [(name: String, list: [EntityTable])], _ numbers: EntityNumbers, _ snapshot: Snapshot, path: String) throws {
        let count = tables.flatMap(\.list).map { Int($0.id.rawValue) + 1 }.max() ?? 0
        var byTable = [Int64](repeating: 0, count: count), offsets = byTable, maxima: [String: Int64] = [:], renumbered: Set<String> = []
        for (name, list) in tables {
            let isShared = try Self.shareKeys(list, snapshot)
            if isShared { renumbered.insert(name) }
            var greatest: Int64 = 0
            for table in list {
                let id = Int(table.id.rawValue), last = Int64(clamping: max(snapshot.rowLimit(table.id), 1) - 1)
                byTable[id] = numbers.number(of: table.runtime.entity) ?? 0
                offsets[id] = isShared ? greatest : 0
                greatest = isShared ? greatest + last : max(greatest, last)
                guard greatest <= CoreDataRows.keyMax else { throw Self.noRoom(name, path) }
            }
            maxima[name] = greatest
        }
        self.numbers = byTable
        self.offsets = offsets
        self.maxima = maxima
        self.renumbered = renumbered
    }

    private static func noRoom(_ table: String, _ path: String) -> NSError {
        CoreDataFileError.make(
            NSPersistentStoreSaveError, path, "the table \(table) has no room for the keys of all rows",
            "Copy the objects into a new store first, which numbers them from 1.")
    }

    private static func shareKeys(_ tables: [EntityTable], _ snapshot: Snapshot) throws -> Bool {
        guard tables.count > 1 else { return false }
        var rows = MergedRows(tables.map(\.id), snapshot) { Int64($0.row) }, last: Int64 = 0
        while let row = try rows.next() {
            if row.key == last { return true }
            last = row.key
        }
        return false
    }

    func key(_ reference: RowReference) -> Int64 {
        let table = Int(reference.table.rawValue)
        return Int64(reference.row) + (table < offsets.count ? offsets[table] : 0)
    }

    /// - Returns: 0 for a reference that leads to no entity.
    func entity(_ reference: RowReference) -> Int64 {
        let table = Int(reference.table.rawValue)
        return table < numbers.count ? numbers[table] : 0
    }
}
