import Foundation
import Heartwood
import RecordLog

/// The primary keys that the rows of a record log get in the tables of a new SQLite file.
///
/// Keys are 1 to 2^47 - 1, so that the file can be opened again.
struct ExportKeys {
    private let keys: SharedTableNumbers
    /// By table ID: the entity's number; 0 for a table without objects.
    private let numbers: [Int64]
    /// By table of the new file: the greatest key that was given.
    let maxima: [String: Int64]
    /// The tables of the new file whose rows have other keys than before.
    let renumbered: Set<String>

    /// - Parameter tables: the entities' tables by table of the new file, in the order of their numbers.
    /// - Throws: 134030 if the keys of a table leave their range.
    init(_ tables: [(name: String, list: [EntityTable])], _ numbers: EntityNumbers, _ snapshot: Snapshot, path: String) throws {
        keys = try SharedTableNumbers(tables.map(\.list), snapshot)
        var byTable = [Int64](repeating: 0, count: tables.flatMap(\.list).map { Int($0.id.rawValue) + 1 }.max() ?? 0)
        for table in tables.flatMap(\.list) { byTable[Int(table.id.rawValue)] = numbers.number(of: table.runtime.entity) ?? 0 }
        var maxima: [String: Int64] = [:], renumbered: Set<String> = []
        for (index, table) in tables.enumerated() {
            guard keys.maxima[index] <= CoreDataRows.keyMax else { throw Self.noRoom(table.name, path) }
            maxima[table.name] = keys.maxima[index]
            if keys.areRenumbered[index] { renumbered.insert(table.name) }
        }
        (self.numbers, self.maxima, self.renumbered) = (byTable, maxima, renumbered)
    }

    private static func noRoom(_ table: String, _ path: String) -> NSError {
        CoreDataFileError.make(
            NSPersistentStoreSaveError, path, "the table \(table) has no room for the keys of all rows",
            "Copy the objects into a new store first, which numbers them from 1.")
    }

    func key(_ reference: RowReference) -> Int64 { keys.number(reference) }

    /// - Returns: 0 for a reference that leads to no entity.
    func entity(_ reference: RowReference) -> Int64 {
        let table = Int(reference.table.rawValue)
        return table < numbers.count ? numbers[table] : 0
    }
}
