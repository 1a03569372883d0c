import Foundation
import Heartwood
internal import HeartwoodPostgreSQLClient
import RecordLog

/// Copies whole stores between record logs and a database.
///
/// The new store has the same identifier and the same numbers of rows, so URIs of objects stay what they are. Its history is empty.
package struct StoreTransfer: Sendable {
    let location: StoreLocation

    /// - Throws: 134080 for a URL that names no database.
    package init(_ url: URL) throws { location = try StoreLocation(url) }

    /// Whether a text is the URL of a store in a database.
    package static func isURL(_ text: String) -> Bool { ["postgresql://", "postgres://"].contains { text.lowercased().hasPrefix($0) } }

    /// The location without secrets.
    package var shown: String { location.shown }

    // MARK: In

    /// Makes a store of the newest commit of a record log.
    ///
    /// Crash points: each table's rows are a transaction (`LoadSteps`). A conversion that was cut off goes on with the next call, if the record log has
    /// had no commit since; until the end there is no store.
    /// - Parameters:
    ///   - store: of the coordinator, with the coordinator's model.
    ///   - identifier: nil for that of the record log.
    ///   - verifies: whether the rows of a table are read back before its commit.
    ///   - progress: called now and then with two numbers: the rows that the database has, and all rows.
    /// - Throws: 134020 if the schema has tables; 1550 for a value that the server cannot have, with the object; 134110 for a damaged log; 133000,
    ///   134111 where references or unique values contradict each other. The schema is as before then. Where the connection is lost, it has what was
    ///   done so far.
    /// - Complexity: O(rows); memory that does not grow with them.
    package func load(
        _ store: NSPersistentStore, of coordinator: NSPersistentStoreCoordinator, identifier: String? = nil, verifies: Bool = true,
        progress: @escaping (Int, Int) -> Void = { _, _ in }
    ) throws -> LoadReport { try fill(store, coordinator, identifier, verifies, progress).report }

    /// The rows of a store that was written, for the IDs of its objects in the new one.
    struct LoadedRows {
        let report: LoadReport
        let view: RecordLogView
        let numbers: SharedTableNumbers
    }

    func fill(
        _ store: NSPersistentStore, _ coordinator: NSPersistentStoreCoordinator, _ identifier: String?, _ verifies: Bool,
        _ progress: @escaping (Int, Int) -> Void
    ) throws -> LoadedRows {
        guard let log = store.logOfRows else {
            throw CoreDataError.unsupported("A store of the type \(store.type) has no rows that can be copied; convert it to a record log first.")
        }
        let model = coordinator.managedObjectModel, view = try log.newestLogView()
        return try PostgreSQLStore.withConnection(location, NSPersistentStoreSaveError) { connection in
            let layout = try draft(model.entities(forConfigurationName: store.configuration) ?? model.entities)
            // Two copies of a file may have commits of one number; their checksums differ.
            let source = "\(store.identifier ?? "") \(view.snapshot.sequence) \(view.snapshot.commitChecksum)"
            let steps = try LoadSteps(location, connection, layout, source: source)
            do {
                var load = try TableLoad(view, layout, connection, verifies: verifies, progress)
                try load.run(steps)
                try steps.finish(try values(of: store, model, identifier), load.givingOut())
                var report = load.report
                report.transactions = try transactions(of: store)
                return LoadedRows(report: report, view: view, numbers: load.numbers)
            } catch {
                // Only behind a lost connection may the same call succeed, and go on with the tables that are done.
                if connection.isOpen { try? steps.giveUp() }
                throw error
            }
        }
    }

    /// The layout of a new store's tables.
    private func draft(_ entities: [NSEntityDescription]) throws -> PostgreSQLLayout {
        try SchemaText.layout(of: entities, in: location.schema)
    }

    private func values(of store: NSPersistentStore, _ model: NSManagedObjectModel, _ identifier: String?) throws -> [String: Data] {
        var metadata = store.metadata ?? [:]
        metadata[NSStoreTypeKey] = NSPostgreSQLStoreType
        metadata[NSStoreUUIDKey] = identifier ?? store.identifier
        RecordLogMetadata.setVersion(of: model, configuration: store.configuration, in: &metadata)
        return try StoreTables.values(metadata, model)
    }

    private func transactions(of store: NSPersistentStore) throws -> Int {
        guard let history = try store.seam.historyStore?.newestHistory() else { return 0 }
        var count = 0
        try history.forEach(try history.selection(.any), isWhole: false) { _ in
            count += 1
            return true
        }
        return count
    }
}
