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
    /// - Parameters:
    ///   - acceptsDamage: whether a damaged store gives the model of the commit before the damage.
    ///   - tell: called with what is damaged, where that is accepted.
    /// - Throws: where the file is no store, holds no model, or cannot be read.
    package static func read(at url: URL, usesMemoryMapping: Bool = true, acceptsDamage: Bool = false, _ tell: (StoreError) -> Void = { _ in }) throws
        -> NSManagedObjectModel
    {
        let log = try open(url, usesMemoryMapping, acceptsDamage)
        defer { try? log.close() }
        if let damage = log.damage { tell(damage) }
        guard let bytes = try log.snapshot().systemValue(RecordLogSystemRow.model) else {
            throw CoreDataError.make(
                NSPersistentStoreOpenError, "\(url.path): the store holds no model, so it has no entities to show; was it ever saved to?")
        }
        return try NSManagedObjectModel.unarchive(bytes)
    }

    /// The name of the configuration that the store at `url` was added under; nil where that was none, or there is no store yet.
    /// - Parameter acceptsDamage: whether a damaged store gives that of the commit before the damage.
    /// - Throws: where the file is no store, or cannot be read.
    package static func configuration(at url: URL, usesMemoryMapping: Bool = true, acceptsDamage: Bool = false) throws -> String? {
        guard isThere(url) else { return nil }
        let log = try open(url, usesMemoryMapping, acceptsDamage)
        defer { try? log.close() }
        return try RecordLogMetadata.configuration(in: log.snapshot())
    }

    /// Whether a file at `url` has anything in it; an empty one is a store to be.
    package static func isThere(_ url: URL) -> Bool {
        let found = try? FileManager.default.attributesOfItem(atPath: url.resolvingSymlinksInPath().path)
        return found.map { ($0[.size] as? NSNumber)?.intValue != 0 } ?? false
    }

    private static func open(_ url: URL, _ usesMemoryMapping: Bool, _ acceptsDamage: Bool) throws -> LogStore {
        var options = StoreOptions()
        options.isReadOnly = true
        options.usesMemoryMapping = usesMemoryMapping
        options.acceptsDamage = acceptsDamage
        return try LogStore.open(path: url.path, options: options)
    }
}
