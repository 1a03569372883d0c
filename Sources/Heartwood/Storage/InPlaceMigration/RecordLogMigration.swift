import Foundation
import RecordLog

/// Brings a record log to another version of its model in its own file, in one commit.
///
/// What changes names, comes or goes costs a new catalog and no row: rows name the layout that they were written with. Rows are written where
/// their values change: a default for objects that have none, integers of another width, a relationship that is kept elsewhere now.
///
/// Crash points: before the commit the store is what it was; after it, it is of the new version. Derived attributes follow in a second
/// commit, and the first one says so (`PendingDerivations`).
struct RecordLogMigration {
    let transaction: Transaction
    let comparison: ModelComparison
    private let entities: [NSEntityDescription]

    private var base: Snapshot { transaction.base }

    /// - Precondition: both models are frozen.
    init(_ transaction: Transaction, _ comparison: ModelComparison, configuration: String?) {
        self.transaction = transaction
        self.comparison = comparison
        let model = comparison.destination
        entities = model.entities(forConfigurationName: configuration) ?? model.entities
    }

    /// - Returns: false where one of the changes is none that is made in place; the transaction is not to be committed then.
    func run() throws -> Bool {
        let tables = MigratedTables(comparison, entities, base.catalog)
        guard let relationships = MigratedRelationships(tables, entities, base.catalog) else { return false }
        for table in tables.dropped + relationships.dropped { try transaction.dropTable(table) }
        try transaction.rename(tables: tables.names.merging(relationships.names) { $1 }, columns: tables.columnNames)
        for table in tables.list { try table.changeLayout(transaction) }
        try addNewTables(tables, relationships)
        // From here on rows are written: what is over a table was defined before.
        let moved = try relationships.moved(in: base)
        var hasWritten = try relationships.write(transaction)
        for table in tables.list where try table.rewrite(transaction, moved[table.definition.id] ?? [:]) { hasWritten = true }
        for uniqueness in MigratedUniqueness.all(tables.list, base.catalog) { try uniqueness.check(transaction) }
        let isChanged = hasWritten || !tables.dropped.isEmpty || tables.list.contains(where: \.hasReusedNames)
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
