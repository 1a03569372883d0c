import Foundation
import RecordLog

/// What a store's fetch indexes lack of its model. A model may get other indexes without getting another version.
package struct StoredIndexChanges: Sendable {
    /// "Entity.index".
    package let missing: [String]
    package let dropped: [String]
    package let renamed: [(old: String, new: String)]

    package var isEmpty: Bool { missing.isEmpty && dropped.isEmpty && renamed.isEmpty }

    init(_ changes: IndexChanges, _ catalog: Catalog) {
        func title(_ table: TableID, _ name: String) -> String {
            "\(catalog.table(table)?.name ?? "?").\(name.dropFirst(RecordLogNames.index("").count))"
        }
        func title(_ index: IndexID) -> String { catalog.index(index).map { title($0.table, $0.name) } ?? "?" }
        missing = changes.missing.map { title($0.table, $0.name) }
        dropped = changes.stale.map(title)
        renamed = changes.renamed.map { id, name in (title(id), title(catalog.index(id)?.table ?? .system, name)) }.sorted { $0.old < $1.old }
    }
}

extension StoredModel {
    /// The changes of fetch indexes that a model of the store's version asks for.
    /// - Parameter configuration: the store's; nil for none.
    package static func indexChanges(
        of url: URL, to model: NSManagedObjectModel, configuration: String?
    ) throws -> StoredIndexChanges {
        let entities = model.entities(forConfigurationName: configuration) ?? model.entities
        return try RecordLogFiles.with(url, nil, isReadOnly: true) { log in
            let catalog = log.snapshot().catalog
            return StoredIndexChanges(IndexChanges(IndexPlans(entities), catalog), catalog)
        }
    }

    /// Opens the store as a program does, and waits until its fetch indexes are those of the model.
    /// - Throws: also if an index could not be built; those before it are there.
    package static func buildIndexes(of url: URL, to model: NSManagedObjectModel, configuration: String?) throws {
        let coordinator = NSPersistentStoreCoordinator(unlisted: model)
        let store = try coordinator.addPersistentStore(ofType: NSRecordLogStoreType, configurationName: configuration, at: url, options: nil)
        store.ownLog?.indexing.wait()
        let failure = store.indexingError
        try coordinator.remove(store)
        if let failure { throw failure }
    }
}
