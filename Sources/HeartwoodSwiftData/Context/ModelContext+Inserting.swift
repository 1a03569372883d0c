import Foundation
@_spi(GeneratedCode) import Heartwood

extension ModelContext {
    /// Takes a model in, with all models of no context that its relationships lead to. A model of this context stays as it is.
    public func insert<T: PersistentModel>(_ model: T) { insertAny(model) }

    func insertAny(_ model: any PersistentModel) {
        takeInSaves()
        var made: [(ModelObject, [[Any?]])] = []
        var waiting: [any PersistentModel] = [model]
        while let next = waiting.popLast() {
            guard let (object, values) = adopt(next) else { continue }
            made.append((object, values))
            waiting += Self.neighbours(object, values)
        }
        // Objects first, then values: two models may lead to each other.
        for (object, values) in made.reversed() { fill(object, values) }
    }

    /// Makes the object of a model of no context.
    /// - Returns: the object, and the model's values by level and position; nil for a model that has an object.
    private func adopt(_ model: any PersistentModel) -> (ModelObject, [[Any?]])? {
        Self.letGoOfRemoved(model)
        let storages = model._$storages()
        guard let root = storages.first else {
            note(.missingModelContext.because("\(type(of: model)) has no storage. Declare it with @Model."))
            return nil
        }
        if let object = root.object {
            if object.managedObjectContext !== managed, object.managedObjectContext != nil {
                note(.missingModelContext.because(
                    "A \(type(of: model)) of another context was inserted. Fetch it in this context by its identifier."))
            } else if object.isDeleted {
                // Inserting a deleted model takes the deletion back.
                managed.insert(object)
            }
            return nil
        }
        let type = ModelType.of(Swift.type(of: model))
        guard let entity = container.mapped.entity(of: type) else {
            note(.unknownSchema.because("\(type.name) is not in the schema of the container. Add the class to it."))
            return nil
        }
        guard !entity.isAbstract else {
            note(.modelValidationFailure.because(
                "The store's model says that \(type.name) is abstract: it has objects of its subclasses alone, and the new one was not inserted."))
            return nil
        }
        let object = ModelObject(entity: entity, insertInto: managed)
        let mapped = container.mapped.entity(entity)
        object.mappedEntity = mapped
        object.model = model
        // The identity stays until a store of the program's own replaces it.
        if container.hasDataStores, root.identity == nil { root.identity = PersistentIdentifier(unsaved: type.type) }
        let values = storages.map(\.values)
        for storage in storages {
            storage.attach(object, managed, mapped.places(of: storage.modelType))
        }
        object.keep()
        return (object, values)
    }

    /// A model that was inserted and deleted, or whose insertion was undone, is of no context: nothing was saved of it. It has its values again.
    private static func letGoOfRemoved(_ model: any PersistentModel) {
        guard let object = model.rootStorage?.object, object.managedObjectContext == nil else { return }
        Farewell(object)?.give()
    }

    /// The models of no context that the values lead to.
    private static func neighbours(_ object: ModelObject, _ values: [[Any?]]) -> [any PersistentModel] {
        var found: [any PersistentModel] = []
        for place in object.mapped.allPlaces where place.property.destination != nil {
            guard let value = value(of: place.property, in: values) else { continue }
            let models = (value as? [AnyObject]) ?? [value as AnyObject]
            for case let model as any PersistentModel in models where model.rootStorage?.object == nil { found.append(model) }
        }
        return found
    }

    private static func value(of property: ModelProperty, in values: [[Any?]]) -> Any? {
        guard property.level < values.count, property.position < values[property.level].count,
            let value = values[property.level][property.position]
        else { return nil }
        return Unwrapping.value(value)
    }

    private func fill(_ object: ModelObject, _ values: [[Any?]]) {
        for place in object.mapped.allPlaces where place.index >= 0 {
            guard let value = Self.value(of: place.property, in: values) else { continue }
            switch place.property.kind {
            case .attribute:
                guard let attribute = place.attribute, let coding = place.coding else { continue }
                do {
                    try coding.writeAny(value, to: object, at: attribute)
                    place.property.keep(value)
                } catch {
                    note(.encodingFailure(error, place.property.name, of: object.entity.name ?? ""))
                }
            case .toOne:
                let destination = (value as? any PersistentModel).flatMap { self.object(of: $0) }
                if let destination { object.setManagedObject(destination, at: place.index) }
            case .toMany:
                let members = ((value as? [AnyObject]) ?? []).compactMap { ($0 as? any PersistentModel).flatMap { self.object(of: $0) } }
                // What the inverses of models filled before have put there stays.
                let known = object.managedObjects(at: place.index)
                let added = members.filter { member in !known.contains { $0 === member } }
                if !added.isEmpty { object.setManagedObjects(known + added, at: place.index) }
            case .unfit: continue
            }
        }
    }

    /// The object of a model in this context. A model of no context is inserted; one of another context is found by its identifier.
    func object(of model: any PersistentModel) -> ModelObject? {
        Self.letGoOfRemoved(model)
        if model.rootStorage?.object == nil { insertAny(model) }
        guard let object = model.rootStorage?.object else { return nil }
        if object.managedObjectContext === managed { return object }
        guard !object.objectID.isTemporaryID, let id = ownID(object.objectID) else {
            note(.missingModelContext.because(
                "A relationship was set to a \(type(of: model)) that another context has and has not saved, or whose store this container has "
                    + "not. Save that context first."))
            return nil
        }
        return managed.object(with: id) as? ModelObject
    }

    // MARK: Deleting

    /// Deletes a model at the next save. One that was never saved is of no context again at once. A model of no context stays as it is.
    public func delete<T: PersistentModel>(_ model: T) {
        takeInSaves()
        guard let object = model.rootStorage?.object, object.managedObjectContext === managed else { return }
        object.keep()
        let farewell = object.isInserted ? Farewell(object) : nil
        managed.delete(object)
        // An undo brings the object back with its model.
        if object.managedObjectContext == nil, undoManager == nil { farewell?.give() }
    }

    /// Deletes the models of a class that a predicate chooses, at the next save; in a `DataStoreBatching` store at once.
    /// - Throws: as `fetch` does.
    public func delete<T: PersistentModel>(model: T.Type, where predicate: Predicate<T>? = nil, includeSubclasses: Bool = true) throws {
        if container.hasDataStores, try deleteAtOnce(model, where: predicate, includeSubclasses: includeSubclasses) { return }
        for found in try objects(FetchDescriptor<T>(predicate: predicate), includesSubclasses: includeSubclasses) {
            found.keep()
            managed.delete(found)
        }
    }
}
