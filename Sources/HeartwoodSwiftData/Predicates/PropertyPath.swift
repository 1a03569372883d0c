import Foundation
import Heartwood
import Synchronization

/// What a key path of a model class reads: properties through to-one relationships, and perhaps elements of a composite.
struct PropertyPath: @unchecked Sendable {
    // Unchecked: immutable; what it refers to is, too.

    /// The names from the model on; empty for the model itself.
    let keys: [String]
    /// The property at the end; nil for the model itself.
    let property: ModelProperty?
    /// Whether elements of the property's composite follow.
    let hasElements: Bool

    /// - Throws: `PredicateTranslationError` if the key path reads no property, several, or computes its value.
    static func of(_ keyPath: AnyKeyPath, root: ModelType) throws -> PropertyPath {
        if let property = root.declared(keyPath) { return PropertyPath(keys: [property.name], property: property, hasElements: false) }
        if let known = root.readings[keyPath] { return known }
        let found = try KeyPathProbe.reading(of: keyPath, root: root)
        root.readings[keyPath] = found
        return found
    }

    /// The keys as the classes' own model has them: a case of an enumeration is the only element of its composite.
    var managedKeys: [String] {
        guard let property, !hasElements, case .attribute(let coding) = property.kind, case .raw = coding.form, let last = keys.last else {
            return keys
        }
        return keys + [last]
    }

    /// The keys as a container's model has them, which may follow a store's.
    /// - Throws: `PredicateTranslationError` for a part of a value that the store keeps encoded.
    func managedKeys(in mapped: MappedModel, root: ModelType) throws -> [String] {
        guard mapped.isFollowing, let property, case .attribute(let coding) = property.kind else { return managedKeys }
        guard let description = mapped.description(at: keys, of: root) else {
            throw PredicateTranslationError("\(root.name).\(keys.joined(separator: ".")) is kept in another form by the store.")
        }
        guard case .raw = coding.form, let composite = description as? NSCompositeAttributeDescription else { return keys }
        return keys + composite.elements.map(\.name)
    }
}

/// A cache of readings. Any thread may use it.
final class PropertyPaths: Sendable {
    private struct Key: Hashable, @unchecked Sendable {
        // Unchecked: key paths are immutable.
        let keyPath: AnyKeyPath
    }

    private let known = Mutex<[Key: PropertyPath]>([:])

    subscript(keyPath: AnyKeyPath) -> PropertyPath? {
        get {
            let key = Key(keyPath: keyPath)
            return known.withLock { $0[key] }
        }
        set {
            let key = Key(keyPath: keyPath)
            known.withLock { $0[key] = newValue }
        }
    }
}
