import Foundation
@_spi(GeneratedCode) import Heartwood

extension ModelContext {
    /// Takes a model in, with all models of no context that its relationships lead to. A model of this context stays as it is.
    public func insert<T: PersistentModel>(_ model: T) { insertAny(model) }

    func insertAny(_ model: any PersistentModel) {
        takeInSaves()
        guard let first = adopt(model) else { return }
        var waiting = first.neighbours
        guard !waiting.isEmpty else { return fill(first) }
        var made = [first]
        while let next = waiting.popLast() {
            guard let adopted = adopt(next) else { continue }
            made.append(adopted)
            waiting += adopted.neighbours
        }
        // Objects first, then values: two models may lead to each other.
        for adopted in made.reversed() { fill(adopted) }
    }

    /// A model that this context takes in, and the values that it had before.
    private struct Adopted {
        let object: ModelObject
        let entity: MappedEntity
        /// Those of the class without a model above it.
        let rootValues: [LooseValue]
        /// By level, those of the classes below it.
        let otherValues: [[LooseValue]]

        /// The models of no context that the values lead to.
        var neighbours: [any PersistentModel] {
            var found: [any PersistentModel] = []
            for place in entity.relationshipPlaces {
                for model in value(of: place.property).members where model.rootStorage?.object == nil { found.append(model) }
            }
            return found
        }

        func value(of property: ModelProperty) -> LooseValue { value(property.level, property.position) }

        @inline(__always)
        func value(_ level: Int, _ position: Int) -> LooseValue {
            if level == 0 { return position < rootValues.count ? rootValues[position] : .unset }
            guard level <= otherValues.count, position < otherValues[level - 1].count else { return .unset }
            return otherValues[level - 1][position]
        }
    }

    /// Makes the object of a model of no context.
    /// - Returns: nil for a model that has an object.
    private func adopt(_ model: any PersistentModel) -> Adopted? {
        guard let root = model.rootStorage else {
            note(.missingModelContext.because("\(type(of: model)) has no storage. Declare it with @Model."))
            return nil
        }
        Self.letGoOfRemoved(root)
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
        guard let mapped = managed.entity(of: Swift.type(of: model)), let type = mapped.type else {
            let name = ModelType.of(Swift.type(of: model)).name
            note(.unknownSchema.because("\(name) is not in the schema of the container. Add the class to it."))
            return nil
        }
        guard !mapped.entity.isAbstract else {
            note(.modelValidationFailure.because(
                "The store's model says that \(type.name) is abstract: it has objects of its subclasses alone, and the new one was not inserted."))
            return nil
        }
        let object = ModelObject(entity: mapped.entity, insertInto: managed)
        object.hold(model)
        // The identity stays until a store of the program's own replaces it.
        if container.hasDataStores, root.identity == nil { root.identity = PersistentIdentifier(unsaved: type.type) }
        if root.identity != nil { managed.hasUnsavedIdentities = true }
        let rootValues = root.values, others = type.level == 0 ? [] : model._$storages().dropFirst()
        let adopted = Adopted(object: object, entity: mapped, rootValues: rootValues, otherValues: others.map(\.values))
        root.attach(object, managed, type.level == 0 ? mapped.places(of: type) : mapped.places(of: root.modelType))
        for storage in others { storage.attach(object, managed, mapped.places(of: storage.modelType)) }
        object.keep()
        return adopted
    }

    /// A model that was inserted and deleted, or whose insertion was undone, is of no context: nothing was saved of it. It has its values again.
    private static func letGoOfRemoved(_ root: ModelStorage) {
        guard let object = root.object, object.managedObjectContext == nil else { return }
        Farewell(object)?.give()
    }

    private func fill(_ adopted: Adopted) {
        let object = adopted.object
        for place in adopted.entity.scalars {
            switch adopted.value(place.level, place.position) {
            case .unset: continue
            case .scalar(let value): _ScalarValue(value).write(to: object, at: place.index)
            case let value: fill(object, value, adopted.entity.place(place))
            }
        }
        for place in adopted.entity.otherPlaces {
            let value = adopted.value(of: place.property)
            switch place.property.kind {
            case .attribute: fill(object, value, place)
            case .toOne:
                guard case .model(let model?) = value, let destination = self.object(of: model) else { continue }
                object.setManagedObject(destination, at: place.index)
            case .toMany:
                let members = value.members.compactMap { self.object(of: $0) }
                guard !members.isEmpty else { continue }
                // What the inverses of models filled before have put there stays.
                let known = object.managedObjects(at: place.index)
                let added = members.filter { member in !known.contains { $0 === member } }
                if !added.isEmpty { object.setManagedObjects(known + added, at: place.index) }
            case .unfit: continue
            }
        }
    }

    private func fill(_ object: ModelObject, _ value: LooseValue, _ place: PropertyPlace) {
        guard let coding = place.coding, let attribute = place.attribute else { return }
        do {
            try coding.write(value, to: object, at: attribute)
            if place.property.needsFallback, let kept = coding.value(of: value) { place.property.keep(kept) }
        } catch {
            note(.encodingFailure(error, place.property.name, of: object.entity.name ?? ""))
        }
    }

    /// The object of a model in this context. A model of no context is inserted; one of another context is found by its identifier.
    func object(of model: any PersistentModel) -> ModelObject? {
        guard let root = model.rootStorage else { return nil }
        Self.letGoOfRemoved(root)
        if root.object == nil { insertAny(model) }
        guard let object = root.object else { return nil }
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
