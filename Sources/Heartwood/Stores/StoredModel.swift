import Foundation
import RecordLog

/// What a record log says of itself: for tools that have a file and no model.
package enum StoredModel {
    /// For opening a log without the stack: such as know every index that the stack makes.
    package static var options: StoreOptions {
        var options = StoreOptions()
        options.makeExtractor = SpecifiedKeys.make
        return options
    }

    /// The model that the store at `url` was made with.
    /// - Throws: where the file is no store, holds no model, or cannot be read.
    package static func read(at url: URL, usesMemoryMapping: Bool = true) throws -> NSManagedObjectModel {
        var options = StoreOptions()
        options.isReadOnly = true
        options.usesMemoryMapping = usesMemoryMapping
        let log = try LogStore.open(path: url.path, options: options)
        defer { try? log.close() }
        guard let bytes = try log.snapshot().systemValue(RecordLogSystemRow.model) else {
            throw CoreDataError.make(
                NSPersistentStoreOpenError, "\(url.path): the store holds no model, so it has no entities to show; was it ever saved to?")
        }
        return try NSManagedObjectModel.unarchive(bytes)
    }
}

extension StoredModel {
    /// Brings a store to a version of its model.
    /// - Parameter mapping: nil: what can be inferred.
    package static func migrate(_ url: URL, to model: NSManagedObjectModel, by mapping: NSMappingModel?) throws {
        try StoreMigrator(MigrationEnd(url: url, type: NSRecordLogStoreType, options: nil))
            .migrate(to: model, by: mapping, isAutomatic: false, infers: true)
    }
}

extension NSPersistentStore {
    /// The engine's handle, for what only a record log has; nil for other stores, and once removed.
    package var recordLog: LogStore? { (self as? RecordLogStore)?.log }
}

extension NSManagedObjectContext {
    /// How the newest fetch that a store answered was answered, in words.
    package var lastQueryDescription: String {
        let ways = lastQuery.access.map(\.description)
        return "\(ways.joined(separator: ", ")); \(lastQuery.rowsVisited) rows visited, \(lastQuery.rowsMatched) matched"
    }

    /// How many objects the context holds.
    package var registeredCount: Int { identities.count }
}
