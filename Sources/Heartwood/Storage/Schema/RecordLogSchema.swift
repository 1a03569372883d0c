import Foundation
import RecordLog

/// How a model lies in a record log: which table, columns and indexes each entity has, and where each relationship is.
///
/// - Each concrete entity has a table of its own, with a column for each persistent attribute and to-one relationship.
/// - A to-many relationship whose inverse is to-one has no storage: it is a range of the index over the inverse's column.
/// - Any other to-many relationship (many-to-many, ordered, or without an inverse) has a join table.
///
/// Immutable; made when a store is loaded.
final class RecordLogSchema: Sendable {
    /// By table ID.
    let tables: [EntityTable?]
    /// The same, for loops over rows, which count no references.
    private let unretained: [Unmanaged<EntityTable>?]
    let links: [JoinTable]
    /// nil where nothing is derived.
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

    func table(_ id: TableID) -> EntityTable? {
        let index = Int(id.rawValue)
        return index < tables.count ? tables[index] : nil
    }

    /// The same, valid as long as the schema is held.
    @inline(__always)
    func unretainedTable(_ id: TableID) -> Unmanaged<EntityTable>? {
        let index = Int(id.rawValue)
        return index < unretained.count ? unretained[index] : nil
    }

    /// The table of an object's row; nil for a key of another store.
    /// - Parameter slotBase: the store's.
    func table(of key: ObjectKey, slotBase: UInt64) -> EntityTable? {
        UInt16(exactly: (key.rawValue >> 48) &- (slotBase >> 48)).flatMap { table(TableID(rawValue: $0)) }
    }

    /// Whether `key` is of a table of this store.
    func holds(_ key: ObjectKey, slotBase: UInt64) -> Bool { table(of: key, slotBase: slotBase) != nil }

    /// The table of an entity's rows.
    /// - Parameter slotBase: the store's.
    /// - Throws: where the runtime is of a store that this one was exchanged for.
    func table(of runtime: EntityRuntime, slotBase: UInt64) throws -> EntityTable {
        let id = TableID(rawValue: UInt16(truncatingIfNeeded: UInt64(runtime.slot) &- (slotBase >> 48)))
        guard let table = table(id), table.runtime === runtime else { throw CoreDataError.noStore(for: runtime.entity) }
        return table
    }
}
