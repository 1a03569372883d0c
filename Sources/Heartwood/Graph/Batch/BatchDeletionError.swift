import Foundation

/// The errors of a batch deletion that delete rules and required relationships refuse.
package enum BatchDeletionError {
    private static func make(_ code: Int, _ text: String, _ key: ObjectKey, _ table: EntityTable, _ property: String) -> NSError {
        let id = NSManagedObjectID(entity: table.runtime.entity, key: key, store: table.runtime.store, contextToken: 0)
        return CoreDataError.make(
            code, "Nothing was deleted: \(text) (\(id.uriRepresentation().absoluteString)).",
            [NSValidationKeyErrorKey: property, NSAffectedObjectsErrorKey: [id]])
    }

    /// Error 1600: the object of `key` is to be deleted, and a relationship with the rule Deny has destinations.
    package static func denied(_ key: ObjectKey, _ table: EntityTable, _ property: Int) -> NSError {
        let name = table.runtime.properties[property].name
        return make(
            NSValidationRelationshipDeniedDeleteError,
            "\(table.runtime.entity.name ?? "?") cannot be deleted while its \(name) is not empty", key, table, name)
    }

    /// Error 1570: a required relationship of the object of `key` leads to an object that is to be deleted.
    package static func required(_ key: ObjectKey, _ table: EntityTable, _ property: Int) -> NSError {
        let name = table.runtime.properties[property].name
        return make(
            NSValidationMissingMandatoryPropertyError,
            "\(table.runtime.entity.name ?? "?").\(name) is required, and its destination was to be deleted; delete the objects that "
                + "have it before, or let the relationship cascade", key, table, name)
    }
}
