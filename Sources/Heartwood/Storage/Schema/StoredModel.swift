import Foundation
import RecordLog

/// Reads the model in a record log, for tools that have a file and no model.
package enum StoredModel {
    /// Options for opening a log without the stack; they include the stack's index key extractors.
    package static var options: StoreOptions {
        var options = StoreOptions()
        options.makeExtractor = SpecifiedKeys.make
        return options
    }

    /// Reads the model of the store at `url`.
    /// - Parameters:
    ///   - acceptsDamage: for a damaged store, whether to return the model of the last commit before the damage.
    ///   - past: the commit whose model is wanted; nil for the newest.
    ///   - report: called with the damage that was accepted.
    /// - Throws: where the file is no store, contains no model, or cannot be read.
    package static func read(
        at url: URL, usesMemoryMapping: Bool = true, acceptsDamage: Bool = false, asOf past: PastCommit? = nil,
        _ report: (StoreError) -> Void = { _ in }
    ) throws -> NSManagedObjectModel {
        let log = try open(url, usesMemoryMapping, acceptsDamage, past)
        defer { try? log.close() }
        if let damage = log.damage { report(damage) }
        guard let model = try model(in: log.snapshot()) else {
            throw CoreDataError.make(
                NSPersistentStoreOpenError, "\(url.path): the store holds no model, so it has no entities to show; was it ever saved to?")
        }
        return model
    }

    /// Returns the model that the snapshot's store holds; nil for none.
    static func model(in snapshot: Snapshot) throws -> NSManagedObjectModel? {
        // The snapshot is the caller's, so its bytes stay while they are read, also when a compaction replaces the file.
        try snapshot.unsafeSystemValue(RecordLogSystemRow.model).map { try NSManagedObjectModel.unarchive($0) }
    }

    /// Returns the configuration with which the store at `url` was added; nil for none, or where no store exists yet.
    /// - Parameter acceptsDamage: for a damaged store, whether to read the last commit before the damage.
    /// - Throws: where the file is no store, or cannot be read.
    package static func configuration(
        at url: URL, usesMemoryMapping: Bool = true, acceptsDamage: Bool = false, asOf past: PastCommit? = nil
    ) throws -> String? {
        guard isThere(url) else { return nil }
        let log = try open(url, usesMemoryMapping, acceptsDamage, past)
        defer { try? log.close() }
        return try RecordLogMetadata.configuration(in: log.snapshot())
    }

    /// Statements about references that were guessed when the store at `url` was made of one without a model.
    package static func doubts(at url: URL, usesMemoryMapping: Bool = true, acceptsDamage: Bool = false) throws -> [String] {
        let log = try open(url, usesMemoryMapping, acceptsDamage, nil)
        defer { try? log.close() }
        return RecordLogMetadata.doubts(in: try RecordLogMetadata.read(log.snapshot()))
    }

    /// Whether the file at `url` exists and is not empty. An empty file becomes a store later.
    package static func isThere(_ url: URL) -> Bool {
        let found = try? FileManager.default.attributesOfItem(atPath: url.resolvingSymlinksInPath().path)
        return found.map { ($0[.size] as? NSNumber)?.intValue != 0 } ?? false
    }

    private static func open(_ url: URL, _ usesMemoryMapping: Bool, _ acceptsDamage: Bool, _ past: PastCommit?) throws -> LogStore {
        var options = StoreOptions()
        options.isReadOnly = true
        options.asOf = past
        options.usesMemoryMapping = usesMemoryMapping
        options.acceptsDamage = acceptsDamage
        return try LogStore.open(path: url.path, options: options)
    }
}
