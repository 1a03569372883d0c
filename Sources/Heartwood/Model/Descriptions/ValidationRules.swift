import Foundation

/// An attribute's limits as model files state them. The attribute itself has them as validation predicates.
struct ValidationRules: Equatable, Codable {
    /// The limit of a number, of a date in seconds since 2001-01-01, or of a string's length.
    var minimum: Double?
    var maximum: Double?
    var pattern: String?

    var isEmpty: Bool { minimum == nil && maximum == nil && pattern == nil }
}

extension NSAttributeDescription {
    /// The validation predicates that are limits which a model file can state.
    ///
    /// Setting them replaces the predicates. A limit that has no meaning for the attribute's type is left out.
    final var rules: ValidationRules {
        get {
            var rules = ValidationRules()
            for (position, predicate) in validationPredicates.enumerated() {
                let test = ValueTest(predicate)
                guard position >= validationWarnings.count || validationWarnings[position] as? Int == test.errorCode else { continue }
                switch test {
                case .integer(.greaterOrEqual, let limit): rules.minimum = Double(limit)
                case .integer(.lessOrEqual, let limit): rules.maximum = Double(limit)
                // A model file cannot state infinity or NaN.
                case .number(_, let limit) where !limit.isFinite, .date(_, let limit) where !limit.isFinite: continue
                case .number(.greaterOrEqual, let limit): rules.minimum = shortest(limit)
                case .number(.lessOrEqual, let limit): rules.maximum = shortest(limit)
                case .decimal(.greaterOrEqual, let limit): rules.minimum = Double("\(limit)")
                case .decimal(.lessOrEqual, let limit): rules.maximum = Double("\(limit)")
                case .date(.greaterOrEqual, let limit): rules.minimum = limit
                case .date(.lessOrEqual, let limit): rules.maximum = limit
                case .length(.greaterOrEqual, let limit): rules.minimum = Double(limit)
                case .length(.lessOrEqual, let limit): rules.maximum = Double(limit)
                case .pattern(_, let pattern): rules.pattern = pattern
                default: continue
                }
            }
            return rules
        }
        set {
            var predicates: [NSPredicate] = []
            if let minimum = newValue.minimum, let limit = limit(.greaterOrEqual, minimum) { predicates.append(limit) }
            if let maximum = newValue.maximum, let limit = limit(.lessOrEqual, maximum) { predicates.append(limit) }
            if let pattern = newValue.pattern, attributeType == .stringAttributeType {
                predicates.append(Self.comparison([], .matches, .text(pattern)))
            }
            setValidation(predicates, warnings: predicates.map { NSNumber(value: ValueTest($0).errorCode) })
        }
    }

    private func limit(_ comparison: PredicateNode.Operator, _ limit: Double) -> NSPredicate? {
        attributeType.codec.limit(limit).map { Self.comparison($0.keys, comparison, $0.value) }
    }

    /// The shortest number that parses to the same limit.
    private func shortest(_ limit: Double) -> Double {
        let short = attributeType == .floatAttributeType ? Double("\(Float(limit))") : nil
        return short.flatMap { Double(Float($0)) == limit ? $0 : nil } ?? limit
    }

    private static func comparison(_ keys: [String], _ comparison: PredicateNode.Operator, _ value: PredicateValue) -> NSPredicate {
        NSPredicate(node: .comparison(.init(left: .keyPath(keys), comparison: comparison, right: .constant(value))))
    }
}
