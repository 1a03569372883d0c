import Foundation
import Heartwood

extension ModelContainer {
    /// Opens stores of the program's own, and those of `ModelConfiguration`s.
    /// - Throws: see `init(for:configurations:)` with an array.
    @_disfavoredOverload
    public convenience init(for types: any PersistentModel.Type..., configurations: any DataStoreConfiguration...) throws {
        try self.init(for: Schema(types), configurations: configurations)
    }

    /// Opens stores of the program's own, and those of `ModelConfiguration`s.
    /// - Throws: the errors of the configurations' `validate()` and of the stores' initializers as they are, and `SwiftDataError` as the other
    ///   initializers do.
    @_disfavoredOverload
    public convenience init(for schema: Schema, configurations: [any DataStoreConfiguration]) throws {
        try self.init(schema, nil, configurations)
    }

    /// Whether a store is Heartwood's own, which has a history.
    var hasDefaultHistory: Bool {
        !hasDataStores || container.persistentStoreCoordinator.persistentStores.contains { !($0 is DataStoreAdapter) }
    }

    /// The stores of the program's own.
    var dataStores: [DataStoreAdapter] { container.persistentStoreCoordinator.persistentStores.compactMap { $0 as? DataStoreAdapter } }

    /// The store of the program's own that has the models of a class; nil for the others.
    func dataStore(of entity: NSEntityDescription) -> DataStoreAdapter? {
        guard hasDataStores else { return nil }
        let stores = container.persistentStoreCoordinator.persistentStores
        guard stores.count > 1 else { return stores.first as? DataStoreAdapter }
        return stores.first { store in
            mapped.model.entities(forConfigurationName: store.configurationName)?.contains { $0 === entity } == true
        } as? DataStoreAdapter
    }

    /// Makes the store of a configuration. A configuration without a schema gets the container's.
    static func link<Configuration: DataStoreConfiguration>(_ configuration: Configuration, _ schema: Schema) throws -> any DataStoreLinking {
        try configuration.validate()
        var configuration = configuration
        if configuration.schema == nil { configuration.schema = schema }
        return DataStoreLink(try Configuration.Store(configuration, migrationPlan: nil))
    }

    /// Adds the stores of the program's own to the coordinator.
    func add(_ links: [any DataStoreLinking], isAlone: Bool) throws {
        guard !links.isEmpty else { return }
        NSPersistentStoreCoordinator.registerStoreClass(DataStoreAdapter.self, forStoreType: DataStoreAdapter.storeType)
        for link in links {
            guard !link.identifier.isEmpty else {
                throw SwiftDataError.loadIssueModelContainer.because("The store of \"\(link.name)\" has an empty identifier.")
            }
            try container.persistentStoreCoordinator.addPersistentStore(
                ofType: DataStoreAdapter.storeType, configurationName: isAlone ? nil : link.name, at: nil,
                options: [DataStoreAdapter.linkKey: DataStoreAdapter.Box(link, mapped)])
        }
    }

    // As all calls of a program's store, these come one at a time.
    func beginEditing(_ state: EditingState) { for store in dataStores { store.inTurn { store.box?.link.store.initializeState(for: state) } } }
    func endEditing(_ state: EditingState) { for store in dataStores { store.inTurn { store.box?.link.store.invalidateState(for: state) } } }

    /// Deletes the models of the program's stores that can do it at once.
    /// - Returns: the entities whose models stay to be deleted one by one.
    func eraseDataStores() throws -> [NSEntityDescription] {
        var erased: Set<ObjectIdentifier> = []
        for store in dataStores {
            do {
                try store.inTurn { try store.box?.link.store.erase() }
                erased.insert(ObjectIdentifier(store))
            } catch DataStoreError.unsupportedFeature {}
        }
        return mapped.model.entities.filter { entity in
            entity.superentity == nil && dataStore(of: entity).map { !erased.contains(ObjectIdentifier($0)) } ?? true
        }
    }
}

extension ModelContext {
    /// Takes over what the program's stores have changed in a save.
    /// - Returns: the IDs of the models, for the container's other contexts.
    func takeReregistered() -> Set<NSManagedObjectID> {
        guard container.hasDataStores else { return [] }
        let ids = container.dataStores.flatMap { $0.takeReregistered() }
        for id in ids { managed.registeredObject(for: id).map { managed.refresh($0, mergeChanges: true) } }
        return Set(ids)
    }

    /// Deletes models in a store that can do it without reading them.
    /// - Returns: false for another store.
    func deleteAtOnce<T: PersistentModel>(_: T.Type, where predicate: Predicate<T>?, includeSubclasses: Bool) throws -> Bool {
        guard let entity = container.mapped.entity(of: ModelType.of(T.self)), let store = container.dataStore(of: entity),
            let link = store.box?.link, link.isBatching
        else { return false }
        let gone = try objects(FetchDescriptor<T>(predicate: predicate), includesSubclasses: includeSubclasses)
        let saved = Set(gone.map(\.objectID).filter { !$0.isTemporaryID })
        try store.deleteAtOnce(DataStoreBatchDeleteRequest(
            editingState: editingState, predicate: predicate, includeSubclasses: includeSubclasses), saved)
        for object in gone where object.objectID.isTemporaryID { managed.delete(object) }
        var changes = SavedChanges()
        changes.deleted = saved
        merge(changes)
        container.announce(changes, by: self)
        return true
    }
}

extension NSFetchRequest {
    /// Lets a store of the program's own see the descriptor. What it answers is newer than what the context has.
    func keep<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) {
        // A store of the program's own knows properties by key paths.
        origin = descriptor.hasRunTimeParts ? nil : DescriptorOrigin(descriptor, predicate)
        shouldRefreshRefetchedObjects = true
    }
}
