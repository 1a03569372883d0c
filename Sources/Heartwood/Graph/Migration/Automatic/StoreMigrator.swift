import Foundation
import RecordLog

/// Migrates the store at a URL to another version of its model, in place.
///
/// If the store's type can carry out an inferred mapping itself, it changes its file. Otherwise the new store is written beside the old one and
/// replaces it when it is complete, with the same identifier and metadata. A crash leaves the store in one version or the other. If several
/// processes want the same migration, one does it and the others find it done.
struct StoreMigrator {
    let store: MigrationEnd
    let storeClass: any FileStore.Type

    /// - Throws: 134000 for a type without files.
    init(_ store: MigrationEnd) throws {
        self.store = store
        storeClass = try StoreClasses.fileClass(for: store.type)
    }

    func metadata() throws -> [String: Any] { try storeClass.metadata(at: store.url, options: store.options) }

    func isMade(with model: NSManagedObjectModel, _ metadata: [String: Any]) -> Bool {
        model.isConfiguration(withName: store.configuration, compatibleWithStoreMetadata: metadata)
    }

    /// - Parameters:
    ///   - mapping: nil for one that is found or inferred.
    ///   - isAutomatic: whether adding the store has caused the migration. A mapping is then looked up in the bundles, and the store is not taken
    ///     back to a version that it has left, unless the program has the store's present version.
    ///   - rule: for an inferred mapping; the store's options can ask for more than it allows.
    /// - Throws: 134130 if the source's model is not found, or is newer than the destination's; 134140 if no mapping is found or can be inferred,
    ///   or if the store has objects and the two models have no entity in common; the errors of the migration.
    func migrate(
        to model: NSManagedObjectModel, by mapping: NSMappingModel? = nil, isAutomatic: Bool, infers: Bool,
        dropping rule: DroppingRule = .refusesUnrelated
    ) throws {
        let metadata = try metadata()
        guard !isMade(with: model, metadata) else { return }
        let options = MigrationOptions(store.options)
        guard !options.isReadOnly else {
            throw MigrationErrors.make(
                "The store is read-only", [NSFilePathErrorKey: store.url.path],
                "the store at \(store.url.path) was opened read-only; open it for writing once")
        }
        do {
            let source = try sourceModel(metadata)
            var found = mapping
            if found == nil, isAutomatic { found = NSMappingModel(directories: ModelFinder.directories, source, model) }
            // A mapping model says what becomes of the objects.
            if let found { return try rewrite(by: found, from: source, to: model, .isAsked) }
            if isAutomatic, FormerVersions.contain(model, configuration: store.configuration, metadata), !isKnownHere(metadata) {
                throw MigrationErrors.noSource(
                    store.url, metadata,
                    "it was brought from this version of the model to a newer one, by a newer program, and the newer version's additions would "
                        + "be lost. Use the newer program; or migrate the store back yourself, by NSMigrationManager or `heartwood migrate`. A "
                        + "version that is to come after it again takes another versionHashModifier.")
            }
            guard infers else { throw MigrationErrors.noMapping(from: source, to: model, cause: nil) }
            let comparison: ModelComparison
            do {
                comparison = try ModelComparison(from: source, to: model, configuration: store.configuration)
            } catch {
                throw MigrationErrors.noMapping(from: source, to: model, cause: error as NSError)
            }
            let dropping = rule == .refusesUnrelated && options.acceptsUnrelated ? .isAsked : rule
            let isDone = try storeClass.migrateInPlace(
                at: store.url, options: store.options, configuration: store.configuration, to: model, comparison, dropping)
            if !isDone { try rewrite(by: NSMappingModel(inferredFrom: comparison), from: source, to: model, dropping) }
        } catch {
            // Another process has migrated it meanwhile.
            if let metadata = try? self.metadata(), isMade(with: model, metadata) { return }
            throw MigrationErrors.ofStoreAtURL(error, store.url)
        }
    }

    /// Whether the program has the store's version: then it is no older program, to which that version's additions are unknown.
    private func isKnownHere(_ metadata: [String: Any]) -> Bool {
        ModelsInUse.contain(where: { isMade(with: $0, metadata) }) || bundledModel(metadata) != nil
    }

    private func bundledModel(_ metadata: [String: Any]) -> NSManagedObjectModel? {
        NSManagedObjectModel.made(with: metadata, among: ModelFinder.versions(in: ModelFinder.directories))
    }

    /// The model stored with the store, or else one found in the bundles.
    func sourceModel(_ metadata: [String: Any]) throws -> NSManagedObjectModel {
        if let stored = try? storeClass.storedModel(at: store.url, options: store.options), isMade(with: stored, metadata) { return stored }
        if let found = bundledModel(metadata) { return found }
        throw MigrationErrors.noSource(
            store.url, metadata,
            "the version of the model that it was made with is not found. Put it into the resources, beside the newest one.")
    }

    /// Migrates with a migration manager.
    private func rewrite(
        by mapping: NSMappingModel, from source: NSManagedObjectModel, to model: NSManagedObjectModel, _ dropping: DroppingRule
    ) throws {
        var dropped: DroppedObjects?
        defer { dropping.tell(dropped, store.url) }
        try waitingForOthers(until: model) {
            var made: DroppedObjects?
            try storeClass.remake(at: store.url, options: store.options) { file in
                // Read again, now that no other process can change it.
                let metadata = try metadata()
                guard !isMade(with: model, metadata) else { return false }
                var from = store
                if let name = from.configuration, !source.configurations.contains(name) { from.configuration = nil }
                let manager = NSMigrationManager(sourceModel: source, destinationModel: model)
                manager.beginMigrating(mapping)
                manager.dropping = dropping
                try manager.write(from: from, metadata, to: store, at: file, isNew: true)
                made = manager.dropped
                return true
            }
            dropped = made
        }
    }

    /// Retries while other processes use the store, since they may be migrating it. Gives up after the time that a save waits for another process.
    private func waitingForOthers(until model: NSManagedObjectModel, _ body: () throws -> Void) throws {
        let timeout = (store.options?[NSPersistentStoreTimeoutOption] as? NSNumber)?.doubleValue ?? NSPersistentStore.defaultTimeout
        let deadline = Duration(bounding: timeout).map { ContinuousClock.now + $0 } ?? ContinuousClock.now
        while true {
            do {
                return try body()
            } catch {
                guard CoreDataError.isCode(NSPersistentStoreTimeoutError, error) else { throw error }
                if let metadata = try? metadata(), isMade(with: model, metadata) { return }
                guard ContinuousClock.now < deadline else { throw error }
                // A random time, so that waiting processes do not retry in step.
                Thread.sleep(forTimeInterval: Double.random(in: 0.005...0.03))
            }
        }
    }
}

extension MigrationErrors {
    /// 134140.
    /// - Parameter cause: the reason why none can be inferred; nil if inference was not requested.
    static func noMapping(from source: NSManagedObjectModel, to destination: NSManagedObjectModel, cause: NSError?) -> NSError {
        var info: [String: Any] = ["sourceModel": source, "destinationModel": destination]
        info["reason"] = cause == nil
            ? "Can't find mapping model for migration" : "Can't find or automatically infer mapping model for migration"
        info[NSUnderlyingErrorKey] = cause
        info["entity"] = cause?.userInfo["entity"]
        info["property"] = cause?.userInfo["property"]
        let why = cause?.localizedDescription
            ?? "There is no mapping model in the bundles; NSInferMappingModelAutomaticallyOption has one inferred."
        return CoreDataError.make(NSMigrationMissingMappingModelError, "The store was not migrated: \(why)", info)
    }

    /// 134130.
    package static func noSource(_ url: URL, _ metadata: [String: Any], _ why: String) -> NSError {
        CoreDataError.make(
            NSMigrationMissingSourceModelError, "The store at \(url.path) was not migrated: \(why)",
            ["reason": "Can't find model for source store", "metadata": metadata, "URL": url, NSFilePathErrorKey: url.path])
    }

    /// For an automatic migration: wraps in 134110 all errors but those of Core Data's stores and migrations.
    static func ofStoreAtURL(_ error: any Error, _ url: URL) -> NSError {
        let known = error as NSError
        if known.domain == NSCocoaErrorDomain, (134_000..<135_000).contains(known.code) { return known }
        return make(
            "The migration of the store failed",
            [NSUnderlyingErrorKey: known, "sourceURL": url, NSFilePathErrorKey: url.path], "\(url.path): \(known.localizedDescription)")
    }
}
