import Foundation
import RecordLog

/// Checks and converts the values that a batch request gives.
package enum BatchValues {
    static func error(_ description: String, key: String, _ value: Any?) -> NSError {
        CoreDataError.make(
            NSManagedObjectValidationError, description,
            [NSValidationKeyErrorKey: key, NSValidationValueErrorKey: value.map(ValueText.described) ?? NSNull()])
    }

    /// Error 1570: a row of a batch insertion lacks a required value.
    package static func missing(_ key: String, of entity: NSEntityDescription) -> NSError {
        CoreDataError.make(
            NSValidationMissingMandatoryPropertyError,
            "\(entity.name ?? "?").\(key) is a required value, and a row of the batch has none. Nothing of its commit was inserted.",
            [NSValidationKeyErrorKey: key, NSValidationValueErrorKey: NSNull()])
    }

    /// Converts a value to the store's form.
    /// - Throws: 1550 where the value does not fit, or where the property cannot be set without an object.
    static func value(_ value: Any, _ index: Int, _ runtime: EntityRuntime) throws -> ManagedValue {
        let property = runtime.properties[index], entity = runtime.entity
        guard !property.kind.isRelationship else { return try reference(value, property, entity.propertiesByIndex[index], runtime) }
        guard !property.isTransient else {
            throw error("\(entity.name ?? "?").\(property.name) is transient; no store has it.", key: property.name, value)
        }
        guard property.elements == nil else {
            throw error(
                "\(entity.name ?? "?").\(property.name) is composite; name its elements by their key paths, \"\(property.name).ELEMENT\".",
                key: property.name, value)
        }
        guard let converted = ManagedValue(attributeObject: value, kind: property.kind) else {
            if isNil(value) { return .null }
            throw error(AttributeCoding.mismatch(value, property.name, property.kind, entity: entity), key: property.name, value)
        }
        return converted
    }

    /// Whether `value` is an optional that is nil; a dictionary of `Any` may hold one. On Apple's platforms bridging turns it into
    /// `NSNull`.
    private static func isNil(_ value: Any) -> Bool {
        let mirror = Mirror(reflecting: value)
        return mirror.displayStyle == .optional && mirror.children.isEmpty
    }

    private static func reference(
        _ value: Any, _ property: PropertyRuntime, _ description: NSPropertyDescription, _ runtime: EntityRuntime
    ) throws -> ManagedValue {
        let name = "\(runtime.entity.name ?? "?").\(property.name)"
        let inverse = (description as? NSRelationshipDescription)?.inverseRelationship
        guard property.kind == .toOne, property.hasColumn, inverse.map({ $0.isToMany && !LinkPlan.isNeeded($0) }) ?? true else {
            throw error(
                "A batch request cannot set the relationship \(name): another object would have to be written with it. Set it in a "
                    + "context.",
                key: property.name, value)
        }
        if value is NSNull { return .null }
        let id = (value as? NSManagedObject)?.objectID ?? value as? NSManagedObjectID
        guard let id, !id.isTemporaryID, let destination = property.destination, id.entity.isKindOf(entity: destination),
            let store = runtime.store, id.persistentStore === store
        else {
            if isNil(value) { return .null }
            throw error(
                "\(name) takes the permanent ID of a \(property.destination?.name ?? "?") of the same store, not \(ValueText.of(value)).",
                key: property.name, value)
        }
        return .reference(id.key)
    }
}
