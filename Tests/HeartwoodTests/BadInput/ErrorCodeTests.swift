import Foundation
import Testing

@testable import Heartwood

@Suite struct ErrorCodeTests {
    /// The numbers of CoreDataErrors.h. Programs compare with them: they never change.
    private static let codes: [(constant: Int, code: CocoaError.Code, thrown: CocoaError.Code, number: Int)] = [
        (NSManagedObjectValidationError, .managedObjectValidation, CocoaError.managedObjectValidation, 1550),
        (NSManagedObjectConstraintValidationError, .managedObjectConstraintValidation, CocoaError.managedObjectConstraintValidation, 1551),
        (NSValidationMultipleErrorsError, .validationMultipleErrors, CocoaError.validationMultipleErrors, 1560),
        (NSValidationMissingMandatoryPropertyError, .validationMissingMandatoryProperty,
            CocoaError.validationMissingMandatoryProperty, 1570),
        (NSValidationRelationshipLacksMinimumCountError, .validationRelationshipLacksMinimumCount,
            CocoaError.validationRelationshipLacksMinimumCount, 1580),
        (NSValidationRelationshipExceedsMaximumCountError, .validationRelationshipExceedsMaximumCount,
            CocoaError.validationRelationshipExceedsMaximumCount, 1590),
        (NSValidationRelationshipDeniedDeleteError, .validationRelationshipDeniedDelete,
            CocoaError.validationRelationshipDeniedDelete, 1600),
        (NSValidationNumberTooLargeError, .validationNumberTooLarge, CocoaError.validationNumberTooLarge, 1610),
        (NSValidationNumberTooSmallError, .validationNumberTooSmall, CocoaError.validationNumberTooSmall, 1620),
        (NSValidationDateTooLateError, .validationDateTooLate, CocoaError.validationDateTooLate, 1630),
        (NSValidationDateTooSoonError, .validationDateTooSoon, CocoaError.validationDateTooSoon, 1640),
        (NSValidationInvalidDateError, .validationInvalidDate, CocoaError.validationInvalidDate, 1650),
        (NSValidationStringTooLongError, .validationStringTooLong, CocoaError.validationStringTooLong, 1660),
        (NSValidationStringTooShortError, .validationStringTooShort, CocoaError.validationStringTooShort, 1670),
        (NSValidationStringPatternMatchingError, .validationStringPatternMatching, CocoaError.validationStringPatternMatching, 1680),
        (NSValidationInvalidURIError, .validationInvalidURI, CocoaError.validationInvalidURI, 1690),
        (NSManagedObjectContextLockingError, .managedObjectContextLocking, CocoaError.managedObjectContextLocking, 132000),
        (NSPersistentStoreCoordinatorLockingError, .persistentStoreCoordinatorLocking,
            CocoaError.persistentStoreCoordinatorLocking, 132010),
        (NSManagedObjectReferentialIntegrityError, .managedObjectReferentialIntegrity,
            CocoaError.managedObjectReferentialIntegrity, 133000),
        (NSManagedObjectExternalRelationshipError, .managedObjectExternalRelationship,
            CocoaError.managedObjectExternalRelationship, 133010),
        (NSManagedObjectMergeError, .managedObjectMerge, CocoaError.managedObjectMerge, 133020),
        (NSManagedObjectConstraintMergeError, .managedObjectConstraintMerge, CocoaError.managedObjectConstraintMerge, 133021),
        (NSPersistentStoreInvalidTypeError, .persistentStoreInvalidType, CocoaError.persistentStoreInvalidType, 134000),
        (NSPersistentStoreTypeMismatchError, .persistentStoreTypeMismatch, CocoaError.persistentStoreTypeMismatch, 134010),
        (NSPersistentStoreIncompatibleSchemaError, .persistentStoreIncompatibleSchema,
            CocoaError.persistentStoreIncompatibleSchema, 134020),
        (NSPersistentStoreSaveError, .persistentStoreSave, CocoaError.persistentStoreSave, 134030),
        (NSPersistentStoreIncompleteSaveError, .persistentStoreIncompleteSave, CocoaError.persistentStoreIncompleteSave, 134040),
        (NSPersistentStoreSaveConflictsError, .persistentStoreSaveConflicts, CocoaError.persistentStoreSaveConflicts, 134050),
        (NSCoreDataError, .coreData, CocoaError.coreData, 134060),
        (NSPersistentStoreOperationError, .persistentStoreOperation, CocoaError.persistentStoreOperation, 134070),
        (NSPersistentStoreOpenError, .persistentStoreOpen, CocoaError.persistentStoreOpen, 134080),
        (NSPersistentStoreTimeoutError, .persistentStoreTimeout, CocoaError.persistentStoreTimeout, 134090),
        (NSPersistentStoreUnsupportedRequestTypeError, .persistentStoreUnsupportedRequestType,
            CocoaError.persistentStoreUnsupportedRequestType, 134091),
        (NSPersistentStoreIncompatibleVersionHashError, .persistentStoreIncompatibleVersionHash,
            CocoaError.persistentStoreIncompatibleVersionHash, 134100),
        (NSMigrationError, .migration, CocoaError.migration, 134110),
        (NSMigrationConstraintViolationError, .migrationConstraintViolation, CocoaError.migrationConstraintViolation, 134111),
        (NSMigrationCancelledError, .migrationCancelled, CocoaError.migrationCancelled, 134120),
        (NSMigrationMissingSourceModelError, .migrationMissingSourceModel, CocoaError.migrationMissingSourceModel, 134130),
        (NSMigrationMissingMappingModelError, .migrationMissingMappingModel, CocoaError.migrationMissingMappingModel, 134140),
        (NSMigrationManagerSourceStoreError, .migrationManagerSourceStore, CocoaError.migrationManagerSourceStore, 134150),
        (NSMigrationManagerDestinationStoreError, .migrationManagerDestinationStore, CocoaError.migrationManagerDestinationStore, 134160),
        (NSEntityMigrationPolicyError, .entityMigrationPolicy, CocoaError.entityMigrationPolicy, 134170),
        (NSSQLiteError, .sqlite, CocoaError.sqlite, 134180),
        (NSInferredMappingModelError, .inferredMappingModel, CocoaError.inferredMappingModel, 134190),
        (NSExternalRecordImportError, .externalRecordImport, CocoaError.externalRecordImport, 134200),
        (NSPersistentHistoryTokenExpiredError, .persistentHistoryTokenExpired, CocoaError.persistentHistoryTokenExpired, 134301),
        (NSManagedObjectModelReferenceNotFoundError, .managedObjectModelReferenceNotFound,
            CocoaError.managedObjectModelReferenceNotFound, 134504),
        (NSStagedMigrationFrameworkVersionMismatchError, .stagedMigrationFrameworkVersionMismatch,
            CocoaError.stagedMigrationFrameworkVersionMismatch, 134505),
        (NSStagedMigrationBackwardMigrationError, .stagedMigrationBackwardMigration, CocoaError.stagedMigrationBackwardMigration, 134506),
    ]

    @Test
    func `Every error code has its number under each of its names`() {
        for (constant, code, thrown, number) in Self.codes {
            #expect(constant == number && code.rawValue == number && thrown == code)
        }
        #expect(Set(Self.codes.map(\.number)).count == Self.codes.count, "no two codes share a number")
    }

    @Test
    func `A printed error of every code begins with its description`() throws {
        for number in Self.codes.map(\.number) + [CoreDataError.recursiveSave] {
            let error = CoreDataError.make(number, "Something is wrong.", ["other": 1])
            let printed = ["\(error)", "\(error as any Error)", String(reflecting: error), "\(MigrationErrors.withoutObjects(error))"]
            for text in printed { #expect(text.hasPrefix("Error Domain=NSCocoaErrorDomain Code=\(number) \"Something is wrong.\"")) }
            #expect(error.localizedDescription == "Something is wrong.")
        }
    }

    @Test
    func `Every error of the sources is made with a description`() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../../Sources/Heartwood")
        let files = try #require(FileManager.default.enumerator(atPath: root.path)).compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") }
        #expect(files.count > 300)
        // The function that makes them, and the one that copies an error of another domain.
        let makers = ["CoreDataError.swift", "MigrationErrors+Objects.swift"]
        for file in files where !makers.contains(URL(fileURLWithPath: file).lastPathComponent) {
            let lines = try String(contentsOf: root.appendingPathComponent(file), encoding: .utf8).split(separator: "\n")
            let text = lines.filter { !$0.drop(while: { $0 == " " }).hasPrefix("//") }.joined(separator: "\n")
            #expect(text.firstMatch(of: /\b(NSError|CocoaError)\((domain:|\.)/) == nil, "\(file) makes an error by itself")
        }
    }

    @Test
    func `An error is caught by its name and describes its subject`() throws {
        let stack = try TestStack(.inMemory)
        let group = stack.insert("Group", [:])
        do {
            try stack.context.save()
            Issue.record("a group without a title was saved")
        } catch let error as CocoaError where error.code == .validationMissingMandatoryProperty {
            #expect(error.validationObject as? NSManagedObject === group && error.validationKey == "title")
            #expect(error.validationValue is NSNull && error.validationPredicate == nil && error.affectedObjects == nil)
        }
        group.setValue("a", forKey: "title")
        try stack.context.save()
        let other = stack.newContext()
        for (context, title) in [(other, "b"), (stack.context, "c")] {
            try stack.fetch("Group", in: context)[0].setValue(title, forKey: "title")
        }
        try other.save()
        do {
            try stack.context.save()
            Issue.record("a conflict was not seen")
        } catch let error as CocoaError where error.code == .managedObjectMerge {
            #expect(error.persistentStoreSaveConflicts?.count == 1)
        }
    }
}
