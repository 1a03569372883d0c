import Foundation
@_spi(GeneratedCode) import Heartwood

extension ModelContext {
    /// The models that the descriptor chooses.
    ///
    /// A predicate is asked of the store where it can be. A part that only the program can judge (a computed property, a value kept encoded) makes
    /// the store return all models of the class, and the predicate is evaluated on each.
    /// - Throws: `SwiftDataError`: `.unsupportedPredicate` for a predicate that throws itself, `.unsupportedSortDescriptor`, `.unsupportedKeyPath`,
    ///   `.unknownSchema`; and the store's errors.
    /// - Complexity: that of the store's plan, and O(found).
    public func fetch<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> [T] {
        try managed.models(of: objects(descriptor), as: T.self)
    }

    /// The number of models that the descriptor chooses.
    public func fetchCount<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> Int {
        takeInSaves()
        let (request, filter) = try request(descriptor)
        if let filter { return try filtered(request, filter, descriptor).count }
        return try managed.count(for: request)
    }

    /// The identifiers of the models that the descriptor chooses, without the models.
    public func fetchIdentifiers<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> [PersistentIdentifier] {
        takeInSaves()
        let (request, filter) = try request(descriptor)
        if let filter { return try filtered(request, filter, descriptor).map { PersistentIdentifier($0.objectID) } }
        let ids = NSFetchRequest<NSManagedObjectID>(request)
        ids.resultType = .managedObjectIDResultType
        ids.relationshipKeyPathsForPrefetching = nil
        return try managed.fetch(ids).map { PersistentIdentifier($0) }
    }

    // MARK: By identifier

    /// The model with an identifier. It is read from the store when a property is used; a model that the store does not have has default values.
    /// Where no value can be made up for one of its properties, the model is of another class.
    public func model(for identifier: PersistentIdentifier) -> any PersistentModel {
        takeInSaves()
        let object = objectID(identifier).flatMap { managed.object(with: $0) as? ModelObject }
        if let found = object.flatMap(model(of:)) { return found }
        guard let type = container.mapped.type(named: identifier.entityName), !type.isFragile else { return AbsentModel(identifier) }
        return Self.absent(type.type)
    }

    /// The model with an identifier, if the context has it already.
    public func registeredModel<T: PersistentModel>(for identifier: PersistentIdentifier) -> T? {
        let object = objectID(identifier).flatMap { managed.registeredObject(for: $0) as? ModelObject }
        return object.flatMap(model(of:)) as? T
    }

    /// The model with an identifier, read from the store if need be; nil if the store has none.
    func existingModel(for identifier: PersistentIdentifier) -> (any PersistentModel)? {
        takeInSaves()
        return existingObject(for: identifier).flatMap(model(of:))
    }

    func existingObject(for identifier: PersistentIdentifier) -> ModelObject? {
        objectID(identifier).flatMap { try? managed.existingObject(with: $0) as? ModelObject }
    }

    private static func absent(_ type: any PersistentModel.Type) -> any PersistentModel {
        func make<M: PersistentModel>(_: M.Type) -> any PersistentModel { PropertyDefaults.neutralModel() as M }
        return make(type)
    }

    /// The object of a model that had its identifier before it was inserted, and is not saved.
    private func unsavedObject(_ identifier: PersistentIdentifier) -> ModelObject? {
        managed.kept.first { ($0.model as? any PersistentModel)?.rootStorage?.identity == identifier }
    }

    /// The ID of an object of this context's stores, which another container may have opened, too; nil for one of other stores.
    func ownID(_ id: NSManagedObjectID) -> NSManagedObjectID? {
        let coordinator = container.container.persistentStoreCoordinator
        if id.isTemporaryID { return managed.registeredObject(for: id) == nil ? nil : id }
        return id.persistentStore?.persistentStoreCoordinator === coordinator
            ? id : coordinator.managedObjectID(forURIRepresentation: id.uriRepresentation())
    }

    func objectID(_ identifier: PersistentIdentifier) -> NSManagedObjectID? {
        switch identifier.id.form {
        case .object(let id): ownID(id)
        case .unsaved: unsavedObject(identifier)?.objectID
        case .uri(let url): container.container.persistentStoreCoordinator.managedObjectID(forURIRepresentation: url)
        }
    }

    // MARK: Requests

    func objects<T: PersistentModel>(_ descriptor: FetchDescriptor<T>, includesSubclasses: Bool = true) throws -> [ModelObject] {
        takeInSaves()
        let (request, filter) = try request(descriptor)
        request.includesSubentities = includesSubclasses
        return try filter.map { try filtered(request, $0, descriptor) } ?? managed.fetch(request)
    }

    /// The objects of a request whose predicate the program has to evaluate.
    private func filtered<T: PersistentModel>(
        _ request: NSFetchRequest<ModelObject>, _ filter: Predicate<T>, _ descriptor: FetchDescriptor<T>
    ) throws -> [ModelObject] {
        request.fetchLimit = 0
        request.fetchOffset = 0
        let found: [ModelObject]
        if descriptor.includePendingChanges || !managed.hasChanges {
            found = try objects(of: request, for: filter)
        } else {
            // The models of this context have their unsaved values. Those of a context without changes have the stored ones.
            let stored = Set(try ModelContext(container).objects(of: request, for: filter).map(\.objectID))
            found = try managed.fetch(request).filter { stored.contains($0.objectID) }
        }
        let rest = found.dropFirst(max(descriptor.fetchOffset ?? 0, 0))
        return Array(descriptor.fetchLimit.map { rest.prefix(max($0, 0)) } ?? rest)
    }

    private func objects<T: PersistentModel>(of request: NSFetchRequest<ModelObject>, for filter: Predicate<T>) throws -> [ModelObject] {
        try managed.fetch(request).filter { object in
            guard let model = model(of: object) as? T else { return false }
            return try holds(filter, for: model)
        }
    }

    func holds<T: PersistentModel>(_ filter: Predicate<T>, for model: T) throws -> Bool {
        do {
            return try filter.evaluate(model)
        } catch let error as PredicateError {
            throw SwiftDataError.unsupportedPredicate.because("The predicate \(filter) cannot be evaluated: \(error)", underlying: error)
        }
    }

    /// - Returns: the request, and the predicate if the program has to evaluate it.
    func request<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> (NSFetchRequest<ModelObject>, Predicate<T>?) {
        let type = ModelType.of(T.self)
        guard let entity = container.mapped.entity(of: type) else {
            throw SwiftDataError.unknownSchema.because("\(type.name) is not in the schema of the container. Add the class to it.")
        }
        let request = NSFetchRequest<ModelObject>(entityName: type.name)
        request.entity = entity
        request.includesPendingChanges = descriptor.includePendingChanges
        request.fetchLimit = max(descriptor.fetchLimit ?? 0, 0)
        request.fetchOffset = max(descriptor.fetchOffset ?? 0, 0)
        let predicates = ModelPredicates(mapped: container.mapped) { [unowned self] in objectID($0) }
        if !descriptor.sortBy.isEmpty { request.sortDescriptors = try predicates.descriptors(descriptor.sortBy) }
        if !descriptor.relationshipKeyPathsForPrefetching.isEmpty {
            request.relationshipKeyPathsForPrefetching = try descriptor.relationshipKeyPathsForPrefetching.map { keyPath in
                do {
                    return try PropertyPath.of(keyPath, root: type).keys.joined(separator: ".")
                } catch {
                    throw SwiftDataError.unsupportedKeyPath.because("\(error)")
                }
            }
        }
        if let limit = descriptor.fetchLimit, limit <= 0 {
            // A request takes a limit of 0 for none.
            request.predicate = NSPredicate(value: false)
            return (request, nil)
        }
        defer { if container.hasDataStores { request.keep(descriptor) } }
        if descriptor.hasRunTimeParts { predicates.addRunTimeParts(of: descriptor, to: request, entity) }
        guard let predicate = descriptor.predicate else { return (request, nil) }
        do {
            request.predicate = NSPredicate.both(try predicates.predicate(predicate, entity: entity), request.predicate)
            return (request, nil)
        } catch is PredicateTranslationError {
            return (request, predicate)
        }
    }
}

/// Stands for a model of an identifier whose entity no class of the schema has.
final class AbsentModel: PersistentModel {
    private let identifier: PersistentIdentifier?
    var persistentBackingData: any BackingData<AbsentModel>

    init(_ identifier: PersistentIdentifier) {
        self.identifier = identifier
        persistentBackingData = DefaultBackingData<AbsentModel>()
    }

    init(backingData: any BackingData<AbsentModel>) {
        identifier = nil
        persistentBackingData = backingData
    }

    static var schemaMetadata: [Schema.PropertyMetadata] { [] }
    var persistentModelID: PersistentIdentifier { identifier ?? PersistentIdentifier(unsaved: Self.self) }
}

extension ModelContext {
    /// Whether the store answers a predicate without the program's help.
    package func answersByStore<T: PersistentModel>(_ predicate: Predicate<T>) throws -> Bool {
        try request(FetchDescriptor(predicate: predicate)).1 == nil
    }
}
