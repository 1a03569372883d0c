import Foundation
@_spi(GeneratedCode) import Heartwood

/// The store that a `ModelConfiguration` chooses, over Heartwood's record log. A store of the program's own may hand requests on to one.
///
/// Source: https://developer.apple.com/documentation/swiftdata/defaultstore
public final class DefaultStore: DataStore, DataStoreBatching, HistoryProviding {
    public typealias Configuration = ModelConfiguration
    public typealias Snapshot = DefaultSnapshot
    public typealias HistoryType = DefaultHistoryTransaction
    public typealias TokenType = DefaultHistoryToken

    public let name: String
    public let schema: Schema
    public let configuration: ModelConfiguration
    private let container: ModelContainer

    /// - Throws: `SwiftDataError` as `ModelContainer` does; `.loadIssueModelContainer` for a configuration without a schema.
    public convenience init(_ configuration: ModelConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)? = nil) throws {
        guard let schema = configuration.schema else {
            throw SwiftDataError.loadIssueModelContainer.because("The configuration \"\(configuration.name)\" has no schema. Give it one.")
        }
        try self.init(configuration, schema, migrationPlan)
    }

    private init(_ configuration: ModelConfiguration, _ schema: Schema, _ migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        name = configuration.name
        self.schema = schema
        self.configuration = configuration
        container = try ModelContainer(for: schema, migrationPlan: migrationPlan, configurations: [configuration])
        SnapshotClasses.publish(container.mapped, forStore: container.container.persistentStoreCoordinator.persistentStores.first?.identifier ?? "")
    }

    public var identifier: String { container.storeIdentifier(forConfigurationNamed: name) ?? "" }

    /// A context for one request, so that a request sees nothing but the store.
    private func context(_ editingState: EditingState) -> ModelContext {
        let made = ModelContext(container)
        made.author = editingState.author
        return made
    }

    private func snapshot(_ object: ModelObject) -> DefaultSnapshot {
        let identifier = PersistentIdentifier(uri: object.objectID.uriRepresentation())
        return DefaultSnapshot(persistentIdentifier: identifier, values: object.snapshotValues)
    }

    // MARK: Reading

    public func fetch<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> DataStoreFetchResult<T, DefaultSnapshot> {
        let context = context(request.editingState)
        return try withExtendedLifetime(context) {
            DataStoreFetchResult(descriptor: request.descriptor, fetchedSnapshots: try context.objects(request.descriptor).map(snapshot))
        }
    }

    public func fetchCount<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> Int {
        try context(request.editingState).fetchCount(request.descriptor)
    }

    public func fetchIdentifiers<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> [PersistentIdentifier] {
        try context(request.editingState).fetchIdentifiers(request.descriptor)
    }

    public func cachedSnapshots(
        for identifiers: [PersistentIdentifier], editingState: EditingState
    ) throws -> [PersistentIdentifier: DefaultSnapshot] {
        let context = context(editingState)
        return withExtendedLifetime(context) {
            let found = identifiers.compactMap { identifier in context.existingObject(for: identifier).map { (identifier, snapshot($0)) } }
            return Dictionary(found) { first, _ in first }
        }
    }

    // MARK: Writing

    /// - Throws: the errors of `ModelContext.save()`, and `DecodingError` for a snapshot of another schema. Nothing is saved then.
    public func save(_ request: DataStoreSaveChangesRequest<DefaultSnapshot>) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
        let context = context(request.editingState)
        var objects: [PersistentIdentifier: ModelObject] = [:]
        for snapshot in request.inserted {
            guard let entity = container.mapped.model.entitiesByName[snapshot.persistentIdentifier.entityName] else {
                throw SwiftDataError.unknownSchema.because("\(snapshot.persistentIdentifier.entityName) is not in the schema of the store.")
            }
            objects[snapshot.persistentIdentifier] = ModelObject(entity: entity, insertInto: context.managed)
        }
        for snapshot in request.updated + request.deleted { objects[snapshot.persistentIdentifier] = try existing(snapshot, context) }
        for snapshot in request.inserted + request.updated {
            guard let object = objects[snapshot.persistentIdentifier] else { continue }
            try fill(object, snapshot) { identifier in
                guard let found = objects[identifier] ?? context.existingObject(for: identifier) else { throw Self.missing(identifier) }
                return found
            }
        }
        for snapshot in request.deleted { if let object = objects[snapshot.persistentIdentifier] { context.managed.delete(object) } }
        try context.save()
        let remapped = request.inserted.compactMap { snapshot in
            objects[snapshot.persistentIdentifier].map { (snapshot.persistentIdentifier, PersistentIdentifier(uri: $0.objectID.uriRepresentation())) }
        }
        return DataStoreSaveChangesResult(for: identifier, remappedIdentifiers: Dictionary(remapped) { first, _ in first })
    }

    private func existing(_ snapshot: DefaultSnapshot, _ context: ModelContext) throws -> ModelObject {
        guard let object = context.existingObject(for: snapshot.persistentIdentifier) else { throw Self.missing(snapshot.persistentIdentifier) }
        return object
    }

    private static func missing(_ identifier: PersistentIdentifier) -> DecodingError {
        .ofIdentifier("The store has no model \(identifier).")
    }

    private func fill(_ object: ModelObject, _ snapshot: DefaultSnapshot, _ find: (PersistentIdentifier) throws -> ModelObject) throws {
        for place in object.mapped.allPlaces where place.index >= 0 && !place.property.isTransient {
            let value = snapshot.values[place.property.name]
            switch place.property.kind {
            case .attribute:
                if let attribute = place.attribute, let coding = place.coding { try coding.writeAny(value, to: object, at: attribute) }
            case .toOne: object.setManagedObject(try (value as? PersistentIdentifier).map(find), at: place.index)
            case .toMany: object.setManagedObjects(try (value as? [PersistentIdentifier] ?? []).map(find), at: place.index)
            case .unfit: continue
            }
        }
    }

    public func delete<T: PersistentModel>(_ request: DataStoreBatchDeleteRequest<T>) throws {
        let context = context(request.editingState)
        try context.delete(model: T.self, where: request.predicate, includeSubclasses: request.includeSubclasses)
        try context.save()
    }

    public func erase() throws { try container.erase() }

    // MARK: History

    public func fetchHistory(_ descriptor: HistoryDescriptor<DefaultHistoryTransaction>) throws -> [DefaultHistoryTransaction] {
        try ModelContext(container).fetchHistory(descriptor)
    }

    public func deleteHistory(_ descriptor: HistoryDescriptor<DefaultHistoryTransaction>) throws {
        try ModelContext(container).deleteHistory(descriptor)
    }

    // MARK: Editing

    public func initializeState(for editingState: EditingState) {}
    public func invalidateState(for editingState: EditingState) {}
}

extension ModelConfiguration: DataStoreConfiguration {
    public typealias Store = DefaultStore
}
