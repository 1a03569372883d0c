import Foundation

/// An expression of Swift predicates with a counterpart in the format language.
protocol TranslatableExpression {
    func translated(in translation: inout PredicateTranslation) throws -> Translated
}

/// Translates the expression tree that `#Predicate` makes.
///
/// An expression without variables is evaluated at once and becomes a constant.
struct PredicateTranslation {
    private var variables: [PredicateExpressions.VariableID: TranslatedValue] = [:]
    private var nameCount = 0
    private var depth = 0
    /// Whether values become placeholders of a format.
    var isTemplate = false
    private var placeholderCount = 0
    /// nil for predicates of managed objects.
    let layer: (any PredicateLayer)?

    init(layer: (any PredicateLayer)? = nil) { self.layer = layer }

    /// - Throws: `PredicateTranslationError` if a store cannot evaluate a part of it.
    static func predicate<Object: NSManagedObject>(_ predicate: Predicate<Object>) throws -> NSPredicate {
        try self.predicate(predicate.expression, predicate.variable.key, KeyPathReading.entity(of: Object.self), nil)
    }

    mutating func translate(_ expression: any PredicateExpression) throws -> Translated {
        if isTemplate, let shaped = expression as? any ShapedExpression, type(of: shaped).isPlaceholder {
            return .value(.constant(.other(nextPlaceholder())))
        }
        if !isTemplate || Self.isCondition(expression), let constant = try? expression.evaluate(PredicateBindings()),
            let value = Self.constant(constant, layer)
        {
            return .value(.constant(value))
        }
        guard let translatable = expression as? any TranslatableExpression else {
            throw PredicateTranslationError("\(Self.name(expression)) cannot be asked of a store.")
        }
        depth += 1
        defer { depth -= 1 }
        guard depth <= PredicateNode.depthMax else { throw PredicateTranslationError(PredicateFault.tooDeep.reason) }
        return try translatable.translated(in: &self)
    }

    /// Whether it is a condition that is known; see `ShapedExpression.isPlaceholder`.
    private static func isCondition(_ expression: any PredicateExpression) -> Bool {
        (expression as? any ShapedExpression).map { type(of: $0).isConstant } ?? false
    }

    private mutating func nextPlaceholder() -> FormatTemplate.Placeholder {
        defer { placeholderCount += 1 }
        return FormatTemplate.Placeholder(placeholderCount)
    }

    mutating func predicate(_ expression: any PredicateExpression) throws -> PredicateNode { try translate(expression).asPredicate }

    mutating func value(_ expression: any PredicateExpression) throws -> TranslatedValue { try translate(expression).asValue }

    // MARK: Variables

    func value(of variable: PredicateExpressions.VariableID) throws -> TranslatedValue {
        guard let value = variables[variable] else { throw PredicateTranslationError("A variable of the predicate is not bound by it.") }
        return value
    }

    mutating func bind(_ variable: PredicateExpressions.VariableID, to value: TranslatedValue) { variables[variable] = value }

    /// Translates an expression of another predicate, whose variables have values here.
    mutating func translate(
        _ expression: any PredicateExpression, binding bound: [PredicateExpressions.VariableID], to values: [TranslatedValue]
    ) throws -> Translated {
        // The same predicate may be asked of two objects, one within the other.
        let outer = bound.map { variables[$0] }
        for (variable, value) in zip(bound, values) { variables[variable] = value }
        defer { for (variable, value) in zip(bound, outer) { variables[variable] = value } }
        return try translate(expression)
    }

    /// Binds the variable of a closure on a collection's members.
    /// - Returns: the variable's name in a subquery.
    mutating func bindMember(_ variable: PredicateExpressions.VariableID, of collection: TranslatedValue) -> String {
        nameCount += 1
        let name = nameCount == 1 ? "x" : "x\(nameCount)"
        variables[variable] = TranslatedValue(.variable(name), entity: collection.entity)
        return name
    }

    // MARK: Constants

    /// nil for a value that no store compares, such as a range.
    static func constant(_ value: Any, _ layer: (any PredicateLayer)? = nil) -> PredicateValue? {
        guard let raw = Unwrapping.rawValue(layer.map { $0.constant(value) } ?? value) else { return .null }
        switch raw {
        case let character as Character: return .text(String(character))
        case let text as Substring: return .text(String(text))
        case let regex as PredicateExpressions.PredicateRegex: return .text(regex.stringRepresentation)
        case is String, is Data, is Decimal: return PredicateValue(raw)
        case is any RangeExpression: return nil
        case let list as any Collection:
            var members: [PredicateValue] = []
            for member in list {
                guard let member = constant(member, layer) else { return nil }
                members.append(member)
            }
            return .collection(members)
        default:
            if case .other = PredicateValue(raw) { return nil }
            return PredicateValue(raw)
        }
    }

    // MARK: Messages

    /// An expression as the program wrote it, as far as that is known.
    static func name(_ expression: any PredicateExpression) -> String {
        let type = "\(type(of: expression))"
        let kind = type.prefix { $0 != "<" }
        switch kind {
        case "Value": return "A value of the type \(type.dropFirst(kind.count + 1).dropLast())"
        case "TypeCheck": return "`is`"
        case "ConditionalCast": return "`as?`"
        case "ForceCast": return "`as!`"
        case "CollectionIndexSubscript", "CollectionRangeSubscript", "DictionaryKeySubscript", "DictionaryKeyDefaultValueSubscript":
            return "A subscript of a value that depends on the object"
        default: return "`\(kind)` of a value that depends on the object"
        }
    }
}
