import Foundation

#if !canImport(ObjectiveC)
    /// The names of the codes before Swift 3, which older code still uses.
    extension CocoaError.Code {
        @available(*, deprecated, renamed: "coreData")
        public static var coreDataError: Self { .coreData }
        @available(*, deprecated, renamed: "entityMigrationPolicy")
        public static var entityMigrationPolicyError: Self { .entityMigrationPolicy }
        @available(*, deprecated, renamed: "externalRecordImport")
        public static var externalRecordImportError: Self { .externalRecordImport }
        @available(*, deprecated, renamed: "inferredMappingModel")
        public static var inferredMappingModelError: Self { .inferredMappingModel }
        @available(*, deprecated, renamed: "managedObjectConstraintMerge")
        public static var managedObjectConstraintMergeError: Self { .managedObjectConstraintMerge }
        @available(*, deprecated, renamed: "managedObjectContextLocking")
        public static var managedObjectContextLockingError: Self { .managedObjectContextLocking }
        @available(*, deprecated, renamed: "managedObjectExternalRelationship")
        public static var managedObjectExternalRelationshipError: Self { .managedObjectExternalRelationship }
        @available(*, deprecated, renamed: "managedObjectMerge")
        public static var managedObjectMergeError: Self { .managedObjectMerge }
        @available(*, deprecated, renamed: "managedObjectReferentialIntegrity")
        public static var managedObjectReferentialIntegrityError: Self { .managedObjectReferentialIntegrity }
        @available(*, deprecated, renamed: "managedObjectValidation")
        public static var managedObjectValidationError: Self { .managedObjectValidation }
        @available(*, deprecated, renamed: "migrationCancelled")
        public static var migrationCancelledError: Self { .migrationCancelled }
        @available(*, deprecated, renamed: "migration")
        public static var migrationError: Self { .migration }
        @available(*, deprecated, renamed: "migrationManagerDestinationStore")
        public static var migrationManagerDestinationStoreError: Self { .migrationManagerDestinationStore }
        @available(*, deprecated, renamed: "migrationManagerSourceStore")
        public static var migrationManagerSourceStoreError: Self { .migrationManagerSourceStore }
        @available(*, deprecated, renamed: "migrationMissingMappingModel")
        public static var migrationMissingMappingModelError: Self { .migrationMissingMappingModel }
        @available(*, deprecated, renamed: "migrationMissingSourceModel")
        public static var migrationMissingSourceModelError: Self { .migrationMissingSourceModel }
        @available(*, deprecated, renamed: "persistentStoreCoordinatorLocking")
        public static var persistentStoreCoordinatorLockingError: Self { .persistentStoreCoordinatorLocking }
        @available(*, deprecated, renamed: "persistentStoreIncompatibleSchema")
        public static var persistentStoreIncompatibleSchemaError: Self { .persistentStoreIncompatibleSchema }
        @available(*, deprecated, renamed: "persistentStoreIncompatibleVersionHash")
        public static var persistentStoreIncompatibleVersionHashError: Self { .persistentStoreIncompatibleVersionHash }
        @available(*, deprecated, renamed: "persistentStoreIncompleteSave")
        public static var persistentStoreIncompleteSaveError: Self { .persistentStoreIncompleteSave }
        @available(*, deprecated, renamed: "persistentStoreInvalidType")
        public static var persistentStoreInvalidTypeError: Self { .persistentStoreInvalidType }
        @available(*, deprecated, renamed: "persistentStoreOpen")
        public static var persistentStoreOpenError: Self { .persistentStoreOpen }
        @available(*, deprecated, renamed: "persistentStoreOperation")
        public static var persistentStoreOperationError: Self { .persistentStoreOperation }
        @available(*, deprecated, renamed: "persistentStoreSaveConflicts")
        public static var persistentStoreSaveConflictsError: Self { .persistentStoreSaveConflicts }
        @available(*, deprecated, renamed: "persistentStoreSave")
        public static var persistentStoreSaveError: Self { .persistentStoreSave }
        @available(*, deprecated, renamed: "persistentStoreTimeout")
        public static var persistentStoreTimeoutError: Self { .persistentStoreTimeout }
        @available(*, deprecated, renamed: "persistentStoreTypeMismatch")
        public static var persistentStoreTypeMismatchError: Self { .persistentStoreTypeMismatch }
        @available(*, deprecated, renamed: "persistentStoreUnsupportedRequestType")
        public static var persistentStoreUnsupportedRequestTypeError: Self { .persistentStoreUnsupportedRequestType }
        @available(*, deprecated, renamed: "sqlite")
        public static var sqliteError: Self { .sqlite }
        @available(*, deprecated, renamed: "validationDateTooLate")
        public static var validationDateTooLateError: Self { .validationDateTooLate }
        @available(*, deprecated, renamed: "validationDateTooSoon")
        public static var validationDateTooSoonError: Self { .validationDateTooSoon }
        @available(*, deprecated, renamed: "validationInvalidDate")
        public static var validationInvalidDateError: Self { .validationInvalidDate }
        @available(*, deprecated, renamed: "validationMissingMandatoryProperty")
        public static var validationMissingMandatoryPropertyError: Self { .validationMissingMandatoryProperty }
        @available(*, deprecated, renamed: "validationMultipleErrors")
        public static var validationMultipleErrorsError: Self { .validationMultipleErrors }
        @available(*, deprecated, renamed: "validationNumberTooLarge")
        public static var validationNumberTooLargeError: Self { .validationNumberTooLarge }
        @available(*, deprecated, renamed: "validationNumberTooSmall")
        public static var validationNumberTooSmallError: Self { .validationNumberTooSmall }
        @available(*, deprecated, renamed: "validationRelationshipDeniedDelete")
        public static var validationRelationshipDeniedDeleteError: Self { .validationRelationshipDeniedDelete }
        @available(*, deprecated, renamed: "validationRelationshipExceedsMaximumCount")
        public static var validationRelationshipExceedsMaximumCountError: Self { .validationRelationshipExceedsMaximumCount }
        @available(*, deprecated, renamed: "validationRelationshipLacksMinimumCount")
        public static var validationRelationshipLacksMinimumCountError: Self { .validationRelationshipLacksMinimumCount }
        @available(*, deprecated, renamed: "validationStringPatternMatching")
        public static var validationStringPatternMatchingError: Self { .validationStringPatternMatching }
        @available(*, deprecated, renamed: "validationStringTooLong")
        public static var validationStringTooLongError: Self { .validationStringTooLong }
        @available(*, deprecated, renamed: "validationStringTooShort")
        public static var validationStringTooShortError: Self { .validationStringTooShort }
    }

    extension CocoaError {
        @available(*, deprecated, renamed: "coreData")
        public static var coreDataError: Code { .coreData }
        @available(*, deprecated, renamed: "entityMigrationPolicy")
        public static var entityMigrationPolicyError: Code { .entityMigrationPolicy }
        @available(*, deprecated, renamed: "externalRecordImport")
        public static var externalRecordImportError: Code { .externalRecordImport }
        @available(*, deprecated, renamed: "inferredMappingModel")
        public static var inferredMappingModelError: Code { .inferredMappingModel }
        @available(*, deprecated, renamed: "managedObjectConstraintMerge")
        public static var managedObjectConstraintMergeError: Code { .managedObjectConstraintMerge }
        @available(*, deprecated, renamed: "managedObjectContextLocking")
        public static var managedObjectContextLockingError: Code { .managedObjectContextLocking }
        @available(*, deprecated, renamed: "managedObjectExternalRelationship")
        public static var managedObjectExternalRelationshipError: Code { .managedObjectExternalRelationship }
        @available(*, deprecated, renamed: "managedObjectMerge")
        public static var managedObjectMergeError: Code { .managedObjectMerge }
        @available(*, deprecated, renamed: "managedObjectReferentialIntegrity")
        public static var managedObjectReferentialIntegrityError: Code { .managedObjectReferentialIntegrity }
        @available(*, deprecated, renamed: "managedObjectValidation")
        public static var managedObjectValidationError: Code { .managedObjectValidation }
        @available(*, deprecated, renamed: "migrationCancelled")
        public static var migrationCancelledError: Code { .migrationCancelled }
        @available(*, deprecated, renamed: "migration")
        public static var migrationError: Code { .migration }
        @available(*, deprecated, renamed: "migrationManagerDestinationStore")
        public static var migrationManagerDestinationStoreError: Code { .migrationManagerDestinationStore }
        @available(*, deprecated, renamed: "migrationManagerSourceStore")
        public static var migrationManagerSourceStoreError: Code { .migrationManagerSourceStore }
        @available(*, deprecated, renamed: "migrationMissingMappingModel")
        public static var migrationMissingMappingModelError: Code { .migrationMissingMappingModel }
        @available(*, deprecated, renamed: "migrationMissingSourceModel")
        public static var migrationMissingSourceModelError: Code { .migrationMissingSourceModel }
        @available(*, deprecated, renamed: "persistentStoreCoordinatorLocking")
        public static var persistentStoreCoordinatorLockingError: Code { .persistentStoreCoordinatorLocking }
        @available(*, deprecated, renamed: "persistentStoreIncompatibleSchema")
        public static var persistentStoreIncompatibleSchemaError: Code { .persistentStoreIncompatibleSchema }
        @available(*, deprecated, renamed: "persistentStoreIncompatibleVersionHash")
        public static var persistentStoreIncompatibleVersionHashError: Code { .persistentStoreIncompatibleVersionHash }
        @available(*, deprecated, renamed: "persistentStoreIncompleteSave")
        public static var persistentStoreIncompleteSaveError: Code { .persistentStoreIncompleteSave }
        @available(*, deprecated, renamed: "persistentStoreInvalidType")
        public static var persistentStoreInvalidTypeError: Code { .persistentStoreInvalidType }
        @available(*, deprecated, renamed: "persistentStoreOpen")
        public static var persistentStoreOpenError: Code { .persistentStoreOpen }
        @available(*, deprecated, renamed: "persistentStoreOperation")
        public static var persistentStoreOperationError: Code { .persistentStoreOperation }
        @available(*, deprecated, renamed: "persistentStoreSaveConflicts")
        public static var persistentStoreSaveConflictsError: Code { .persistentStoreSaveConflicts }
        @available(*, deprecated, renamed: "persistentStoreSave")
        public static var persistentStoreSaveError: Code { .persistentStoreSave }
        @available(*, deprecated, renamed: "persistentStoreTimeout")
        public static var persistentStoreTimeoutError: Code { .persistentStoreTimeout }
        @available(*, deprecated, renamed: "persistentStoreTypeMismatch")
        public static var persistentStoreTypeMismatchError: Code { .persistentStoreTypeMismatch }
        @available(*, deprecated, renamed: "persistentStoreUnsupportedRequestType")
        public static var persistentStoreUnsupportedRequestTypeError: Code { .persistentStoreUnsupportedRequestType }
        @available(*, deprecated, renamed: "sqlite")
        public static var sqliteError: Code { .sqlite }
        @available(*, deprecated, renamed: "validationDateTooLate")
        public static var validationDateTooLateError: Code { .validationDateTooLate }
        @available(*, deprecated, renamed: "validationDateTooSoon")
        public static var validationDateTooSoonError: Code { .validationDateTooSoon }
        @available(*, deprecated, renamed: "validationInvalidDate")
        public static var validationInvalidDateError: Code { .validationInvalidDate }
        @available(*, deprecated, renamed: "validationMissingMandatoryProperty")
        public static var validationMissingMandatoryPropertyError: Code { .validationMissingMandatoryProperty }
        @available(*, deprecated, renamed: "validationMultipleErrors")
        public static var validationMultipleErrorsError: Code { .validationMultipleErrors }
        @available(*, deprecated, renamed: "validationNumberTooLarge")
        public static var validationNumberTooLargeError: Code { .validationNumberTooLarge }
        @available(*, deprecated, renamed: "validationNumberTooSmall")
        public static var validationNumberTooSmallError: Code { .validationNumberTooSmall }
        @available(*, deprecated, renamed: "validationRelationshipDeniedDelete")
        public static var validationRelationshipDeniedDeleteError: Code { .validationRelationshipDeniedDelete }
        @available(*, deprecated, renamed: "validationRelationshipExceedsMaximumCount")
        public static var validationRelationshipExceedsMaximumCountError: Code { .validationRelationshipExceedsMaximumCount }
        @available(*, deprecated, renamed: "validationRelationshipLacksMinimumCount")
        public static var validationRelationshipLacksMinimumCountError: Code { .validationRelationshipLacksMinimumCount }
        @available(*, deprecated, renamed: "validationStringPatternMatching")
        public static var validationStringPatternMatchingError: Code { .validationStringPatternMatching }
        @available(*, deprecated, renamed: "validationStringTooLong")
        public static var validationStringTooLongError: Code { .validationStringTooLong }
        @available(*, deprecated, renamed: "validationStringTooShort")
        public static var validationStringTooShortError: Code { .validationStringTooShort }
    }
#endif
