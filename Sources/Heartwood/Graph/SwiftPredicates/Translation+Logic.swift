import Foundation

extension PredicateExpressions.Conjunction: TranslatableExpression {
    func translated(in translation: inout PredicateTranslation) throws -> Translated {
        .truth(.joining([try translation.predicate(lhs), try translation.predicate(rhs)], isAnd: true))
    }
}

extension PredicateExpressions.Disjunction: TranslatableExpression {
    func translated(in translation: inout PredicateTranslation) throws -> Translated {
        .truth(.joining([try translation.predicate(lhs), try translation.predicate(rhs)], isAnd: false))
    }
}

extension PredicateExpressions.Negation: TranslatableExpression {
    func translated(in translation: inout PredicateTranslation) throws -> Translated {
        switch try translation.translate(wrapped) {
        case .truth(let node, _): return .truth(.negating(node))
        case .value(let value):
            if case .bool(let flag) = value.node.constant { return .truth(.constant(!flag)) }
            return .truth(value.compared(.equal, .constant(.bool(false))))
        }
    }
}

extension PredicateExpressions.Equal: TranslatableExpression {
    func translated(in translation: inout PredicateTranslation) throws -> Translated {
        .truth(Translated.equal(try translation.translate(lhs), try translation.translate(rhs)))
    }
}

extension PredicateExpressions.NotEqual: TranslatableExpression {
    func translated(in translation: inout PredicateTranslation) throws -> Translated {
        .truth(Translated.notEqual(try translation.translate(lhs), try translation.translate(rhs)))
    }
}

extension PredicateExpressions.Comparison: TranslatableExpression {
    func translated(in translation: inout PredicateTranslation) throws -> Translated {
        let found: PredicateNode.Operator = switch op {
        case .lessThan: .less
        case .lessThanOrEqual: .lessOrEqual
        case .greaterThan: .greater
        case .greaterThanOrEqual: .greaterOrEqual
        @unknown default: throw PredicateTranslationError("\(PredicateTranslation.name(self)) cannot be asked of a store.")
        }
        return .truth(try translation.value(lhs).compared(found, try translation.value(rhs)))
    }
}

extension PredicateExpressions.Conditional: TranslatableExpression {
    func translated(in translation: inout PredicateTranslation) throws -> Translated {
        let test = try translation.predicate(self.test)
        let first = try translation.translate(trueBranch), second = try translation.translate(falseBranch)
        if If.Output.self == Bool.self {
            return .truth(.joining([
                .joining([test, first.asPredicate], isAnd: true), .joining([.negating(test), second.asPredicate], isAnd: true),
            ], isAnd: false))
        }
        var result = TranslatedValue(.conditional(test, first.asValue.whole, second.asValue.whole))
        if first.asValue.entity === second.asValue.entity { result.entity = first.asValue.entity }
        return .value(result)
    }
}

// MARK: Optionals

extension PredicateExpressions.NilLiteral: TranslatableExpression {
    func translated(in translation: inout PredicateTranslation) throws -> Translated { .value(.constant(.null)) }
}

extension PredicateExpressions.ForcedUnwrap: TranslatableExpression {
    /// Swift's evaluation throws for nil; a store uses null.
    func translated(in translation: inout PredicateTranslation) throws -> Translated {
        switch try translation.translate(inner) {
        case .truth(let node, _): .truth(node)
        case .value(let value): .value(value)
        }
    }
}

extension PredicateExpressions.OptionalFlatMap: TranslatableExpression {
    func translated(in translation: inout PredicateTranslation) throws -> Translated {
        let base = try translation.value(wrapped)
        translation.bind(variable.key, to: base.withoutCast)
        let result = try translation.translate(transform)
        let isNil = base.isNil
        // A value that stands for null is a value too.
        if case .constant(false) = isNil { return result }
        switch result {
        case .truth(let node, let inner):
            let whole = base.cast == nil && node.fails(whenNull: base.node) ? node : .joining([.negating(isNil), node], isAnd: true)
            return .truth(whole, isNil: inner.map { .joining([isNil, $0], isAnd: false) } ?? isNil)
        case .value(var value):
            if base.isNullUnlessCast(value) { return .value(value) }
            if base.cast == nil, value.node.isNull(with: base.node) {
                if value.ifNull != nil, value.owner == nil { value.owner = base.ifNull == nil ? base.node : base.owner }
                return .value(value)
            }
            let plain = ExpressionNode.conditional(isNil, .constant(.null), value.whole)
            return .value(TranslatedValue(plain, entity: value.entity))
        }
    }
}

extension PredicateExpressions.NilCoalesce: TranslatableExpression {
    func translated(in translation: inout PredicateTranslation) throws -> Translated {
        let first = try translation.translate(lhs), second = try translation.translate(rhs)
        switch first {
        case .truth(let node, let isNil):
            guard let isNil else { return .truth(node) }
            guard RHS.Output.self == Bool.self else {
                return .value(TranslatedValue(.conditional(isNil, second.asValue.whole, first.asValue.node)))
            }
            return .truth(.joining([node, .joining([isNil, second.asPredicate], isAnd: true)], isAnd: false))
        case .value(var value):
            if value.isNeverNull || value.ifNull != nil && value.owner == nil { return .value(value) }
            let other = second.asValue
            guard let constant = other.node.constant else {
                return .value(TranslatedValue(.conditional(value.isNil, other.whole, value.whole), entity: value.entity))
            }
            // The value decides how a comparison with it is translated.
            if translation.isTemplate { throw PredicateTranslationError("The shape has no format of its own.") }
            if value.ifNull?.isEqual(constant) == true {
                value.owner = nil
            } else if value.ifNull == nil {
                value.ifNull = constant.isNull ? nil : constant
            } else {
                value.node = value.whole
                value.ifNull = constant
                value.owner = nil
            }
            return .value(value)
        }
    }
}
