import Foundation

/// One run of a staged migration: from the version that a store has to the coordinator's.
struct StagedMigration {
    let manager: NSStagedMigrationManager
    let migrator: StoreMigrator
    let model: NSManagedObjectModel

    /// A version on the way, and the stage that leads to it from the one before.
    private struct Version {
        let checksum: String
        /// nil: an inferred mapping.
        let stage: NSCustomMigrationStage?
    }

    /// - Throws: 134504 to 134506; what handlers throw; what a migration throws. The store has the version then that it came to.
    func run() throws {
        let way = versions()
        try finish(among: way)
        // Each round goes at least one version on.
        for _ in 0..<way.count {
            let metadata = try migrator.metadata()
            guard !migrator.isMade(with: model, metadata) else { return }
            let end = way.lastIndex { $0.checksum == model.versionChecksum } ?? way.count - 1
            try goOn(from: try position(in: way, before: end, metadata), to: end, way)
            try finish(among: way)
        }
    }

    /// All versions in their order, the coordinator's last.
    private func versions() -> [Version] {
        var way: [Version] = []
        for stage in manager.stages {
            let custom = stage as? NSCustomMigrationStage
            for (index, checksum) in stage.checksums.enumerated() {
                let leads = custom != nil && index == 1
                // A stage that begins where the one before has ended.
                if !leads, way.last?.checksum == checksum { continue }
                way.append(Version(checksum: checksum, stage: leads ? custom : nil))
            }
        }
        if !way.contains(where: { $0.checksum == model.versionChecksum }) { way.append(Version(checksum: model.versionChecksum, stage: nil)) }
        return way
    }

    private func position(in way: [Version], before end: Int, _ metadata: [String: Any]) throws -> Int {
        let stored = RecordLogMetadata.versionChecksum(metadata)
        let found = way.lastIndex { $0.checksum == stored } ?? way.lastIndex { version in
            // A configuration has some of its model's entities.
            (try? self.model(of: version)).map { migrator.isMade(with: $0, metadata) } ?? false
        }
        guard let found else {
            throw CoreDataError.make(
                NSManagedObjectModelReferenceNotFoundError,
                "The store at \(migrator.store.url.path) has a version of the model (checksum \(stored ?? "unknown")) that no stage names.",
                ["metadata": metadata, NSFilePathErrorKey: migrator.store.url.path])
        }
        guard found < end else {
            throw CoreDataError.make(
                NSStagedMigrationBackwardMigrationError,
                "A store cannot be migrated backwards: the one at \(migrator.store.url.path) has a version that comes after the coordinator's.",
                [NSFilePathErrorKey: migrator.store.url.path])
        }
        return found
    }

    /// To the next version whose model is found.
    private func goOn(from start: Int, to end: Int, _ way: [Version]) throws {
        var missing: [String] = []
        for next in start + 1...end {
            if let stage = way[next].stage, missing.isEmpty {
                return try migrator.carryOut(stage, manager)
            }
            guard let found = try self.model(of: way[next]) else {
                missing.append(way[next].checksum)
                continue
            }
            do {
                return try migrator.migrate(to: found, isAutomatic: false, infers: true)
            } catch where !missing.isEmpty && CoreDataError.isCode(NSMigrationMissingMappingModelError, error) {
                throw CoreDataError.make(
                    NSManagedObjectModelReferenceNotFoundError,
                    "The models of the versions \(missing.joined(separator: ", ")) are not found, and no migration without them can be inferred: "
                        + error.localizedDescription, [NSUnderlyingErrorKey: error])
            }
        }
    }

    /// nil where it is not found, for a version that no reference is for.
    private func model(of version: Version) throws -> NSManagedObjectModel? {
        if version.checksum == model.versionChecksum { return model }
        for case let stage as NSCustomMigrationStage in manager.stages {
            for reference in [stage.currentModel, stage.nextModel] where reference.versionChecksum == version.checksum {
                return try reference.resolve()
            }
        }
        return ModelFinder.versions(in: ModelFinder.directories).lazy.compactMap { try? NSManagedObjectModel.load(contentsOf: $0) }
            .first { $0.versionChecksum == version.checksum }
    }

    /// Does what the stage that led to the store's version has left undone.
    private func finish(among way: [Version]) throws {
        let metadata = try migrator.metadata()
        guard let checksum = metadata[RecordLogMetadata.unfinishedStage] as? String,
            let stage = way.first(where: { $0.stage?.nextModel.versionChecksum == checksum })?.stage,
            migrator.isMade(with: try stage.nextModel.resolve(), metadata)
        else { return }
        try migrator.end(stage, manager)
    }
}

extension StoreMigrator {
    /// Begins a stage and migrates the store; `end(_:_:)` is to follow.
    fileprivate func carryOut(_ stage: NSCustomMigrationStage, _ manager: NSStagedMigrationManager) throws {
        let current = try stage.currentModel.resolve(), next = try stage.nextModel.resolve()
        try with(current, manager) { container in
            try stage.willMigrateHandler?(manager, stage)
            try note(stage.nextModel.versionChecksum, in: container)
        }
        try migrate(to: next, isAutomatic: false, infers: true)
    }

    fileprivate func end(_ stage: NSCustomMigrationStage, _ manager: NSStagedMigrationManager) throws {
        try with(try stage.nextModel.resolve(), manager) { container in
            try stage.didMigrateHandler?(manager, stage)
            try note(nil, in: container)
        }
    }

    /// Keeps with the store which stage is to be ended.
    private func note(_ checksum: String?, in container: NSPersistentContainer) throws {
        for store in container.persistentStoreCoordinator.persistentStores {
            var metadata: [String: Any] = store.metadata ?? [:]
            metadata[RecordLogMetadata.unfinishedStage] = checksum
            try store.takeOver(metadata)
        }
    }

    /// Runs `body` while the manager has a container with the store.
    private func with(_ model: NSManagedObjectModel, _ manager: NSStagedMigrationManager, _ body: (NSPersistentContainer) throws -> Void) throws {
        let container = NSPersistentContainer(name: store.url.deletingPathExtension().lastPathComponent, managedObjectModel: model)
        let description = NSPersistentStoreDescription(url: store.url)
        description.type = store.type
        description.configuration = store.configuration
        for (key, value) in store.options ?? [:] {
            guard let key = key as? String, !MigrationOptions.all.contains(key) else { continue }
            description.setOption(value as? NSObject ?? AttributeCoding.bridged(value) as? NSObject, forKey: key)
        }
        description.shouldMigrateStoreAutomatically = false
        container.persistentStoreDescriptions = [description]
        var failure: (any Error)?
        container.loadPersistentStores { failure = $1 }
        if let failure { throw failure }
        manager.container = container
        defer { manager.container = nil }
        let result = Result { try body(container) }
        for store in container.persistentStoreCoordinator.persistentStores { try container.persistentStoreCoordinator.remove(store) }
        try result.get()
    }
}

extension NSPersistentStoreCoordinator {
    /// Where a stage has led to the version that a store has now, and was not ended, ends it.
    /// - Returns: whether the store was removed for that, and is to be added again.
    final func finishStages(of store: NSPersistentStore, at url: URL) throws -> Bool {
        guard let staged = MigrationOptions(store.options).staged, store.metadata[RecordLogMetadata.unfinishedStage] != nil, !store.isReadOnly
        else { return false }
        let end = MigrationEnd(url: url, type: store.type, options: store.options, configuration: store.configuration)
        try remove(store)
        try StagedMigration(manager: staged, migrator: StoreMigrator(end), model: managedObjectModel).run()
        return true
    }
}
