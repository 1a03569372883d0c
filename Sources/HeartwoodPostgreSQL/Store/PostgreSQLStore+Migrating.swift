import Foundation
import Heartwood
internal import HeartwoodPostgreSQLClient

extension PostgreSQLStore {
    package static var isMigratedWhenAdded: Bool { true }

    package static func migrateInPlace(
        at url: URL, options: [AnyHashable: Any]?, configuration: String?, to model: NSManagedObjectModel, _ comparison: ModelComparison,
        _ dropping: DroppingRule
    ) throws -> Bool {
        comparison.source.makeImmutable()
        model.makeImmutable()
        let location = try StoreLocation(url)
        let change = VersionChange(
            location: location, url: url, configuration: configuration, model: model, comparison: comparison, dropping: dropping)
        return try withConnection(location, NSMigrationError) { try change.run($0, options) }
    }

    /// Makes the new store in a schema beside this one, and moves its tables here in the transaction that drops the old ones. Others may read the
    /// store meanwhile, and wait with their writes.
    package static func remake(at url: URL, options: [AnyHashable: Any]?, _ body: (URL) throws -> Bool) throws {
        let location = try StoreLocation(url), beside = try location.beside(url)
        try withConnection(location, NSMigrationError) { connection in
            try VersionChange.begin(connection, location, options)
            let stored = try StoredSchema(connection, location)
            guard stored.hasStore else { throw StoreFault.missing(location) }
            let names = stored.quotedNames(location)
            // Reading goes on.
            try connection.execute(PostgreSQLStatement("LOCK TABLE \(names) IN EXCLUSIVE MODE", isPrepared: false))
            try removeLeftover(beside)
            do {
                guard try body(beside) else { return try connection.rollback() }
                try exchange(names, stored, StoredSchema(connection, StoreLocation(beside)), location, StoreLocation(beside), connection)
            } catch {
                try? connection.rollback()
                try? removeLeftover(beside)
                throw error
            }
        }
    }

    /// Removes the store that a migration which did not come to its end has left.
    private static func removeLeftover(_ beside: URL) throws {
        let location = try StoreLocation(beside)
        try withConnection(location, NSMigrationError) { connection in
            let left = try StoredSchema(connection, location)
            if left.hasStore { return try destroy(at: beside, options: nil) }
            try left.checkIsEmpty(location)
        }
    }

    private static func exchange(
        _ names: String, _ stored: StoredSchema, _ made: StoredSchema, _ location: StoreLocation, _ beside: StoreLocation,
        _ connection: PostgreSQLConnection
    ) throws {
        let schema = SQLName.quoted(location.schema), other = SQLName.quoted(beside.schema), version = stored.version + 1
        var last = PostgreSQLBatch()
        func add(_ text: String) { last.add(PostgreSQLStatement(text, isPrepared: false)) }
        add("DROP TABLE \(names) CASCADE")
        for name in made.names { add("ALTER TABLE \(other).\(SQLName.quoted(name)) SET SCHEMA \(schema)") }
        add("ALTER TABLE \(schema).\(StoreTables.marker(made.version)) RENAME TO \(StoreTables.marker(version))")
        add("UPDATE \(schema).\(StoreTables.values) SET value = convert_to('\(version)', 'UTF8') WHERE key = '\(StoreTables.Key.version)'")
        add("DROP SCHEMA \(other)")
        try connection.commit(last)
    }
}
