import Synchronization

/// Finds the inverse of a relationship from what the classes declare.
///
/// A relationship that names its inverse has that one, and so has the one that it names. Otherwise the inverse is the only relationship of the
/// destination that leads back and is not taken. If there are several, the classes have to say which: see `Ambiguity`. As in SwiftData, no inverse
/// is inferred for a to-one relationship that must have a model: a change of the other end would take that away.
enum Inverses {
    /// Several relationships could be the inverse of one.
    struct Ambiguity: Error {
        let type: ModelType
        let property: ModelProperty
        let candidates: [ModelProperty]
    }

    private struct Key: Hashable {
        let type: ObjectIdentifier
        let name: String
    }

    private static let known = Mutex<[Key: ModelProperty?]>([:])

    /// The inverse, for models of no context; nil where there is none or several could be it.
    static func inverse(of property: ModelProperty, of type: ModelType) -> ModelProperty? {
        let key = Key(type: ObjectIdentifier(type), name: property.name)
        if let found = known.withLock({ $0[key] }) { return found }
        let found = try? find(property, of: type)
        known.withLock { $0[key] = .some(found) }
        return found
    }

    /// - Throws: `Ambiguity`.
    static func find(_ property: ModelProperty, of type: ModelType) throws -> ModelProperty? {
        guard let destination = property.destination.map(ModelType.of) else { return nil }
        if let named = (property.declaration as? Schema.Relationship)?.inverseKeyPath { return destination.property(reading: named) }
        let back = destination.properties.filter { other in
            other !== property && other.destination.map { type.isKind(of: ModelType.of($0)) } == true
        }
        // The one that names this as its inverse.
        if let naming = back.first(where: { destination.namedInverse(of: $0, in: type) === property }) { return naming }
        guard property.canLoseModels else { return nil }
        let free = back.filter { other in
            other.canLoseModels && (other.declaration as? Schema.Relationship)?.inverseKeyPath == nil
                // Another one has it.
                && !type.properties.contains { $0 !== property && type.namedInverse(of: $0, in: destination) === other }
        }
        // Others of this class that lead to the same destination would have the same candidates.
        let rivals = type.properties.filter { other in
            other !== property && other.canLoseModels && !free.contains { $0 === other }
                && other.destination.map { destination.isKind(of: ModelType.of($0)) } == true
                && (other.declaration as? Schema.Relationship)?.inverseKeyPath == nil
                && !destination.properties.contains { destination.namedInverse(of: $0, in: type) === other }
        }
        guard let only = free.first else { return nil }
        guard free.count == 1, rivals.isEmpty else {
            throw Ambiguity(type: type, property: property, candidates: free.count > 1 ? free : [property] + rivals)
        }
        return only
    }
}

extension ModelProperty {
    var destination: (any PersistentModel.Type)? {
        switch kind {
        case .toOne(let type), .toMany(let type): type
        case .attribute, .unfit: nil
        }
    }

    /// Whether the relationship may become empty.
    fileprivate var canLoseModels: Bool {
        if case .toOne = kind { return isOptional }
        return true
    }
}

extension ModelType {
    /// The property of this class that a key path reads, which may be rooted at a class above or below.
    func property(reading keyPath: AnyKeyPath) -> ModelProperty? {
        declared(keyPath) ?? (type(ofRoot: keyPath)?.declared(keyPath)).flatMap { byName[$0.name] }
    }

    private func type(ofRoot keyPath: AnyKeyPath) -> ModelType? {
        (Swift.type(of: keyPath).rootType as? any PersistentModel.Type).map(ModelType.of)
    }

    func isKind(of other: ModelType) -> Bool { self === other || parent?.isKind(of: other) == true }

    /// The property of a class that a relationship of this one names as its inverse.
    func namedInverse(of property: ModelProperty, in other: ModelType) -> ModelProperty? {
        (property.declaration as? Schema.Relationship)?.inverseKeyPath.flatMap(other.property(reading:))
    }
}
