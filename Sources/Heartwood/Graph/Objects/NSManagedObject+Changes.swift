import Foundation

extension NSManagedObject {
    /// Implements `changedValues()`.
    final func valuesThatDiffer() -> [String: Any] {
        checkQueue("changedValues()")
        var result: [String: Any] = [:]
        // All values of an inserted object are new.
        let silent = isInserted ? [] : storage?.silent ?? []
        for index in changedIndices() where !runtime.properties[index].isTransient && !silent.contains(index) {
            let declared = runtime.declaredIndex(index)
            result[runtime.properties[declared].name] = value(at: declared) ?? NSNull()
        }
        return result
    }

    /// Implements `committedValues(forKeys:)`.
    final func savedValues(forKeys names: [String]?) -> [String: Any] {
        checkQueue("committedValues(forKeys:)")
        guard !isInserted else { return [:] }
        var result: [String: Any] = [:]
        for (index, property) in runtime.properties.enumerated()
        where !property.isTransient && fetchedProperty(index) == nil
            && names?.contains(runtime.properties[runtime.declaredIndex(index)].name) ?? true
        {
            switch property.kind {
            case .toOne:
                if case .reference(let key) = committedValue(index), let object = managedObjectContext?.object(for: key) {
                    result[property.name] = object
                } else {
                    result[property.name] = NSNull()
                }
            case .toMany:
                result[property.name] = collection(managedObjectContext?.storedMembers(of: self, property: index) ?? [], property)
            default:
                result[property.name] = AttributeCoding.object(
                    committedValue(index), property: entity.propertiesByIndex[index], kind: property.kind) ?? NSNull()
            }
        }
        return runtime.nested(result)
    }

    /// Implements `changedValuesForCurrentEvent()`.
    final func valuesBeforeEvent() -> [String: Any] {
        checkQueue("changedValuesForCurrentEvent()")
        guard hasChanges, !state.contains(.processed), let storage, !storage.values.isEmpty else { return [:] }
        let base = storage.eventValues ?? []
        var result: [String: Any] = [:]
        for index in changedIndices(since: base) where !runtime.properties[index].isTransient {
            let property = runtime.properties[index]
            let old = index < base.count && !base[index].isUnset ? base[index] : isInserted ? property.initial : committedValue(index)
            switch property.kind {
            case .toOne:
                if case .reference(let key) = old, let object = managedObjectContext?.object(for: key) { result[property.name] = object }
            case .toMany: result[property.name] = collection(members(index, before: old), property)
            default: result[property.name] = AttributeCoding.object(old, property: entity.propertiesByIndex[index], kind: property.kind)
            }
            if result[property.name] == nil { result[property.name] = NSNull() }
        }
        return runtime.nested(result)
    }

    private func collection(_ keys: [ObjectKey], _ property: PropertyRuntime) -> Any {
        property.collection(keys.compactMap { managedObjectContext?.object(for: $0) })
    }

    /// The members of a to-many relationship before the event.
    /// - Parameter old: the value kept at the event's start; unset if the relationship was as stored.
    private func members(_ index: Int, before old: ManagedValue) -> [ObjectKey] {
        if case .toMany(let state) = old, let known = state.members { return known }
        let stored = managedObjectContext?.storedMembers(of: self, property: index) ?? []
        guard case .toMany(let state) = old else { return stored }
        let before = state.copy
        before.fire(stored)
        return before.members ?? []
    }

    private func changedIndices(since base: [ManagedValue]) -> [Int] {
        guard let values = storage?.values else { return [] }
        return values.indices.filter { index in
            let before = index < base.count ? base[index] : .unset
            switch values[index] {
            case .unset: return false
            case .toMany(let state):
                if case .toMany(let old) = before { return state.differs(from: old) }
                return state.isChanged
            case let value:
                if !before.isUnset { return !isSame(value, before, index) }
                return !isSame(value, isInserted ? runtime.properties[index].initial : committedValue(index), index)
            }
        }
    }

    /// Whether the members or their order differ from the store's. If the members were not read, only the added and removed ones are looked up.
    private func differs(_ state: ToManyState, at index: Int) -> Bool {
        if let base = state.base { return !state.added.isEmpty || !state.removed.isEmpty || state.members ?? base != base }
        guard let context = managedObjectContext else { return true }
        return state.added.contains { !context.stores($0, in: self, property: index) }
            || state.removed.contains { context.stores($0, in: self, property: index) }
    }

    /// The indices of the properties that differ from the row. Values from primitive setters count only once the object has changed.
    final func changedIndices() -> [Int] {
        guard hasChanges || managedObjectContext == nil, let storage, !storage.values.isEmpty else { return [] }
        return storage.values.indices.filter { index in
            let value = storage.values[index]
            switch value {
            case .unset: return false
            case .toMany(let state): return state.isChanged && differs(state, at: index)
            case .null where isInserted: return false
            default: return isInserted || !isSame(value, committedValue(index), index)
            }
        }
    }

    /// Whether two values of a property are equal. One may be a transformable's object and the other its bytes in a row.
    final func isSame(_ value: ManagedValue, _ other: ManagedValue, _ index: Int) -> Bool {
        if value.isEqual(to: other) { return true }
        let kind = runtime.properties[index].kind
        guard kind == .transformable, !value.isNull, !other.isNull else { return false }
        let property = entity.propertiesByIndex[index]
        guard let one = AttributeCoding.object(value, property: property, kind: kind),
            let two = AttributeCoding.object(other, property: property, kind: kind)
        else { return false }
        return ObjectEquality.areSame(one, two)
    }
}
