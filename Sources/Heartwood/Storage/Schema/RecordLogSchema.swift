import Foundation
import RecordLog

/// The mapping of a model to a record log: the table, columns and indexes of each entity, and the storage of each relationship.
///
/// - Each concrete entity has its own table, with a column for each persistent attribute and to-one relationship.
/// - A to-many relationship whose inverse is to-one has no storage: it is a range of the index over the inverse's column.
/// - Any other to-many relationship (many-to-many, ordered, or without an inverse) has a join table.
///
/// Immutable; built when a store is loaded.
package final class RecordLogSchema: Sendable {
    /// By table ID.
    package let tables: [EntityTable?]
    /// The same tables, for loops over rows without retain and release.
    private let unretained: [Unmanaged<EntityTable>?]
    let links: [JoinTable]
    /// nil where the model has no derived attributes.
    let derivations: DerivationWatches?

    init(tables: [EntityTable], links: [JoinTable]) {
        var byID: [EntityTable?] = []
        for table in tables {
            let id = Int(table.id.rawValue)
            while byID.count <= id { byID.append(nil) }
            byID[id] = table
        }
        self.tables = byID
        unretained = byID.map { $0.map(Unmanaged.passUnretained) }
        self.links = links
        derivations = DerivationWatches(tables)
    }

    package func table(_ id: TableID) -> EntityTable? {
        let index = Int(id.rawValue)
        return index < tables.count ? tables[index] : nil
    }

    /// Returns a table that is valid as long as the schema is held.
    @inline(__always)
    func unretainedTable(_ id: TableID) -> Unmanaged<EntityTable>? {
        let index = Int(id.rawValue)
        return index < unretained.count ? unretained[index] : nil
    }

    /// Returns the table of an object's row; nil for a key of another store.
    /// - Parameter slotBase: the store's slot base.
    package func table(of key: ObjectKey, slotBase: UInt64) -> EntityTable? {
        UInt16(exactly: (key.rawValue >> 48) &- (slotBase >> 48)).flatMap { table(TableID(rawValue: $0)) }
    }

    /// Whether `key` belongs to a table of this store.
    func holds(_ key: ObjectKey, slotBase: UInt64) -> Bool { table(of: key, slotBase: slotBase) != nil }

    /// Returns the table of an entity's rows.
    /// - Parameter slotBase: the store's slot base.
    /// - Throws: where the runtime belongs to a store that was replaced by this one.
    package func table(of runtime: EntityRuntime, slotBase: UInt64) throws -> EntityTable {
        let id = TableID(rawValue: UInt16(truncatingIfNeeded: UInt64(runtime.slot) &- (slotBase >> 48)))
        guard let table = table(id), table.runtime === runtime else { throw CoreDataError.noStore(for: runtime.entity) }
        return table
    }
}
