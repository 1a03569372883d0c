import Foundation
import Testing

#if CONFORMANCE_COREDATA
    import CoreData
#else
    import Heartwood
#endif

/// A code's name and its number.
struct ErrorNumber: CustomTestStringConvertible, Sendable {
    let code: Int
    let number: Int
    var testDescription: String { "\(number)" }

    init(_ code: Int, _ number: Int) { (self.code, self.number) = (code, number) }

    static let all: [ErrorNumber] = [
        ErrorNumber(NSManagedObjectValidationError, 1550), ErrorNumber(NSManagedObjectConstraintValidationError, 1551),
        ErrorNumber(NSValidationMultipleErrorsError, 1560), ErrorNumber(NSValidationMissingMandatoryPropertyError, 1570),
        ErrorNumber(NSValidationRelationshipLacksMinimumCountError, 1580),
        ErrorNumber(NSValidationRelationshipExceedsMaximumCountError, 1590),
        ErrorNumber(NSValidationRelationshipDeniedDeleteError, 1600), ErrorNumber(NSValidationNumberTooLargeError, 1610),
        ErrorNumber(NSValidationNumberTooSmallError, 1620), ErrorNumber(NSValidationDateTooLateError, 1630),
        ErrorNumber(NSValidationDateTooSoonError, 1640), ErrorNumber(NSValidationInvalidDateError, 1650),
        ErrorNumber(NSValidationStringTooLongError, 1660), ErrorNumber(NSValidationStringTooShortError, 1670),
        ErrorNumber(NSValidationStringPatternMatchingError, 1680), ErrorNumber(NSManagedObjectContextLockingError, 132000),
        ErrorNumber(NSPersistentStoreCoordinatorLockingError, 132010), ErrorNumber(NSManagedObjectReferentialIntegrityError, 133000),
        ErrorNumber(NSManagedObjectExternalRelationshipError, 133010), ErrorNumber(NSManagedObjectMergeError, 133020),
        ErrorNumber(NSManagedObjectConstraintMergeError, 133021), ErrorNumber(NSPersistentStoreInvalidTypeError, 134000),
        ErrorNumber(NSPersistentStoreTypeMismatchError, 134010), ErrorNumber(NSPersistentStoreIncompatibleSchemaError, 134020),
        ErrorNumber(NSPersistentStoreSaveError, 134030), ErrorNumber(NSPersistentStoreIncompleteSaveError, 134040),
        ErrorNumber(NSPersistentStoreSaveConflictsError, 134050), ErrorNumber(NSCoreDataError, 134060),
        ErrorNumber(NSPersistentStoreOperationError, 134070), ErrorNumber(NSPersistentStoreOpenError, 134080),
        ErrorNumber(NSPersistentStoreTimeoutError, 134090), ErrorNumber(NSPersistentStoreUnsupportedRequestTypeError, 134091),
        ErrorNumber(NSPersistentStoreIncompatibleVersionHashError, 134100), ErrorNumber(NSMigrationError, 134110),
        ErrorNumber(NSMigrationCancelledError, 134120), ErrorNumber(NSMigrationMissingSourceModelError, 134130),
        ErrorNumber(NSMigrationMissingMappingModelError, 134140), ErrorNumber(NSMigrationManagerSourceStoreError, 134150),
        ErrorNumber(NSMigrationManagerDestinationStoreError, 134160), ErrorNumber(NSEntityMigrationPolicyError, 134170),
        ErrorNumber(NSInferredMappingModelError, 134190), ErrorNumber(NSPersistentHistoryTokenExpiredError, 134301),
    ]
}

@MainActor struct ErrorQuestions {
    @Test(.header("CoreDataErrors", "the enumeration"), arguments: ErrorNumber.all)
    func `The numbers of the codes are the documented ones`(one: ErrorNumber) {
        #expect(one.code == one.number)
    }

    private func required() -> NSManagedObjectModel { Sketch.items([Sketch.attribute("must", optional: false)]) }

    @Test(.source("https://developer.apple.com/documentation/foundation/cocoaerror"),
        arguments: StoreKind.allCases)
    func `A failed save can be caught as a CocoaError`(kind: StoreKind) throws {
        let stack = try Stack(kind, required()), item = stack.new("Item")
        do {
            try stack.context.save()
            Issue.record("It is saved")
        } catch let error as CocoaError {
            #expect(error.code == .validationMissingMandatoryProperty && error.validationKey == "must")
            #expect(error.validationObject as? NSManagedObject === item)
        }
    }

    @Test(.source("https://developer.apple.com/documentation/foundation/cocoaerror"),
        arguments: StoreKind.allCases)
    func `A conflict can be caught as a CocoaError`(kind: StoreKind) throws {
        let stack = try Stack(kind), theirs = try stack.saved("Book"), other = stack.sibling()
        try stack.only("Book", in: other).setValue("mine", forKey: "title")
        theirs.setValue("theirs", forKey: "title")
        try stack.context.save()
        do {
            try other.save()
            Issue.record("It is saved")
        } catch let error as CocoaError {
            #expect(error.code == .managedObjectMerge)
        }
    }

    /// A constant and its text.
    struct Key: CustomTestStringConvertible, Sendable {
        let constant: String
        let text: String
        var testDescription: String { text }

        init(_ constant: String, _ text: String) { (self.constant, self.text) = (constant, text) }

        static let errors = [
            Key(NSDetailedErrorsKey, "NSDetailedErrors"), Key(NSValidationObjectErrorKey, "NSValidationErrorObject"),
            Key(NSValidationKeyErrorKey, "NSValidationErrorKey"), Key(NSValidationPredicateErrorKey, "NSValidationErrorPredicate"),
            Key(NSValidationValueErrorKey, "NSValidationErrorValue"), Key(NSAffectedObjectsErrorKey, "NSAffectedObjectsErrorKey"),
        ]

        static let stores = [
            Key(NSInMemoryStoreType, "InMemory"), Key(NSBinaryStoreType, "Binary"), Key(NSStoreTypeKey, "NSStoreType"),
            Key(NSStoreUUIDKey, "NSStoreUUID"), Key(NSStoreModelVersionHashesKey, "NSStoreModelVersionHashes"),
            Key(NSStoreModelVersionIdentifiersKey, "NSStoreModelVersionIdentifiers"),
        ]

        static let options = [
            Key(NSMigratePersistentStoresAutomaticallyOption, "NSMigratePersistentStoresAutomaticallyOption"),
            Key(NSInferMappingModelAutomaticallyOption, "NSInferMappingModelAutomaticallyOption"),
            Key(NSReadOnlyPersistentStoreOption, "NSReadOnlyPersistentStoreOption"),
            Key(NSPersistentHistoryTrackingKey, "NSPersistentHistoryTrackingKey"),
            Key(NSPersistentStoreRemoteChangeNotificationPostOptionKey, "NSPersistentStoreRemoteChangeNotificationOptionKey"),
        ]
    }

    @Test(.source("Errors that public reports print"), arguments: Key.errors)
    func `An error's keys are the texts that logs show`(key: Key) { #expect(key.constant == key.text) }

    @Test(.source("Metadata that public reports and store files show"), arguments: Key.stores)
    func `A store's types and metadata keys are the texts that store files show`(key: Key) { #expect(key.constant == key.text) }

    @Test(.source("Public code that names options by their texts"), arguments: Key.options)
    func `Options are the texts that public code writes out`(key: Key) { #expect(key.constant == key.text) }

    @Test(.source("https://developer.apple.com/documentation/foundation/nserror/localizeddescription"))
    func `An error of Core Data has a description`() throws {
        let stack = try Stack(.inMemory, required())
        stack.new("Item")
        #expect(failure { try stack.context.save() }?.localizedDescription.isEmpty == false)
    }

    @Test(.reference("nspropertydescription/validationwarnings"))
    func `A broken predicate's warning is the error's description`() throws {
        let attribute = Sketch.attribute("value", .integer32AttributeType)
        attribute.setValidationPredicates([NSPredicate(format: "SELF != 4")], withValidationWarnings: ["Four is taken."])
        let stack = try Stack(.inMemory, Sketch.model(Sketch.entity("Item", [attribute])))
        stack.new("Item", ["value": 4])
        #expect(failure { try stack.context.save() }?.localizedDescription.contains("Four is taken.") == true)
    }
}
