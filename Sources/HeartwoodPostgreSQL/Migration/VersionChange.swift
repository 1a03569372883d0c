import Foundation
import Heartwood
internal import HeartwoodPostgreSQLClient
import RecordLog

/// A change of a store's version in one transaction: its tables, its entities' numbers, its metadata, and the marker of its version.
///
/// One client at a time changes a schema (an advisory lock). Others that have the store open are waited for at the marker, which each of their
/// statements names; behind the change the server refuses their statements.
struct VersionChange {
    let location: StoreLocation
    let url: URL
    let configuration: String?
    let model: NSManagedObjectModel
    let comparison: ModelComparison
    let dropping: DroppingRule

    /// Begins a transaction that changes a store's tables, and waits for others at most as long as a save does.
    static func begin(_ connection: PostgreSQLConnection, _ location: StoreLocation, _ options: [AnyHashable: Any]?) throws {
        let timeout = (options?[NSPersistentStoreTimeoutOption] as? NSNumber)?.doubleValue ?? NSPersistentStore.defaultTimeout
        // They would be waited for.
        _ = try SavesInDoubt(location).settle(connection)
        try connection.execute(StoreCreation.beginning(location, timeout: Int(min(max(timeout, 0.001), 1_000_000) * 1000)))
    }

    /// - Returns: false where objects have to be copied; nothing has happened then.
    func run(_ connection: PostgreSQLConnection, _ options: [AnyHashable: Any]?) throws -> Bool {
        try Self.begin(connection, location, options)
        let stored = try StoredSchema(connection, location)
        guard var metadata = try stored.metadata() else { throw StoreFault.missing(location) }
        // Another client has migrated it meanwhile.
        if metadata[NSStoreModelVersionHashesKey] as? [String: Data] == RecordLogMetadata.hashes(of: model, configuration: configuration) {
            try connection.rollback()
            return true
        }
        guard comparison.source.isConfiguration(withName: configuration, compatibleWithStoreMetadata: metadata) else {
            throw RecordLogMetadata.mismatch(path: location.shown, model: comparison.source, configuration: configuration, metadata: metadata)
        }
        let old = try layout(of: comparison.source, numbers: stored.numbers, version: stored.version)
        try stored.check(old, location)
        try connection.execute(PostgreSQLStatement("LOCK TABLE \(old.marker) IN ACCESS EXCLUSIVE MODE", isPrepared: false))
        let dropped = try DroppedObjects(comparison) { try count($0, old, connection) }
        try dropping.check(dropped, url)
        let (numbers, highest) = numbers(stored)
        let new = try layout(of: model, numbers: numbers, version: stored.version + 1)
        guard let migration = try PostgreSQLMigration(VersionMapping(old, new, comparison), connection), try migration.run() else {
            try connection.rollback()
            return false
        }
        let former = metadata
        RecordLogMetadata.setVersion(of: model, configuration: configuration, in: &metadata)
        FormerVersions.note(former, in: &metadata)
        try finish(old, new, metadata, highest, connection)
        dropping.tell(dropped, url)
        return true
    }

    private func layout(of model: NSManagedObjectModel, numbers: [String: Int16], version: Int) throws -> PostgreSQLLayout {
        let entities = model.entities(forConfigurationName: configuration) ?? model.entities
        return try SchemaText.layout(of: entities, in: location.schema, path: location.shown, numbers: numbers, version: version)
    }

    private func count(_ entity: NSEntityDescription, _ old: PostgreSQLLayout, _ connection: PostgreSQLConnection) throws -> Int {
        guard let bound = old.entities.first(where: { $0.description === entity }) else { return 0 }
        let statement = PostgreSQLStatement(
            "SELECT count(*) FROM \(old.families[bound.family].quoted) WHERE \(FamilyTable.entity) = \(bound.number)", isPrepared: false)
        return Int(try connection.execute(statement).int64(0, 0))
    }

    /// An entity keeps its number. No other one gets it, even if it goes: rows and the history name entities by it.
    private func numbers(_ stored: StoredSchema) -> (numbers: [String: Int16], highest: Int16) {
        var numbers: [String: Int16] = [:], highest = stored.highestNumber
        let entities = model.entities(forConfigurationName: configuration) ?? model.entities
        for entity in entities where !entity.isAbstract {
            let name = entity.name ?? ""
            if let pair = comparison.pair(to: entity), let known = stored.numbers[pair.source.name ?? ""] {
                numbers[name] = known
            } else {
                highest &+= 1
                numbers[name] = highest
            }
        }
        return (numbers, highest)
    }

    private func finish(
        _ old: PostgreSQLLayout, _ new: PostgreSQLLayout, _ metadata: [String: Any], _ highest: Int16, _ connection: PostgreSQLConnection
    ) throws {
        var last = PostgreSQLBatch()
        func add(_ text: String) { last.add(PostgreSQLStatement(text, isPrepared: false)) }
        add("DELETE FROM \(location.table(StoreTables.entities))")
        for text in SchemaStatements(new).entities { add(text) }
        add("ALTER TABLE \(old.marker) RENAME TO \(StoreTables.marker(new.version))")
        var values = try StoreTables.values(metadata, model, version: new.version)
        values[StoreTables.Key.numbers] = Data("\(highest)".utf8)
        try StoreTables.set(values, in: location, to: &last)
        let view = PostgreSQLView(SchemaText.unlisted, new, RowCopies(), changes: 0) { try connection.execute($0, $1) }
        if var derived = DerivedSave(new, connection, view) {
            // The statements name the new version's marker.
            try connection.execute(last)
            last = PostgreSQLBatch()
            try derived.runWhole()
        }
        try connection.commit(last)
    }
}
