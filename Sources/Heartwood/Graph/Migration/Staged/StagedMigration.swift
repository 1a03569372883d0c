import Foundation

/// One run of a staged migration: from a store's version to the coordinator's.
struct StagedMigration {
    let manager: NSStagedMigrationManager
    let migrator: StoreMigrator
    let model: NSManagedObjectModel

    /// A version of the sequence, and the stage that leads to it from the one before.
    private struct Version {
        let checksum: String
        /// nil for an inferred mapping.
        let stage: NSCustomMigrationStage?
    }

    /// - Throws: 134504 to 134506; the errors of handlers and of a migration. The store then keeps the version that it reached.
    func run() throws {
        let chain = versions()
        try finish(among: chain)
        // Each round advances at least one version.
        for _ in 0..<chain.count {
            let metadata = try migrator.metadata()
            guard !migrator.isMade(with: model, metadata) else { return }
            let end = chain.lastIndex { $0.checksum == model.versionChecksum } ?? chain.count - 1
            try goOn(from: try position(in: chain, before: end, metadata), to: end, chain)
            try finish(among: chain)
        }
    }

    /// All versions in order, the coordinator's last.
    private func versions() -> [Version] {
        var chain: [Version] = []
        for stage in manager.stages {
            let custom = stage as? NSCustomMigrationStage
            for (index, checksum) in stage.checksums.enumerated() {
                let leads = custom != nil && index == 1
                // A stage that begins with the last version of the one before.
                if !leads, chain.last?.checksum == checksum { continue }
                chain.append(Version(checksum: checksum, stage: leads ? custom : nil))
            }
        }
        if !chain.contains(where: { $0.checksum == model.versionChecksum }) { chain.append(Version(checksum: model.versionChecksum, stage: nil)) }
        return chain
    }

    private func position(in chain: [Version], before end: Int, _ metadata: [String: Any]) throws -> Int {
        let stored = RecordLogMetadata.versionChecksum(metadata)
        let found = chain.lastIndex { $0.checksum == stored } ?? chain.lastIndex { version in
            // A configuration has only some of its model's entities.
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

    /// Migrates to the next version whose model is found.
    private func goOn(from start: Int, to end: Int, _ chain: [Version]) throws {
        var missing: [String] = []
        for next in start + 1...end {
            if let stage = chain[next].stage, missing.isEmpty {
                return try migrator.carryOut(stage, manager)
            }
            guard let found = try self.model(of: chain[next]) else {
                missing.append(chain[next].checksum)
                continue
            }
            do {
                // A program that lists both versions in its stages wants the one to become the other.
                let isListed = manager.stages.contains { $0.checksums.contains(chain[next].checksum) }
                return try migrator.migrate(to: found, isAutomatic: false, infers: true, dropping: isListed ? .isAsked : .refusesUnrelated)
            } catch where !missing.isEmpty && CoreDataError.isCode(NSMigrationMissingMappingModelError, error) {
                throw CoreDataError.make(
                    NSManagedObjectModelReferenceNotFoundError,
                    "The models of the versions \(missing.joined(separator: ", ")) are not found, and no migration without them can be inferred: "
                        + error.localizedDescription, [NSUnderlyingErrorKey: error])
            }
        }
    }

    /// The model of a version; nil if no reference names it and no bundle contains it.
    private func model(of version: Version) throws -> NSManagedObjectModel? {
        if version.checksum == model.versionChecksum { return model }
        for case let stage as NSCustomMigrationStage in manager.stages {
            for reference in [stage.currentModel, stage.nextModel] where reference.versionChecksum == version.checksum {
                return try reference.resolve()
            }
        }
        return ModelFinder.model(among: ModelFinder.versions(in: ModelFinder.directories)) { $0.versionChecksum == version.checksum }
    }

    /// Completes an unfinished stage that led to the store's version.
    private func finish(among chain: [Version]) throws {
        let metadata = try migrator.metadata()
        guard let checksum = metadata[RecordLogMetadata.unfinishedStage] as? String,
            let stage = chain.first(where: { $0.stage?.nextModel.versionChecksum == checksum })?.stage,
            migrator.isMade(with: try stage.nextModel.resolve(), metadata)
        else { return }
        try migrator.end(stage, manager)
    }
}

extension StoreMigrator {
    /// Runs a stage's first handler and migrates the store; `end(_:_:)` must follow.
    fileprivate func carryOut(_ stage: NSCustomMigrationStage, _ manager: NSStagedMigrationManager) throws {
        let current = try stage.currentModel.resolve(), next = try stage.nextModel.resolve()
        try with(current, manager) { container in
            try stage.willMigrateHandler?(manager, stage)
            try note(stage.nextModel.versionChecksum, in: container)
        }
        try migrate(to: next, isAutomatic: false, infers: true, dropping: .isAsked)
    }

    fileprivate func end(_ stage: NSCustomMigrationStage, _ manager: NSStagedMigrationManager) throws {
        try with(try stage.nextModel.resolve(), manager) { container in
            try stage.didMigrateHandler?(manager, stage)
            try note(nil, in: container)
        }
    }

    /// Records in the store's metadata which stage is unfinished.
    private func note(_ checksum: String?, in container: NSPersistentContainer) throws {
        for store in container.persistentStoreCoordinator.persistentStores {
            var metadata: [String: Any] = store.metadata ?? [:]
            metadata[RecordLogMetadata.unfinishedStage] = checksum
            try store.seam.takeOver(metadata)
        }
    }

    /// Runs `body` while the manager's container has the store open.
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
    /// Ends an unfinished stage that led to the store's present version.
    /// - Returns: whether the store was removed for that, and must be added again.
    final func finishStages(of store: NSPersistentStore, at url: URL) throws -> Bool {
        guard let staged = MigrationOptions(store.options).staged, store.metadata[RecordLogMetadata.unfinishedStage] != nil, !store.isReadOnly
        else { return false }
        let end = MigrationEnd(url: url, type: store.type, options: store.options, configuration: store.configuration)
        try remove(store)
        try StagedMigration(manager: staged, migrator: StoreMigrator(end), model: managedObjectModel).run()
        return true
    }
}
