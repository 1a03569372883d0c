import Foundation

extension NSManagedObject {
    /// The index of a property by name.
    /// - Precondition: the entity has the property, as key-value coding demands on Apple's platforms.
    final func propertyIndex(_ name: String) -> Int {
        guard let index = runtime.index(of: name) ?? spareIndex(name) else { refuse(name) }
        return index
    }

    /// The index of a property that only a `KeyPathRecorder` gives the object.
    final func spareIndex(_ name: String) -> Int? { (managedObjectContext as? KeyPathRecorder)?.spareIndex(name) }

    final func refuse(_ name: String) -> Never {
        misuse(
            "The entity \(entity.name ?? "?") is not key value coding-compliant for the key \"\(name)\"; it has "
                + runtime.properties.map(\.name).sorted().joined(separator: ", ") + ".")
    }

    final func value(at index: Int) -> Any? {
        // A copy of the property would count the references that it has.
        let kind = runtime.properties[index].kind
        switch kind {
        case .toOne: return managedObject(at: index)
        case .toMany: return runtime.properties[index].collection(managedObjects(at: index))
        case .undefined: return undefinedValue(at: index)
        default: return AttributeCoding.object(managedValue(index), property: entity.propertiesByIndex[index], kind: kind)
        }
    }

    private func undefinedValue(at index: Int) -> Any? {
        if runtime.properties[index].elements != nil { return compositeValue(runtime.properties[index]) }
        if fetchedProperty(index) != nil { return fetchedValue(at: index) }
        let value = managedValue(index)
        switch value {
        // Of a recorder's objects: their entity does not say which properties lead to others.
        case .reference: return managedObject(at: index)
        case .toMany: return NSSet(array: managedObjects(at: index))
        default: return AttributeCoding.object(value, property: entity.propertiesByIndex[index], kind: .undefined)
        }
    }

    /// Takes a number that does not fit the attribute too: the next save refuses it, as validation does.
    /// - Precondition: the value's type is the property's; nil clears it.
    final func setModelledValue(_ value: Any?, at index: Int) {
        do {
            try setValue(value, at: index, takesUnfit: true)
        } catch {
            misuse(error.message)
        }
    }

    /// The stored form of an attribute's value.
    /// - Parameter takesUnfit: whether a number that does not fit is one too.
    /// - Returns: nil if the attribute cannot hold it.
    final func converted(_ value: Any?, _ kind: PropertyKind, takesUnfit: Bool) -> ManagedValue? {
        if let converted = ManagedValue(attributeObject: value, kind: kind) { return converted }
        guard takesUnfit, let number = AttributeCoding.unfitNumber(value, kind) else { return nil }
        ownStorage().mayHoldUnfit = true
        return .object(number)
    }

    /// The reason why a property cannot hold a value.
    struct ValueMismatch: Error {
        let message: String
    }

    /// Like `setValue(_:forKey:)`, for values that come from files: a wrong type throws and changes nothing.
    final func setValue(_ value: Any?, at index: Int, takesUnfit: Bool = false) throws(ValueMismatch) {
        let property = runtime.properties[index]
        switch property.kind {
        case .toOne:
            if value == nil || value is NSNull {
                setManagedObject(nil, at: index)
            } else if let object = value as? NSManagedObject {
                try check(object, for: property)
                setManagedObject(object, at: index)
            } else {
                throw ValueMismatch(message: AttributeCoding.mismatch(value, property.name, property.kind, entity: entity))
            }
        case .toMany:
            guard let members = NSManagedObject.members(of: value) else {
                throw ValueMismatch(message: AttributeCoding.mismatch(value, property.name, property.kind, entity: entity))
            }
            for member in members { try check(member, for: property) }
            setManagedObjects(members, at: index)
        case .undefined where property.elements != nil: try setCompositeValue(value, property, takesUnfit: takesUnfit)
        case .undefined where fetchedProperty(index) != nil: throw ValueMismatch(message: fetchedRefusal(property.name))
        default:
            guard let converted = converted(value, property.kind, takesUnfit: takesUnfit) else {
                throw ValueMismatch(message: AttributeCoding.mismatch(value, property.name, property.kind, entity: entity))
            }
            setManagedValue(converted, at: index)
        }
    }

    private final func check(_ object: NSManagedObject, for property: PropertyRuntime) throws(ValueMismatch) {
        if let fault = mismatch(object, for: property), !isMergedDeletion(on: object, property) { throw ValueMismatch(message: fault) }
    }

    static func members(of value: Any?) -> [NSManagedObject]? {
        switch value {
        case nil, is NSNull: []
        case let set as NSSet: set.allObjects as? [NSManagedObject]
        case let set as NSOrderedSet: set.array as? [NSManagedObject]
        case let set as Set<NSManagedObject>: Array(set)
        case let array as [NSManagedObject]: array
        case let array as NSArray: array.compactMap { $0 } as? [NSManagedObject]
        default: nil
        }
    }

    /// The value at the end of a path of keys joined by dots. A to-many relationship on the way collects its members' values into a set, a fetched
    /// property its results' values into an array, with `NSNull` for null. Other values give the keys that predicates find in them: the values of a
    /// dictionary, `"entity.name"`, the `length` of a text. Collection operators are those of predicates: `"tasks.@count"`,
    /// `"feedback.@avg.rating"`.
    /// - Precondition: each key is a property of its object's entity, and there are at most 64.
    public final func value(forKeyPath path: String) -> Any? {
        guard let dot = path.firstIndex(of: ".") else { return value(forKey: path) }
        demand(
            path.utf8.count <= PredicateKeyPath.keysMax || path.utf8.count { $0 == UInt8(ascii: ".") } < PredicateKeyPath.keysMax,
            "\(entity.name ?? "?") has no value: \(PredicateFault.longPath).")
        if path.utf8.contains(UInt8(ascii: "@")) { return operatorValue(path) }
        if entity.hasComposites, let index = runtime.index(of: path) { return value(at: index) }
        let rest = String(path[path.index(after: dot)...])
        let first = value(forKey: String(path[..<dot]))
        switch first {
        case let object as NSManagedObject: return object.value(forKeyPath: rest)
        case let set as NSOrderedSet:
            return NSOrderedSet(array: set.array.compactMap { ($0 as? NSManagedObject)?.value(forKeyPath: rest) })
        case let set as NSSet:
            return NSSet(array: set.allObjects.compactMap { ($0 as? NSManagedObject)?.value(forKeyPath: rest) })
        case let list as NSArray: return fetchedValues(list, rest)
        case nil: return nil
        default: return PredicateKeyPath.value(rest.split(separator: ".").map(String.init)[...], of: first).object
        }
    }

    /// Sets a property of the object at the end of a path through to-one relationships; does nothing if one of them is nil.
    public final func setValue(_ value: Any?, forKeyPath path: String) {
        if path.contains("."), let owner = compositeOwner(of: path) { return owner.object.setValue(value, forKey: owner.key) }
        let end = end(ofPath: path)
        end.owner?.setValue(value, forKey: end.key)
    }

    /// The mutable set of the object at the end of a path through to-one relationships (see `mutableSetValue(forKey:)`).
    /// - Precondition: none of them is nil.
    public final func mutableSetValue(forKeyPath path: String) -> NSMutableSet {
        let end = presentEnd(ofPath: path)
        return end.owner.mutableSetValue(forKey: end.key)
    }

    /// The mutable ordered set of the object at the end of a path through to-one relationships (see `mutableOrderedSetValue(forKey:)`).
    /// - Precondition: none of them is nil.
    public final func mutableOrderedSetValue(forKeyPath path: String) -> NSMutableOrderedSet {
        let end = presentEnd(ofPath: path)
        return end.owner.mutableOrderedSetValue(forKey: end.key)
    }

    /// The object at the end of a path without its last key, or nil if one on the way is nil; and the last key.
    private func end(ofPath path: String) -> (owner: NSManagedObject?, key: String) {
        guard let dot = path.lastIndex(of: ".") else { return (self, path) }
        return (value(forKeyPath: String(path[..<dot])) as? NSManagedObject, String(path[path.index(after: dot)...]))
    }

    private func presentEnd(ofPath path: String) -> (owner: NSManagedObject, key: String) {
        let end = end(ofPath: path)
        guard let owner = end.owner else {
            misuse("\(entity.name ?? "?").\(path.dropLast(end.key.count + 1)) is no object, so it has no \(end.key).")
        }
        return (owner, end.key)
    }

    /// The value of a property, without the access notifications. For accessors written by hand. A to-many relationship gives a mutable set;
    /// `didChangeValue(forKey:)` applies the changes that an accessor makes to it after `willChangeValue(forKey:)`.
    public final func primitiveValue(forKey name: String) -> Any? {
        let index = propertyIndex(name)
        return runtime.properties[index].kind == .toMany ? primitiveSet(at: index) : value(at: index)
    }

    /// Sets an attribute or a to-one relationship without changing its inverse or its context's list of changes. A to-many relationship is set as
    /// by `setValue(_:forKey:)`, with its inverse.
    /// - Precondition: as for `setValue(_:forKey:)`.
    public final func setPrimitiveValue(_ value: Any?, forKey name: String) {
        let index = propertyIndex(name)
        let property = runtime.properties[index]
        checkQueue()
        if isFault { _ = row }
        switch property.kind {
        case .toOne:
            guard let object = value as? NSManagedObject else {
                guard value == nil || value is NSNull else {
                    misuse(AttributeCoding.mismatch(value, property.name, property.kind, entity: entity))
                }
                return setSilently(.null, at: index)
            }
            setSilently(fitting(object, for: property).map { .reference($0.key) } ?? .null, at: index)
        case .toMany:
            storage?.primitiveSets[index]?.set = nil
            setModelledValue(value, at: index)
        case .undefined where property.elements != nil || fetchedProperty(index) != nil: setValue(value, forKey: name)
        default:
            guard let converted = converted(value, property.kind, takesUnfit: true) else {
                misuse(AttributeCoding.mismatch(value, property.name, property.kind, entity: entity))
            }
            setSilently(converted, at: index)
        }
    }

    private func setSilently(_ value: ManagedValue, at index: Int) {
        let storage = changeStorage()
        storage.values[index] = value
        storage.silent.insert(index)
    }

    /// Notes that a property has changed, even if a primitive setter has set its value.
    final func noteValue(ofKey key: String) {
        guard let storage, !storage.silent.isEmpty, let index = runtime.index(of: key) else { return }
        storage.silent.remove(index)
    }

    public func predicateValue(forKey key: String) -> Any? {
        if key == "self" || key == "SELF" { return self }
        if key == "objectID" { return objectID }
        // A key of another entity of the family, which the fetch's entity or one of its subentities has, gives null here.
        let property = runtime.index(of: key)
        if property == nil {
            if entity.isKnownInFamily(key) { return nil }
            // A plain object overrides no `value(forUndefinedKey:)`.
            if let context = managedObjectContext, context.making.usesPlainObjects, OwnKey(rawValue: key) == nil {
                context.making.unknownKey = context.making.unknownKey ?? "\(entity.name ?? "?").\(key)"
                return nil
            }
        }
        if hasChanges || property.flatMap(touchedToManyState)?.isChanged ?? false { managedObjectContext?.queries.hasMetChange = true }
        return value(forKey: key)
    }
}
