import Foundation
import Synchronization

/// Which property a key path of a managed object class reads.
///
/// A key path is opaque, so an object is made whose properties tell when they are read (`KeyPathRecorder`), and the key path is
/// asked of it. That it gives what the property holds, and nothing computed from it, is tried with a few values.
struct KeyPathReading: @unchecked Sendable {
    // Unchecked: immutable, and `ifNull` is a number, a text or the like.

    /// From the object on, through to-one relationships; empty for the object's own ID.
    let keys: [String]
    /// nil for the object's own ID.
    let kind: PropertyKind?
    /// The entity of the relationship's objects, or of the object itself.
    let entity: NSEntityDescription?
    /// What is read where the store holds null, as far as it may: 0, "", a case's raw value; nil where that is nil, or nothing at all.
    let ifNull: PredicateValue?
    /// To an object without which nil is read, and not `ifNull`; empty where there is none.
    var ownerKeys: [String] = []

    /// - Parameter entity: of the objects that are asked.
    /// - Throws: `PredicateTranslationError` where the key path does not read just one property.
    static func of(_ keyPath: AnyKeyPath, entity: NSEntityDescription) throws -> KeyPathReading {
        guard let root = type(of: keyPath).rootType as? any EntityObject.Type else {
            throw PredicateTranslationError("The key path \(keyPath) starts at no managed object.")
        }
        if let known = entity.keyPathReadings[keyPath] { return known }
        let found = try root.reading(of: keyPath, entity: entity)
        entity.keyPathReadings[keyPath] = found
        return found
    }

    /// The same, for the entity that names the key path's class.
    static func of(_ keyPath: AnyKeyPath) throws -> KeyPathReading {
        guard let root = type(of: keyPath).rootType as? any EntityObject.Type else {
            throw PredicateTranslationError("The key path \(keyPath) starts at no managed object.")
        }
        return try of(keyPath, entity: entity(of: root))
    }

    /// - Throws: where no model in use names the class.
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

/// The readings that an entity knows. Any thread may ask.
final class KeyPathReadings: Sendable {
    private struct Place: Hashable, @unchecked Sendable {
        // Unchecked: key paths are immutable.
        let keyPath: AnyKeyPath
    }

    private let known = Mutex<[Place: KeyPathReading]>([:])

    subscript(keyPath: AnyKeyPath) -> KeyPathReading? {
        get {
            let place = Place(keyPath: keyPath)
            return known.withLock { $0[place] }
        }
        set {
            let place = Place(keyPath: keyPath)
            known.withLock { $0[place] = newValue }
        }
    }
}
