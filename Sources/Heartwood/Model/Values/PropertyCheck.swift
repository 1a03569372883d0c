import Foundation

/// What saves check of one property, made ready once for all its objects.
final class PropertyCheck: @unchecked Sendable {
    // Unchecked: immutable, and predicates are only evaluated.

    struct Rule {
        let test: ValueTest
        let predicate: NSPredicate
        let code: Int
        /// What the error says; nil where the code says enough.
        let text: String?
    }

    let index: Int
    let name: String
    let kind: PropertyKind
    let isRequired: Bool
    let rules: [Rule]
    /// Of a to-many relationship; 0 is no limit.
    let minCount: Int
    let maxCount: Int

    /// - Returns: nil where every value will do.
    init?(_ property: NSPropertyDescription) {
        // A composite's elements are checked; what is fetched is no value of the object, and what is derived is known only to the save.
        switch property {
        case is NSCompositeAttributeDescription, is NSFetchedPropertyDescription, is NSDerivedAttributeDescription: return nil
        default: break
        }
        index = property.index
        name = property.name
        kind = PropertyKind(property)
        isRequired = !property.isOptional
        let warnings = property.validationWarnings
        rules = property.validationPredicates.enumerated().map { position, predicate in
            let test = ValueTest(predicate)
            let warning = position < warnings.count ? warnings[position] : nil
            if let code = warning as? Int { return Rule(test: test, predicate: predicate, code: code, text: nil) }
            guard let text = warning as? String, !text.isEmpty else {
                return Rule(test: test, predicate: predicate, code: test.errorCode, text: nil)
            }
            return Rule(test: test, predicate: predicate, code: NSManagedObjectValidationError, text: text)
        }
        let relationship = PropertyKind(property) == .toMany ? property as? NSRelationshipDescription : nil
        minCount = relationship?.minCount ?? 0
        maxCount = relationship?.maxCount ?? 0
        guard isRequired || !rules.isEmpty || minCount > 0 || maxCount > 0 else { return nil }
    }

    /// The codes of what a to-many relationship of `count` members violates. None has to be there where the relationship is
    /// optional, whatever the least count is, nor in a required one without a least count: Core Data's rules.
    func failure(ofCount count: Int) -> Int? {
        if count == 0 {
            return isRequired && minCount > 0 ? NSValidationRelationshipLacksMinimumCountError : nil
        }
        if count < minCount { return NSValidationRelationshipLacksMinimumCountError }
        return maxCount > 0 && count > maxCount ? NSValidationRelationshipExceedsMaximumCountError : nil
    }

    /// Whether members that came and went can have broken a limit, so that they must be counted.
    func mustCount(_ state: ToManyState) -> Bool {
        if maxCount > 0, !state.added.isEmpty { return true }
        if minCount > 1 { return true }
        return isRequired && minCount > 0 && state.added.isEmpty
    }
}
