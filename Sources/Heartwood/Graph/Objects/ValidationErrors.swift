import Foundation

/// Makes the errors of validation, with Core Data's codes, the object, the key and the value.
enum ValidationErrors {
    static func make(_ code: Int, _ object: NSManagedObject, _ check: PropertyCheck, _ value: Any?) -> NSError {
        CoreDataError.make(code, describe(code, name(of: check.name, object)), info(object, check.name, value))
    }

    static func make(_ rule: PropertyCheck.Rule, _ object: NSManagedObject, _ check: PropertyCheck, _ value: Any?) -> NSError {
        var info = info(object, check.name, value)
        info[NSValidationPredicateErrorKey] = rule.predicate
        let text = rule.text ?? describe(rule.code, name(of: check.name, object))
        return CoreDataError.make(rule.code, text, info)
    }

    static func denied(_ object: NSManagedObject, _ key: String, _ value: Any?) -> NSError {
        CoreDataError.make(
            NSValidationRelationshipDeniedDeleteError,
            "\(object.entity.name ?? "?") cannot be deleted while its \(key) is not empty.", info(object, key, value))
    }

    static func dangling(_ object: NSManagedObject, _ key: String, _ destination: NSManagedObject) -> NSError {
        CoreDataError.make(
            NSManagedObjectValidationError,
            "\(object.entity.name ?? "?").\(key) refers to an object that is being deleted (\(destination.objectID)). Set it to another "
                + "one or to nil, or do not delete that one.",
            info(object, key, destination))
    }

    static func mismatch(_ value: Any?, _ object: NSManagedObject, _ property: PropertyRuntime) -> NSError {
        CoreDataError.make(
            AttributeCoding.unfitNumber(value, property.kind).map(AttributeCoding.unfitCode) ?? NSManagedObjectValidationError,
            AttributeCoding.mismatch(value, property.name, property.kind, entity: object.entity), info(object, property.name, value))
    }

    private static func info(_ object: NSManagedObject, _ key: String, _ value: Any?) -> [String: Any] {
        [NSValidationObjectErrorKey: object, NSValidationKeyErrorKey: key, NSValidationValueErrorKey: value.map(ValueText.described) ?? NSNull()]
    }

    /// The property's name in the model's localization dictionary, or else its own.
    private static func name(of property: String, _ object: NSManagedObject) -> String {
        let entity = object.entity.name ?? "?"
        let names = object.entity.model?.localizationDictionary
        let own = names?["Property/\(property)/Entity/\(entity)"] ?? names?["Property/\(property)"]
        return "\(names?["Entity/\(entity)"] ?? entity).\(own ?? property)"
    }

    private static func describe(_ code: Int, _ property: String) -> String {
        switch code {
        case NSValidationMissingMandatoryPropertyError: "\(property) is a required value."
        case NSValidationRelationshipLacksMinimumCountError: "There are too few items in \(property)."
        case NSValidationRelationshipExceedsMaximumCountError: "There are too many items in \(property)."
        case NSValidationNumberTooLargeError: "\(property) is too large."
        case NSValidationNumberTooSmallError: "\(property) is too small."
        case NSValidationDateTooLateError: "\(property) is too late."
        case NSValidationDateTooSoonError: "\(property) is too soon."
        case NSValidationStringTooLongError: "\(property) is too long."
        case NSValidationStringTooShortError: "\(property) is too short."
        case NSValidationStringPatternMatchingError: "\(property) does not match its pattern."
        default: "\(property) is invalid."
        }
    }

    // MARK: Several

    /// Throws what `body` collects: a single error as it is, several errors as one 1560 that lists them. Returns if there is none.
    static func throwing(_ body: (inout [any Error]) throws -> Void) throws {
        var errors: [any Error] = []
        try body(&errors)
        guard let first = errors.first else { return }
        guard errors.count > 1 else { throw first }
        throw CoreDataError.make(
            NSValidationMultipleErrorsError,
            "\(errors.count) validation errors occurred; the first: \((first as NSError).localizedDescription)",
            [NSDetailedErrorsKey: errors.map { $0 as NSError }])
    }

    /// Adds an error that a hook threw. A collective error adds each of its members.
    static func append(_ error: any Error, to errors: inout [any Error]) {
        let known = error as NSError
        if known.domain == NSCocoaErrorDomain, known.code == NSValidationMultipleErrorsError,
            let details = known.userInfo[NSDetailedErrorsKey] as? [NSError], !details.isEmpty {
            errors += details
        } else {
            errors.append(error)
        }
    }
}
