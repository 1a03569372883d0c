import Foundation

extension PredicateExpressions.CollectionContainsCollection: TranslatableExpression
where Base.Output: StringProtocol, Other.Output: StringProtocol {
    func translated(in translation: inout PredicateTranslation) throws -> Translated {
        .truth(try translation.value(base).compared(.contains, try translation.value(other)))
    }
}

extension PredicateExpressions.SequenceStartsWith: TranslatableExpression
where Base.Output: StringProtocol, Prefix.Output: StringProtocol {
    func translated(in translation: inout PredicateTranslation) throws -> Translated {
        .truth(try translation.value(base).compared(.beginsWith, try translation.value(prefix)))
    }
}

extension PredicateExpressions.StringContainsRegex: TranslatableExpression {
    func translated(in translation: inout PredicateTranslation) throws -> Translated {
        guard case .text(let pattern) = try translation.value(regex).node.constant else {
            throw PredicateTranslationError("A regular expression in a predicate must not depend on the object.")
        }
        // MATCHES tests the whole text, and a dot matches no line end.
        let anywhere = TranslatedValue.constant(.text("(?s:.*)(?:\(pattern))(?s:.*)"))
        do {
            _ = try RegularExpression(pattern, options: [])
        } catch {
            throw PredicateTranslationError("\(error), as a store writes it.")
        }
        return .truth(try translation.value(subject).compared(.matches, anywhere))
    }
}
