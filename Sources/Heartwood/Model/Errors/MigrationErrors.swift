import Foundation

/// The errors of migrations, with Core Data's codes, keys and reasons.
package enum MigrationErrors {
    static let missingAttribute = "Validation error missing attribute values on mandatory destination attribute"
    static let missingRelationship = "Validation error missing attribute values on mandatory destination relationship"

    /// An error with code 134110.
    package static func make(_ reason: String, _ info: [String: Any] = [:], _ text: String? = nil) -> NSError {
        var info = info
        info["reason"] = reason
        return CoreDataError.make(NSMigrationError, "The store was not migrated: \(text ?? reason).", info)
    }

    package static func missing(_ property: NSPropertyDescription, of entity: NSEntityDescription) -> NSError {
        let kind = property is NSRelationshipDescription ? "relationship" : "attribute"
        // Core Data uses the key "attribute" for relationships too.
        return make(
            property is NSRelationshipDescription ? missingRelationship : missingAttribute,
            ["entity": entity.name ?? "", "property": property.name, "attribute": property.name],
            "an object of \(entity.name ?? "?") has no \(property.name), which is required. Give the \(kind) a default value, make it optional, "
                + "or give it a value by a mapping model")
    }

    /// An error about data in the store.
    package static func unsuited(_ reason: String, _ property: NSPropertyDescription, of entity: NSEntityDescription) -> NSError {
        make(
            reason, ["entity": entity.name ?? "", "property": property.name],
            "\(reason) (\(entity.name ?? "?").\(property.name)). It is as it was")
    }

    static func value(_ message: String, _ mapping: NSEntityMapping, _ property: String) -> NSError {
        make(
            "A value does not suit its property", ["entity": mapping.destinationEntityName ?? "", "property": property],
            "the mapping \(mapping.name ?? "?") gives \(property) a value that it cannot have: \(message)")
    }

    static func expression(_ error: any Error, _ mapping: NSEntityMapping, _ property: String) -> NSError {
        let text = (error as? PredicateFault).map { "\($0)" } ?? error.localizedDescription
        return make(
            "An expression of the mapping model cannot be evaluated",
            ["entity": mapping.destinationEntityName ?? "", "property": property, NSUnderlyingErrorKey: error],
            "the expression for \(property) of the mapping \(mapping.name ?? "?") cannot be evaluated: \(text)")
    }

    static func noMapping(_ name: String) -> NSError {
        make("The mapping model has no such entity mapping", [:], "the mapping model has no entity mapping named \(name)")
    }

    static func noEntity(_ name: String, _ mapping: NSEntityMapping, isSource: Bool) -> NSError {
        make(
            "An entity of the mapping model is not in the models", ["entity": name],
            "the mapping \(mapping.name ?? "?") names the entity \(name), which the \(isSource ? "source" : "destination")'s model has not")
    }

    static func otherVersion(_ mapping: NSEntityMapping, _ entity: NSEntityDescription) -> NSError {
        make(
            "Mapping model is of other versions", ["entity": entity.name ?? ""],
            "the mapping \(mapping.name ?? "?") was made for another version of the entity \(entity.name ?? "?")")
    }

    static func abstract(_ entity: NSEntityDescription, _ mapping: NSEntityMapping) -> NSError {
        make(
            "The destination's entity is abstract", ["entity": entity.name ?? ""],
            "the mapping \(mapping.name ?? "?") makes objects of \(entity.name ?? "?"), which is abstract")
    }

    /// An error with code 134170.
    static func noPolicy(_ name: String, _ mapping: NSEntityMapping) -> NSError {
        CoreDataError.make(
            NSEntityMigrationPolicyError,
            "There is no subclass of NSEntityMigrationPolicy named \(name), which the mapping \(mapping.name ?? "?") names. Write its module in "
                + "front (\"App.Policy\"), as NSStringFromClass gives it.")
    }

    /// An error with code 134150 for the source or 134160 for the destination.
    static func ofStore(_ error: any Error, isSource: Bool, _ url: URL) -> NSError {
        CoreDataError.make(
            isSource ? NSMigrationManagerSourceStoreError : NSMigrationManagerDestinationStoreError,
            "The \(isSource ? "source" : "destination") store at \(url.path) could not be used for the migration: \(error.localizedDescription)",
            [NSUnderlyingErrorKey: error, NSFilePathErrorKey: url.path])
    }
}
