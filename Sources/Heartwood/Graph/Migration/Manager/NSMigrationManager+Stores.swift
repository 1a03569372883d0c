import Foundation
import RecordLog

/// The stores and files of a migration.
extension NSMigrationManager {
    /// See `migrateStore(from:sourceType:options:with:toDestinationURL:destinationType:destinationOptions:)`.
    final func migrate(from source: MigrationEnd, to destination: MigrationEnd, by mapping: NSMappingModel) throws {
        guard reader == nil else {
            throw CoreDataError.make(NSPersistentStoreOperationError, "The migration manager has a migration under way; use another one.")
        }
        let sourceClass = try StoreClasses.fileClass(for: source.type), storeClass = try StoreClasses.fileClass(for: destination.type)
        guard source.url.resolvingSymlinksInPath() != destination.url.resolvingSymlinksInPath() else {
            throw CoreDataError.make(
                NSPersistentStoreOperationError,
                "The store at \(source.url.path) cannot be migrated to its own URL; give another one, and replace the store afterwards "
                    + "(replacePersistentStore), or have it migrated when it is added (NSMigratePersistentStoresAutomaticallyOption).",
                [NSFilePathErrorKey: source.url.path])
        }
        guard destination.url.isFileURL, storeClass.isOneFile else {
            return try carryOut(from: source, to: destination, at: destination.url, by: mapping)
        }
        // The targets of symbolic links are used.
        let target = destination.url.resolvingSymlinksInPath(), from = source.url.resolvingSymlinksInPath()
        try StoreFiles.checkIsFile(target, "nothing was migrated to it")
        do {
            let folder = try MigrationFolder.claim(besides: target), file = folder.file
            defer { folder.abandon() }
            try StoreFiles.removeEmptyFile(at: target)
            if FileManager.default.fileExists(atPath: target.path) {
                try storeClass.exchange(at: target, options: destination.options) {
                    try storeClass.replace(at: file, options: nil, with: target, sourceOptions: destination.options)
                    try carryOut(from: source, to: destination, at: file, by: mapping)
                    return file
                }
            } else {
                try carryOut(from: source, to: destination, at: file, by: mapping, sourceClass: sourceClass)
                let model = FileManager.default.fileExists(atPath: from.path) ? from.path : nil
                try LogStore.rename(file.path, to: target.path, replacing: false, like: model)
            }
        } catch {
            throw (error as? StoreError).map { MigrationErrors.ofStore(RecordLogErrors.wrap($0), isSource: false, target) } ?? error
        }
    }

    /// Writes the new store to `file`, or adds to the store there.
    /// - Parameter sourceClass: nil if a store exists there.
    private func carryOut(
        from source: MigrationEnd, to destination: MigrationEnd, at file: URL, by mapping: NSMappingModel,
        sourceClass: (any FileStore.Type)? = nil
    ) throws {
        let metadata: [String: Any]
        do {
            metadata = try StoreClasses.fileClass(for: source.type).metadata(at: source.url, options: source.options)
        } catch {
            throw MigrationErrors.ofStore(error, isSource: true, source.url)
        }
        var source = source, destination = destination
        source.configuration = source.configuration ?? configuration(of: metadata)
        destination.configuration = destination.configuration
            ?? source.configuration.flatMap { destinationModel.configurations.contains($0) ? $0 : nil }
        beginMigrating(mapping)
        defer { endMigrating() }
        try checkCancellation()
        if let sourceClass, usesStoreSpecificMigrationManager, mapping.isInferred, source.type == destination.type {
            do {
                try sourceClass.replace(at: file, options: nil, with: source.url, sourceOptions: source.options)
            } catch {
                throw MigrationErrors.ofStore(error, isSource: false, destination.url)
            }
            let comparison = try ModelComparison(from: sourceModel, to: destinationModel, configuration: destination.configuration)
            let isDone = try sourceClass.migrateInPlace(
                at: file, options: destination.options, configuration: destination.configuration, to: destinationModel, comparison, .isTold)
            if isDone { return setProgress(1) }
            try sourceClass.destroy(at: file, options: nil)
        }
        let isNew = sourceClass != nil || !FileManager.default.fileExists(atPath: file.path)
        try write(from: source, metadata, to: destination, at: file, isNew: isNew)
    }

    /// The store's configuration of the source's model; nil for the whole model, or if no configuration matches.
    private func configuration(of metadata: [String: Any]) -> String? {
        guard !sourceModel.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata) else { return nil }
        return sourceModel.configurations.first { sourceModel.isConfiguration(withName: $0, compatibleWithStoreMetadata: metadata) }
    }

    /// Counts the source's objects that the mapping leaves out, where the store itself is migrated.
    private func noteDropped(configuration: String?, at url: URL) throws {
        guard let dropping else { return }
        let found = try DroppedObjects(mappingModel, from: sourceModel, to: destinationModel, configuration: configuration) { entity in
            let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
            request.includesSubentities = false
            return try reader.count(for: request)
        }
        try dropping.check(found, url)
        dropped = found
    }

    /// Migrates object by object.
    /// - Parameter isNew: whether no store exists at `file`, so that the new one gets the source's metadata.
    final func write(from source: MigrationEnd, _ metadata: [String: Any], to destination: MigrationEnd, at file: URL, isNew: Bool) throws {
        var reading = source.options ?? [:], writing = destination.options ?? [:]
        reading[NSReadOnlyPersistentStoreOption] = true
        writing[NSReadOnlyPersistentStoreOption] = nil
        for key in MigrationOptions.all {
            reading[key] = nil
            writing[key] = nil
        }
        writing[NSRecordLogAutomaticCompactionOption] = false
        // An unfinished store is visible to no other process; it is synced when it is finished.
        if writing[NSRecordLogDurabilityOption] == nil { writing[NSRecordLogDurabilityOption] = RecordLogDurability.relaxed.rawValue }
        let old = NSPersistentStoreCoordinator(unlisted: sourceModel), new = NSPersistentStoreCoordinator(unlisted: destinationModel)
        defer { for coordinator in [old, new] { for store in coordinator.persistentStores { try? coordinator.remove(store) } } }
        do {
            try old.addPersistentStore(ofType: source.type, configurationName: source.configuration, at: source.url, options: reading)
        } catch {
            throw MigrationErrors.ofStore(error, isSource: true, source.url)
        }
        let made: NSPersistentStore
        do {
            made = try new.addPersistentStore(
                ofType: destination.type, configurationName: destination.configuration, at: file, options: writing)
        } catch {
            throw MigrationErrors.ofStore(error, isSource: false, destination.url)
        }
        reader = NSManagedObjectContext(plainObjectsOf: old)
        try noteDropped(configuration: source.configuration, at: source.url)
        writer = NSManagedObjectContext(plainObjectsOf: new)
        writer.making.skipsValidation = true
        defer { endMigrating() }
        // A store that is written whole is written only once.
        made.putsOffWriting = true
        try goThrough()
        do {
            made.putsOffWriting = false
            try made.seam.takeOver(isNew ? metadata : made.metadata)
            try made.recordLog?.sync()
            try new.remove(made)
        } catch {
            throw MigrationErrors.ofStore(RecordLogErrors.wrapIfOfEngine(error), isSource: false, destination.url)
        }
        setProgress(1)
    }
}

extension NSMappingModel {
    /// Whether the mapping is unchanged since it was inferred.
    final var isInferred: Bool { inferredText == text }
}
