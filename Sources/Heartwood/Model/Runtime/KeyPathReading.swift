import Foundation
import Synchronization

/// The property that a key path of a managed object class reads.
///
/// A key path is opaque. So it is applied to an object that records which of its properties are read (`KeyPathRecorder`). A few test values
/// show whether the key path returns the property itself or something computed from it.
package struct KeyPathReading: @unchecked Sendable {
    // Unchecked: immutable, and `ifNull` is a number, a text or a similar plain value.

    /// The keys from the object on, through to-one relationships; empty for the object's own ID.
    let keys: [String]
    /// nil for the object's own ID.
    let kind: PropertyKind?
    /// The entity of the relationship's objects, or of the object itself.
    let entity: NSEntityDescription?
    /// The value that the key path gives if the store has null: 0, "" or a case's raw value. nil if that is nil, or if the store cannot have null.
    let ifNull: PredicateValue?
    /// The keys of an object on the path. If that object is missing, the key path gives nil instead of `ifNull`. Empty if there is none.
    var ownerKeys: [String] = []

    /// - Parameter entity: the entity of the objects to which the key path is applied.
    /// - Throws: `PredicateTranslationError` if the key path does not read exactly one property.
    static func of(_ keyPath: AnyKeyPath, entity: NSEntityDescription) throws -> KeyPathReading {
        guard let root = type(of: keyPath).rootType as? any EntityObject.Type else {
            throw PredicateTranslationError("The key path \(keyPath) starts at no managed object.")
        }
        if let known = entity.keyPathReadings[keyPath] { return known }
        let found = try root.reading(of: keyPath, entity: entity)
        entity.keyPathReadings[keyPath] = found
        return found
    }

    /// Uses the entity that names the key path's class.
    static func of(_ keyPath: AnyKeyPath) throws -> KeyPathReading {
        guard let root = type(of: keyPath).rootType as? any EntityObject.Type else {
            throw PredicateTranslationError("The key path \(keyPath) starts at no managed object.")
        }
        return try of(keyPath, entity: entity(of: root))
    }

    /// The keys from the object on. A class that no model in use names yet, since the model is being made with the key path, is asked itself.
    /// - Throws: `PredicateTranslationError` if the key path does not read exactly one property.
    static func keys(of keyPath: AnyKeyPath) throws -> [String] {
        if let root = type(of: keyPath).rootType as? any EntityObject.Type, ModelsInUse.entity(forClass: root) == nil,
            let keys = root.keys(of: keyPath) {
            return keys
        }
        return try of(keyPath).keys
    }

    /// - Throws: if no model in use names the class.
    static func entity(of root: any EntityObject.Type) throws -> NSEntityDescription {
        ManagedObjectClasses.note(root)
        guard let entity = ModelsInUse.entity(forClass: root) else {
            throw PredicateTranslationError(
                "No entity of a model in use names the class \(root). Set managedObjectClassName in the model, and make the coordinator "
                    + "or container before the predicate.")
        }
        return entity
    }
}

/// A cache of an entity's readings. Any thread may use it.
final class KeyPathReadings: Sendable {
    private struct CacheKey: Hashable, @unchecked Sendable {
        // Unchecked: key paths are immutable.
        let keyPath: AnyKeyPath
    }

    private let known = Mutex<[CacheKey: KeyPathReading]>([:])
    /// The predicates that were made of key paths.
    let shapes = PredicateShapes()

    subscript(keyPath: AnyKeyPath) -> KeyPathReading? {
        get {
            let key = CacheKey(keyPath: keyPath)
            return known.withLock { $0[key] }
        }
        set {
            let key = CacheKey(keyPath: keyPath)
            known.withLock { $0[key] = newValue }
        }
    }
}
