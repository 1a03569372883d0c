import Foundation

/// All of Core Data's error codes, under their own names. Their domain is Foundation's `NSCocoaErrorDomain`. Each function that throws
/// documents its codes.
/// Source: https://developer.apple.com/documentation/coredata/core-data-constants
public let NSManagedObjectValidationError = 1550
public let NSManagedObjectConstraintValidationError = 1551
public let NSValidationMultipleErrorsError = 1560
public let NSValidationMissingMandatoryPropertyError = 1570
public let NSValidationRelationshipLacksMinimumCountError = 1580
public let NSValidationRelationshipExceedsMaximumCountError = 1590
public let NSValidationRelationshipDeniedDeleteError = 1600
public let NSValidationNumberTooLargeError = 1610
public let NSValidationNumberTooSmallError = 1620
public let NSValidationDateTooLateError = 1630
public let NSValidationDateTooSoonError = 1640
public let NSValidationInvalidDateError = 1650
public let NSValidationStringTooLongError = 1660
public let NSValidationStringTooShortError = 1670
public let NSValidationStringPatternMatchingError = 1680
public let NSValidationInvalidURIError = 1690
public let NSManagedObjectContextLockingError = 132000
public let NSPersistentStoreCoordinatorLockingError = 132010
public let NSManagedObjectReferentialIntegrityError = 133000
public let NSManagedObjectExternalRelationshipError = 133010
public let NSManagedObjectMergeError = 133020
public let NSManagedObjectConstraintMergeError = 133021
public let NSPersistentStoreInvalidTypeError = 134000
public let NSPersistentStoreTypeMismatchError = 134010
public let NSPersistentStoreIncompatibleSchemaError = 134020
public let NSPersistentStoreSaveError = 134030
public let NSPersistentStoreIncompleteSaveError = 134040
public let NSPersistentStoreSaveConflictsError = 134050
public let NSCoreDataError = 134060
public let NSPersistentStoreOperationError = 134070
public let NSPersistentStoreOpenError = 134080
public let NSPersistentStoreTimeoutError = 134090
public let NSPersistentStoreUnsupportedRequestTypeError = 134091
public let NSPersistentStoreIncompatibleVersionHashError = 134100
public let NSMigrationError = 134110
public let NSMigrationConstraintViolationError = 134111
public let NSMigrationCancelledError = 134120
public let NSMigrationMissingSourceModelError = 134130
public let NSMigrationMissingMappingModelError = 134140
public let NSMigrationManagerSourceStoreError = 134150
public let NSMigrationManagerDestinationStoreError = 134160
public let NSEntityMigrationPolicyError = 134170
public let NSSQLiteError = 134180
public let NSInferredMappingModelError = 134190
public let NSExternalRecordImportError = 134200
public let NSPersistentHistoryTokenExpiredError = 134301
public let NSManagedObjectModelReferenceNotFoundError = 134504
public let NSStagedMigrationFrameworkVersionMismatchError = 134505
public let NSStagedMigrationBackwardMigrationError = 134506

/// Keys of an error's `userInfo`.
public let NSDetailedErrorsKey = "NSDetailedErrors"
public let NSValidationObjectErrorKey = "NSValidationErrorObject"
public let NSValidationKeyErrorKey = "NSValidationErrorKey"
public let NSValidationPredicateErrorKey = "NSValidationErrorPredicate"
public let NSValidationValueErrorKey = "NSValidationErrorValue"
public let NSAffectedStoresErrorKey = "NSAffectedStoresErrorKey"
public let NSAffectedObjectsErrorKey = "NSAffectedObjectsErrorKey"
public let NSPersistentStoreSaveConflictsErrorKey = "conflictList"
/// In error 134100, the entities that differ between model and store. Each key has a `[String]` of names: entities of both, of the model
/// only, and of the store only. A key is missing if its list is empty.
public let NSChangedEntitiesErrorKey = "changedEntities"
public let NSAddedEntitiesErrorKey = "addedEntities"
public let NSRemovedEntitiesErrorKey = "removedEntities"

/// In an error about a store's file, the position in the file as a `UInt64` in bytes; missing if the error concerns no single position.
/// `NSFilePathErrorKey` has the file's path, and `NSLocalizedRecoverySuggestionErrorKey` a remedy.
public let NSRecordLogOffsetErrorKey = "NSRecordLogOffset"

/// Makes the errors that Heartwood throws, with Core Data's domain, codes and keys.
package enum CoreDataError {
    /// The code for a save inside a save. Core Data has no constant for it.
    static let recursiveSave = 132001

    /// Makes an error that prints its description. Where Foundation is not Apple's, a printed error begins with the reason, and with "(null)" where
    /// it has none.
    package static func make(_ code: Int, _ description: String, _ userInfo: [String: Any] = [:]) -> NSError {
        var info = userInfo
        info[NSLocalizedDescriptionKey] = description
        #if !canImport(ObjectiveC)
            info[NSLocalizedFailureReasonErrorKey] = info[NSLocalizedFailureReasonErrorKey] ?? description
        #endif
        return NSError(domain: NSCocoaErrorDomain, code: code, userInfo: info)
    }

    static func isCode(_ code: Int, _ error: any Error) -> Bool {
        let error = error as NSError
        return error.domain == NSCocoaErrorDomain && error.code == code
    }

    static func missingObject(_ id: NSManagedObjectID) -> NSError {
        make(
            NSManagedObjectReferentialIntegrityError,
            "No object of \(id.entity.name ?? "?") with the ID \(id.uriRepresentation().absoluteString) exists in the store.",
            [NSAffectedObjectsErrorKey: [id]])
    }

    /// An inserted object's row is there already. Row numbers are given once, so both brought one deleted object back.
    static func presentObject(_ id: NSManagedObjectID) -> NSError {
        make(
            NSManagedObjectMergeError,
            "\(id.uriRepresentation().absoluteString) is in the store again: another context or process has brought it back. Fetch it, and try again.",
            [NSAffectedObjectsErrorKey: [id]])
    }

    static func unknownStore() -> NSError {
        make(NSPersistentStoreOperationError, "The store does not belong to this coordinator.")
    }

    static func removedStore(of entity: NSEntityDescription) -> NSError {
        make(
            NSPersistentStoreOperationError,
            "The store that held an object of \(entity.name ?? "?") was removed from its coordinator; reset() the context, and fetch "
                + "the object from a store of the coordinator.")
    }

    static func noStore(for entity: NSEntityDescription) -> NSError {
        make(
            NSPersistentStoreOperationError,
            "No persistent store holds the entity \(entity.name ?? "?"); add a store to the coordinator before saving or fetching.")
    }

    package static func unsupported(_ description: String) -> NSError { make(NSPersistentStoreUnsupportedRequestTypeError, description) }
}
