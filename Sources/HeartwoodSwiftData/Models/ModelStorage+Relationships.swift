import Foundation
@_spi(GeneratedCode) import Heartwood

// What the accessors of `@Model` call for relationships.

extension ModelStorage {
    public final func value<M: PersistentModel, Value: PersistentModel>(of model: M, _ keyPath: KeyPath<M, Value>, at position: Int) -> Value {
        access(model, keyPath)
        return value(at: position)
    }

    public final func value<M: PersistentModel, Value: PersistentModel>(of model: M, _ keyPath: KeyPath<M, Value?>, at position: Int) -> Value? {
        access(model, keyPath)
        return value(at: position)
    }

    public final func value<M: PersistentModel, Value: RelationshipCollection>(
        of model: M, _ keyPath: KeyPath<M, Value>, at position: Int
    ) -> Value {
        access(model, keyPath)
        return value(at: position)
    }

    public final func value<M: PersistentModel, Value: RelationshipCollection & Decodable>(
        of model: M, _ keyPath: KeyPath<M, Value>, at position: Int
    ) -> Value {
        access(model, keyPath)
        return value(at: position)
    }

    public final func setValue<M: PersistentModel, Value: PersistentModel>(
        _ newValue: Value, of model: M, _ keyPath: KeyPath<M, Value>, at position: Int
    ) {
        withMutation(of: model, keyPath) { set(newValue, of: model, at: position) }
    }

    public final func setValue<M: PersistentModel, Value: PersistentModel>(
        _ newValue: Value?, of model: M, _ keyPath: KeyPath<M, Value?>, at position: Int
    ) {
        withMutation(of: model, keyPath) { set(newValue, of: model, at: position) }
    }

    public final func setValue<M: PersistentModel, Value: RelationshipCollection>(
        _ newValue: Value, of model: M, _ keyPath: KeyPath<M, Value>, at position: Int
    ) {
        withMutation(of: model, keyPath) { set(newValue, of: model, at: position) }
    }

    public final func setValue<M: PersistentModel, Value: RelationshipCollection & Encodable>(
        _ newValue: Value, of model: M, _ keyPath: KeyPath<M, Value>, at position: Int
    ) {
        withMutation(of: model, keyPath) { set(newValue, of: model, at: position) }
    }

    public final func initialize<Value: PersistentModel>(_ value: Value, at position: Int) { setLoose(.model(value), at: position) }
    public final func initialize<Value: PersistentModel>(_ value: Value?, at position: Int) { setLoose(.model(value), at: position) }
    public final func initialize<Value: RelationshipCollection>(_ value: Value, at position: Int) {
        setLoose(.models(value._models), at: position)
    }
    public final func initialize<Value: RelationshipCollection & Encodable>(_ value: Value, at position: Int) {
        setLoose(.models(value._models), at: position)
    }
}

// MARK: Reading

extension ModelStorage {
    final func value<Value: PersistentModel>(at position: Int) -> Value {
        let found: Value? = value(at: position)
        return found ?? PropertyDefaults.neutralModel()
    }

    final func value<Value: PersistentModel>(at position: Int) -> Value? {
        guard let object else {
            if let probe { return probe.value(of: self, at: position) }
            return loose(position).members.first as? Value
        }
        guard let index = index(position), let destination = object.managedObject(at: index) as? ModelObject else { return nil }
        return home?.model(of: destination, as: Value.self)
    }

    final func value<Value: RelationshipCollection>(at position: Int) -> Value {
        guard let object else {
            if let probe { return Value(_models: probe.members(of: self, at: position)) }
            return Value(_models: loose(position).members.compactMap { $0 as? Value.PersistentElement })
        }
        guard let index = index(position), let home else { return Value(_models: []) }
        return Value(_models: object.managedObjects(at: index).compactMap { member in
            (member as? ModelObject).flatMap { home.model(of: $0, as: Value.PersistentElement.self) }
        })
    }
}

// MARK: Writing

extension ModelStorage {
    /// - Parameter model: the model of this storage; nil where it is not known yet, in an initializer.
    final func set<Value: PersistentModel>(_ newValue: Value, of model: (any PersistentModel)?, at position: Int) {
        set(newValue as Value?, of: model, at: position)
    }

    final func set<Value: PersistentModel>(_ newValue: Value?, of model: (any PersistentModel)?, at position: Int) {
        join(newValue.map { [$0] } ?? [], model)
        guard let object else {
            let former = loose(position).members
            setLoose(.model(newValue), at: position)
            guard let model else { return }
            LooseInverse.renew(of: model, modelType, position, former: former, now: newValue.map { [$0] } ?? [])
            return
        }
        guard let place = place(position) else { return }
        object.keep()
        let former = place.inverse == nil ? nil : object.managedObject(at: place.index)
        let destination = newValue.flatMap { object.modelContext?.object(of: $0) }
        object.setManagedObject(destination, at: place.index)
        announceInverse(place, [former, destination])
    }

    final func set<Value: RelationshipCollection>(_ newValue: Value, of model: (any PersistentModel)?, at position: Int) {
        let members: [any PersistentModel] = newValue._models ?? []
        join(members, model)
        guard let object else {
            let former = loose(position).members
            setLoose(.models(newValue._models), at: position)
            if let model { LooseInverse.renew(of: model, modelType, position, former: former, now: members) }
            return
        }
        guard let place = place(position), let context = object.modelContext else { return }
        object.keep()
        let former = place.inverse == nil ? [] : object.managedObjects(at: place.index)
        let destinations = members.compactMap { context.object(of: $0) }
        object.setManagedObjects(destinations, at: place.index)
        announceInverse(place, Array(Set(former).symmetricDifference(destinations)))
    }

    /// Takes a model of no context into the context of a model that it gets a relationship with.
    private func join(_ others: [any PersistentModel], _ model: (any PersistentModel)?) {
        guard object == nil, let model, let context = others.lazy.compactMap({ $0.rootStorage?.object?.modelContext }).first else { return }
        context.insertAny(model)
    }

    /// Tells the observers of the other ends.
    private func announceInverse(_ place: PropertyPlace, _ others: [NSManagedObject?]) {
        guard let inverse = place.inverse else { return }
        for case let other as ModelObject in others {
            guard other.model != nil else { continue }
            other.keep()
            other.announce { $0.property.name == inverse }
        }
    }
}

extension ModelObject {
    /// Tells the observers of the model that properties have changed.
    func announce(where isChanged: (PropertyPlace) -> Bool) {
        guard let model = model as? any PersistentModel else { return }
        for storage in model._$storages() where storage.isObserved {
            for place in storage.allPlaces where isChanged(place) { storage.announce(model, place.property.keyPath) }
        }
    }
}

extension ModelStorage {
    final func announce<M: PersistentModel>(_ model: M, _ keyPath: AnyKeyPath) {
        func announce<Member>(_: Member.Type) {
            guard let keyPath = keyPath as? KeyPath<M, Member> else { return }
            withMutation(of: model, keyPath) {}
        }
        _openExistential(type(of: keyPath).valueType, do: announce)
    }
}
