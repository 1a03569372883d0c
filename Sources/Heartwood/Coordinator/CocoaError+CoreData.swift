import Foundation

#if !canImport(ObjectiveC)
    /// Core Data's codes as `CocoaError` has them where there is Core Data, so that errors are caught by their names.
    extension CocoaError.Code {
        public static var managedObjectValidation: CocoaError.Code { CocoaError.Code(rawValue: NSManagedObjectValidationError) }
        public static var managedObjectConstraintValidation: CocoaError.Code { CocoaError.Code(rawValue: NSManagedObjectConstraintValidationError) }
        public static var validationMultipleErrors: CocoaError.Code { CocoaError.Code(rawValue: NSValidationMultipleErrorsError) }
        public static var validationMissingMandatoryProperty: CocoaError.Code { CocoaError.Code(rawValue: NSValidationMissingMandatoryPropertyError) }
        public static var validationRelationshipLacksMinimumCount: CocoaError.Code { CocoaError.Code(rawValue: NSValidationRelationshipLacksMinimumCountError) }
        public static var validationRelationshipExceedsMaximumCount: CocoaError.Code { CocoaError.Code(rawValue: NSValidationRelationshipExceedsMaximumCountError) }
        public static var validationRelationshipDeniedDelete: CocoaError.Code { CocoaError.Code(rawValue: NSValidationRelationshipDeniedDeleteError) }
        public static var validationNumberTooLarge: CocoaError.Code { CocoaError.Code(rawValue: NSValidationNumberTooLargeError) }
        public static var validationNumberTooSmall: CocoaError.Code { CocoaError.Code(rawValue: NSValidationNumberTooSmallError) }
        public static var validationDateTooLate: CocoaError.Code { CocoaError.Code(rawValue: NSValidationDateTooLateError) }
        public static var validationDateTooSoon: CocoaError.Code { CocoaError.Code(rawValue: NSValidationDateTooSoonError) }
        public static var validationInvalidDate: CocoaError.Code { CocoaError.Code(rawValue: NSValidationInvalidDateError) }
        public static var validationStringTooLong: CocoaError.Code { CocoaError.Code(rawValue: NSValidationStringTooLongError) }
        public static var validationStringTooShort: CocoaError.Code { CocoaError.Code(rawValue: NSValidationStringTooShortError) }
        public static var validationStringPatternMatching: CocoaError.Code { CocoaError.Code(rawValue: NSValidationStringPatternMatchingError) }
        public static var validationInvalidURI: CocoaError.Code { CocoaError.Code(rawValue: NSValidationInvalidURIError) }
        public static var managedObjectReferentialIntegrity: CocoaError.Code { CocoaError.Code(rawValue: NSManagedObjectReferentialIntegrityError) }
        public static var managedObjectMerge: CocoaError.Code { CocoaError.Code(rawValue: NSManagedObjectMergeError) }
        public static var managedObjectConstraintMerge: CocoaError.Code { CocoaError.Code(rawValue: NSManagedObjectConstraintMergeError) }
    }

    extension CocoaError {
        public static var managedObjectValidation: CocoaError.Code { .managedObjectValidation }
        public static var managedObjectConstraintValidation: CocoaError.Code { .managedObjectConstraintValidation }
        public static var validationMultipleErrors: CocoaError.Code { .validationMultipleErrors }
        public static var validationMissingMandatoryProperty: CocoaError.Code { .validationMissingMandatoryProperty }
        public static var validationRelationshipLacksMinimumCount: CocoaError.Code { .validationRelationshipLacksMinimumCount }
        public static var validationRelationshipExceedsMaximumCount: CocoaError.Code { .validationRelationshipExceedsMaximumCount }
        public static var validationRelationshipDeniedDelete: CocoaError.Code { .validationRelationshipDeniedDelete }
        public static var validationNumberTooLarge: CocoaError.Code { .validationNumberTooLarge }
        public static var validationNumberTooSmall: CocoaError.Code { .validationNumberTooSmall }
        public static var validationDateTooLate: CocoaError.Code { .validationDateTooLate }
        public static var validationDateTooSoon: CocoaError.Code { .validationDateTooSoon }
        public static var validationInvalidDate: CocoaError.Code { .validationInvalidDate }
        public static var validationStringTooLong: CocoaError.Code { .validationStringTooLong }
        public static var validationStringTooShort: CocoaError.Code { .validationStringTooShort }
        public static var validationStringPatternMatching: CocoaError.Code { .validationStringPatternMatching }
        public static var validationInvalidURI: CocoaError.Code { .validationInvalidURI }
        public static var managedObjectReferentialIntegrity: CocoaError.Code { .managedObjectReferentialIntegrity }
        public static var managedObjectMerge: CocoaError.Code { .managedObjectMerge }
        public static var managedObjectConstraintMerge: CocoaError.Code { .managedObjectConstraintMerge }
    }
#endif
