import Foundation
import RecordLog

/// Migrates a record log to another version of its model in place, in one commit.
///
/// Renamed, added and removed tables and columns change the catalog and no row: each row names the layout it was written with. The new layout
/// states the value of objects that have none. Rows are rewritten where their values change: integers of another width, a relationship with
/// another storage, a default that a layout cannot state.
///
/// Crash points: before the commit the store has the old version; after it, the new one. A second commit computes derived attributes, and
/// the first one marks them (`PendingDerivations`).
struct RecordLogMigration {
    let transaction: Transaction
    let comparison: ModelComparison
    private let entities: [NSEntityDescription]

    private var base: Snapshot { transaction.base }

    /// - Precondition: both models are immutable.
    init(_ transaction: Transaction, _ comparison: ModelComparison, configuration: String?) {
        self.transaction = transaction
        self.comparison = comparison
        let model = comparison.destination
        entities = model.entities(forConfigurationName: configuration) ?? model.entities
    }

    /// - Returns: false where a change cannot be made in place; the caller must not commit the transaction then.
    func run() throws -> Bool {
        let tables = MigratedTables(comparison, entities, base.catalog)
        guard let relationships = MigratedRelationships(tables, entities, base.catalog) else { return false }
        for table in tables.dropped + relationships.dropped { try transaction.dropTable(table) }
        try transaction.rename(tables: tables.names.merging(relationships.names) { $1 }, columns: tables.columnNames)
        for table in tables.list { try table.changeLayout(transaction) }
        try addNewTables(tables, relationships)
        // Rows are written from here on, so all tables and indexes must be defined.
        let moved = try relationships.moved(in: base)
        var hasChanged = try relationships.write(transaction)
        for table in tables.list where try table.rewrite(transaction, moved[table.definition.id] ?? [:]) { hasChanged = true }
        for uniqueness in MigratedUniqueness.all(tables.list, base.catalog) { try uniqueness.check(transaction) }
        let isChanged = hasChanged || !tables.dropped.isEmpty || tables.list.contains(where: \.hasReusedNames)
        try PendingDerivations.note(comparison, entities, in: transaction, isChanged: isChanged)
        return true
    }

    private func addNewTables(_ tables: MigratedTables, _ relationships: MigratedRelationships) throws {
        let writer = RecordLogSchemaWriter(transaction: transaction, entities: entities)
        for entity in tables.added { try writer.defineTable(of: entity) }
        for table in tables.list { try table.changeIndexes(transaction) }
        for plan in relationships.added { try writer.defineLink(plan) }
    }
}
