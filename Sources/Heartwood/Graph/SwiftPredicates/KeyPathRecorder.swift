import Foundation

/// A context whose objects report which of their properties are read.
///
/// Its objects have a neutral value in each property, and their relationships lead to more such objects. They have the flag of the debug mode, so
/// that reads of other objects cost nothing more; see `checkQueue`.
final class KeyPathRecorder: NSManagedObjectContext, @unchecked Sendable {
    // Unchecked, as its superclass: one function makes it, uses it and releases it.

    struct Read {
        let object: NSManagedObject
        let property: Int
    }

    /// A value that an accessor required, and got, since the property had none of its type.
    struct Required {
        let object: NSManagedObject
        let property: Int
        let type: Any.Type
        let value: Any?
    }

    private(set) var reads: [Read] = []
    /// The names that code has read of a class that no model in use names, in the order of their first use; nil for other classes.
    var spares: [String]?
    /// The last value that an accessor required of a spare property.
    var required: Required?
    private var isRecording = false
    /// Whether an accessor read null from a property that it requires.
    private var isNullRefused = false
    /// By object and property: the destination of a relationship.
    private var destinations: [ObjectKey: [Int: NSManagedObject]] = [:]

    static func reading(of keyPath: AnyKeyPath, entity: NSEntityDescription, root: NSManagedObject.Type) throws -> KeyPathReading {
        let recorder = KeyPathRecorder(concurrencyType: .confinementConcurrencyType)
        guard let object = recorder.make(entity, root) else {
            throw PredicateTranslationError("The entity \(entity.name ?? "?") is abstract, and no entity below it is not.")
        }
        return try recorder.reading(of: keyPath, object)
    }

    // MARK: Objects

    /// - Returns: nil for an abstract entity without concrete subentities.
    func make(_ entity: NSEntityDescription, _ objectClass: NSManagedObject.Type?) -> NSManagedObject? {
        guard let entity = entity.concreteFamily.first else { return nil }
        let object = (objectClass ?? ManagedObjectClasses.resolve(entity)).init(entity: entity, insertInto: nil)
        object.key = nextTemporaryKey(slot: .max)
        object.contextReference = .passUnretained(self)
        let storage = ObjectStorage()
        storage.values = object.runtime.properties.map { property in
            if case .null = property.initial { return property.neutralValue }
            return property.initial
        }
        object.storage = storage
        // Values set by a getter are no changes.
        object.state = [.inserted, .waking, .watched]
        identities.insert(object, for: object.key)
        return object
    }

    /// Called by an object before it reads a property's value.
    func note(_ property: Int, of object: NSManagedObject) {
        guard isRecording else { return }
        let isAgain = reads.last.map { $0.object === object && $0.property == property } ?? false
        if !isAgain { reads.append(Read(object: object, property: property)) }
        let declaration = object.runtime.properties[property]
        guard declaration.kind.isRelationship, destinations[object.key]?[property] == nil,
            let destination = declaration.destination.flatMap({ make($0, nil) })
        else { return }
        destinations[object.key, default: [:]][property] = destination
        if case .toMany(let members) = object.storage?.values[property] {
            members.add(destination.key)
        } else {
            object.storage?.values[property] = .reference(destination.key)
        }
    }

    // MARK: Reading key paths

    func value(_ keyPath: AnyKeyPath, of object: NSManagedObject) -> Any? {
        reads = []
        isRecording = true
        defer { isRecording = false }
        return (object as Any)[keyPath: keyPath].flatMap(Unwrapping.value)
    }

    private func reading(of keyPath: AnyKeyPath, _ root: NSManagedObject) throws -> KeyPathReading {
        isNullRefused = false
        let value = value(keyPath, of: root)
        let path = reads
        var end = root
        for (index, read) in path.enumerated() {
            guard read.object === end else { throw several(keyPath, path) }
            guard index < path.count - 1 else { break }
            guard let next = destinations[end.key]?[read.property], end.runtime.properties[read.property].kind == .toOne else {
                throw several(keyPath, path)
            }
            end = next
        }
        guard let last = path.last else { return try identity(keyPath, value, root, []) }
        let property = end.runtime.properties[last.property]
        let keys = path.map { $0.object.runtime.properties[$0.property].name }
        let destination = destinations[end.key]?[last.property]
        if let destination, value is NSManagedObjectID, property.kind == .toOne { return try identity(keyPath, value, destination, keys) }
        guard try passes(keyPath, value, property, destination, at: last, path) else {
            throw PredicateTranslationError(
                "The key path \(keyPath) computes its value from \(Self.names(path)). A store is asked for properties as they are: write "
                    + "the condition on \(keys.joined(separator: ".")) itself.")
        }
        let (ifNull, ownerKeys) = try readingNull(keyPath, property, keys, path)
        return KeyPathReading(keys: keys, kind: property.kind, entity: property.destination, ifNull: ifNull, ownerKeys: ownerKeys)
    }

    /// The reading of a key path that reads nothing of its last object: the object's ID, or else an error.
    private func identity(_ keyPath: AnyKeyPath, _ value: Any?, _ object: NSManagedObject, _ keys: [String]) throws -> KeyPathReading {
        guard let id = value as? NSManagedObjectID, id == object.objectID else {
            throw PredicateTranslationError(
                "The key path \(keyPath) reads no property of the entity \(object.entity.name ?? "?"), which has "
                    + object.runtime.properties.map(\.name).sorted().joined(separator: ", ")
                    + ". A store can be asked only for properties of the model.")
        }
        return KeyPathReading(keys: keys, kind: keys.isEmpty ? nil : .toOne, entity: object.entity, ifNull: nil)
    }

    /// Whether the key path returns the property's value unchanged, tested with a few values.
    private func passes(
        _ keyPath: AnyKeyPath, _ value: Any?, _ property: PropertyRuntime, _ destination: NSManagedObject?, at last: Read, _ path: [Read]
    ) throws -> Bool {
        switch property.kind {
        case .toOne: return destination.map { value as? NSManagedObject === $0 } ?? (value == nil)
        case .toMany:
            guard case .collection(let members) = PredicateValue(value) else { return false }
            guard let destination else { return members.isEmpty }
            guard members.count == 1, case .object(let member) = members[0] else { return false }
            return member === destination
        default:
            guard property.kind.codec?.isComparable == true else { return value == nil || isNullRefused }
        }
        guard let held = last.object.storage?.values[last.property], isHeld(value, held, property) else { return false }
        // Another value may be no case of an enumeration.
        if Unwrapping.isEnumeration(type(of: keyPath).valueType) { return true }
        for probe in property.probes(for: type(of: keyPath).valueType) {
            last.object.storage?.values[last.property] = probe
            let value = self.value(keyPath, of: path[0].object)
            guard reads.count == path.count, isHeld(value, probe, property) else { return false }
        }
        return true
    }

    private func isHeld(_ value: Any?, _ held: ManagedValue, _ property: PropertyRuntime) -> Bool {
        PredicateValue(Unwrapping.rawValue(value)).isEqual(PredicateValue(held.attributeObject(kind: property.kind)))
    }

    // MARK: Null

    /// The value of the key path if a property on its way is null: an accessor may return any value for null.
    /// - Returns: the value, and the keys of an object without which the key path returns nil anyway.
    private func readingNull(
        _ keyPath: AnyKeyPath, _ property: PropertyRuntime, _ keys: [String], _ path: [Read]
    ) throws -> (PredicateValue?, [String]) {
        guard property.kind.codec?.isComparable == true else { return (nil, []) }
        let nullable = path.filter(isNullable)
        let values = try nullable.map { try value(keyPath, withNullAt: $0, path) }
        guard let last = values.last, values.contains(where: { !$0.isNull }) else { return (nil, []) }
        if values.dropLast().allSatisfy({ $0.isEqual(last) }) { return (last, []) }
        guard path.last.map(isNullable) == true, values.dropLast().allSatisfy(\.isNull) else {
            throw PredicateTranslationError(
                "The key path \(keyPath) gives different values where one of \(Self.names(path)) is null. A store is asked for properties as "
                    + "they are: write the condition on \(keys.joined(separator: ".")) itself.")
        }
        return (last, Array(keys.dropLast()))
    }

    private func isNullable(_ read: Read) -> Bool { read.object.entity.propertiesByIndex[read.property].isOptional }

    private func value(_ keyPath: AnyKeyPath, withNullAt read: Read, _ path: [Read]) throws -> PredicateValue {
        let held = read.object.storage?.values[read.property] ?? .null
        read.object.storage?.values[read.property] = .null
        defer { read.object.storage?.values[read.property] = held }
        isNullRefused = false
        let found = PredicateValue(Unwrapping.rawValue(value(keyPath, of: path[0].object)))
        if isNullRefused { return .null }
        guard reads.allSatisfy({ again in path.contains { $0.object === again.object && $0.property == again.property } }) else {
            throw several(keyPath, reads)
        }
        if case .other = found {
            throw PredicateTranslationError("The key path \(keyPath) gives a value that no store compares where \(Self.names(path)) is null.")
        }
        return found
    }

    /// Called by an object whose required value is missing.
    /// - Returns: a possible value; nil if the type is not known.
    func requiredValue<Value>(_ property: Int, of object: NSManagedObject) -> Value? {
        isNullRefused = true
        if spares != nil { return requiredSpare(property, of: object) }
        let declaration = object.runtime.properties[property]
        if declaration.kind == .toOne { return requiredDestination(property, of: object) }
        object.storage?.values[property] = declaration.neutralValue
        return object.value(at: property) as? Value ?? Placeholder.value()
    }

    /// The relationship's destination, or a new object of the required class if the entity's class is not found by its name.
    private func requiredDestination<Value>(_ property: Int, of object: NSManagedObject) -> Value? {
        if destinations[object.key]?[property] as? Value == nil, let entity = object.runtime.properties[property].destination {
            destinations[object.key, default: [:]][property] = make(entity, Value.self as? NSManagedObject.Type)
        }
        guard let destination = destinations[object.key]?[property] else { return nil }
        object.storage?.values[property] = .reference(destination.key)
        return destination as? Value
    }

    func destination(of read: Read) -> NSManagedObject? { destinations[read.object.key]?[read.property] }

    /// A new object of the class in a spare property, for a key path that goes on there. It is the same at each evaluation.
    func spareDestination(_ property: Int, of object: NSManagedObject, _ objectClass: NSManagedObject.Type) -> NSManagedObject? {
        if let known = destinations[object.key]?[property], type(of: known) == objectClass { return known }
        let made = make(object.entity, objectClass)
        destinations[object.key, default: [:]][property] = made
        if let made { object.storage?.values[property] = .reference(made.key) }
        return made
    }

    private func several(_ keyPath: AnyKeyPath, _ path: [Read]) -> PredicateTranslationError {
        PredicateTranslationError(
            "The key path \(keyPath) reads several properties: \(Self.names(path)). A store is asked for one at a time: write the "
                + "condition on each of them.")
    }

    private static func names(_ path: [Read]) -> String {
        var names: [String] = []
        for read in path {
            let name = "\(read.object.entity.name ?? "?").\(read.object.runtime.properties[read.property].name)"
            if !names.contains(name) { names.append(name) }
        }
        return names.joined(separator: ", ")
    }
}

extension PropertyRuntime {
    /// A value for properties without a default in the model. No accessor should trap on it.
    fileprivate var neutralValue: ManagedValue {
        kind == .toMany ? .toMany(ToManyState(base: [], isOrdered: isOrdered)) : kind.codec?.neutral() ?? .null
    }

    /// See `AttributeCodec.probes`.
    fileprivate func probes(for type: Any.Type) -> [ManagedValue] {
        guard let codec = kind.codec else { return [] }
        let probes = codec.probes()
        return codec.number == .whole && Unwrapping.isUnsigned(type) ? probes.dropLast() : probes
    }
}

extension NSManagedObject: EntityObject {
    package static func reading(of keyPath: AnyKeyPath, entity: NSEntityDescription) throws -> KeyPathReading {
        try KeyPathRecorder.reading(of: keyPath, entity: entity, root: self)
    }

    package static func keys(of keyPath: AnyKeyPath) -> [String]? { KeyPathRecorder.keys(of: keyPath, root: self) }
}
