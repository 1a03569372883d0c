import Foundation

/// The checks that saves make of one property, prepared once for all objects.
final class PropertyCheck: @unchecked Sendable {
    // Unchecked: immutable, and predicates are only evaluated.

    struct Rule {
        let test: ValueTest
        let predicate: NSPredicate
        let code: Int
        /// The text of the error; nil if the code needs none.
        let text: String?
    }

    let index: Int
    let name: String
    let kind: PropertyKind
    let isRequired: Bool
    let rules: [Rule]
    /// The limits of a to-many relationship; 0 means no limit.
    let minCount: Int
    let maxCount: Int

    /// - Returns: nil if every value is valid.
    init?(_ property: NSPropertyDescription) {
        // A composite's elements are checked instead. A fetched property is no value of the object, and the save itself computes derived ones.
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

    /// The error code if a to-many relationship may not have `count` members; nil if it may. An optional relationship may be empty even if
    /// `minCount` is set, and so may a required one without a `minCount`. These are Core Data's rules.
    func failure(ofCount count: Int) -> Int? {
        if count == 0 {
            return isRequired && minCount > 0 ? NSValidationRelationshipLacksMinimumCountError : nil
        }
        if count < minCount { return NSValidationRelationshipLacksMinimumCountError }
        return maxCount > 0 && count > maxCount ? NSValidationRelationshipExceedsMaximumCountError : nil
    }

    /// Whether the added and removed members may have broken a limit, so that the save must count.
    func mustCount(_ state: ToManyState) -> Bool {
        if maxCount > 0, !state.added.isEmpty { return true }
        if minCount > 1 { return true }
        return isRequired && minCount > 0 && state.added.isEmpty
    }
}
