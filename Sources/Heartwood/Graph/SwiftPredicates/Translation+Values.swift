import Foundation

extension PredicateExpressions.Variable: TranslatableExpression {
    func translated(in translation: inout PredicateTranslation) throws -> Translated { .value(try translation.value(of: key)) }
}

extension PredicateExpressions.KeyPath: TranslatableExpression {
    func translated(in translation: inout PredicateTranslation) throws -> Translated {
        let root = try translation.value(self.root)
        if Root.Output.self is any StringProtocol.Type { return try ofText(root) }
        if keyPath as AnyKeyPath == \NSSet.count || keyPath as AnyKeyPath == \NSOrderedSet.count { return .value(root.count) }
        switch kind {
        case .collectionCount: return .value(root.count)
        case .collectionIsEmpty: return .truth(root.count.compared(.equal, .constant(.integer(0))))
        case .collectionFirst, .bidirectionalCollectionLast:
            throw PredicateTranslationError("The key path \(keyPath) asks for one member; a store is asked with contains(where:).")
        case nil: break
        }
        if let reading = try translation.layer?.reading(of: keyPath, root: Root.Output.self) {
            var result = root
            result.node = root.appending(reading.keys)
            if !reading.keys.isEmpty { (result.entity, result.cast) = (reading.entity, nil) }
            result.isCollection = reading.isCollection
            result.isNeverNull = reading.isCollection
            return .value(result)
        }
        guard Root.Output.self is NSManagedObject.Type else {
            throw PredicateTranslationError(
                "The key path \(keyPath) is none of a managed object's; a store knows the properties of managed objects, and count and "
                    + "isEmpty of texts and collections.")
        }
        let reading = try root.entity.map { try KeyPathReading.of(keyPath, entity: $0) } ?? KeyPathReading.of(keyPath)
        var result = TranslatedValue(root.appending(reading.keys), entity: reading.entity)
        // The value decides how a comparison with it is translated.
        if translation.isTemplate, reading.ifNull != nil { throw PredicateTranslationError("The shape has no format of its own.") }
        result.ifNull = reading.ifNull
        if !reading.ownerKeys.isEmpty { result.owner = root.appending(reading.ownerKeys) }
        result.isCollection = reading.kind == .toMany
        result.isNeverNull = result.isCollection
        return .value(result)
    }

    private func ofText(_ root: TranslatedValue) throws -> Translated {
        switch kind {
        case .collectionIsEmpty: return .truth(root.compared(.equal, .constant(.text(""))))
        case .collectionCount:
            var result = root
            result.node = .call(.length, [root.node])
            result.ifNull = root.ifNull.map { PredicateFunction.length.apply([$0]) }
            return .value(result)
        default: throw PredicateTranslationError("The key path \(keyPath) asks for one character, which a store cannot give.")
        }
    }
}

extension TranslatedValue {
    /// The number of a collection's members.
    var count: TranslatedValue {
        var result = TranslatedValue(appending(["@count"]))
        result.isNeverNull = true
        return result
    }
}

// MARK: Arithmetic

extension PredicateTranslation {
    fileprivate mutating func call(
        _ function: PredicateFunction, _ left: any PredicateExpression, _ right: any PredicateExpression
    ) throws -> Translated {
        .value(TranslatedValue(.call(function, [try value(left).whole, try value(right).whole])))
    }
}

extension PredicateExpressions.Arithmetic: TranslatableExpression {
    func translated(in translation: inout PredicateTranslation) throws -> Translated {
        switch op {
        case .add: try translation.call(.add, lhs, rhs)
        case .subtract: try translation.call(.subtract, lhs, rhs)
        case .multiply: try translation.call(.multiply, lhs, rhs)
        @unknown default: throw PredicateTranslationError("\(PredicateTranslation.name(self)) cannot be asked of a store.")
        }
    }
}

extension PredicateExpressions.UnaryMinus: TranslatableExpression {
    func translated(in translation: inout PredicateTranslation) throws -> Translated {
        .value(TranslatedValue(.call(.subtract, [.constant(.integer(0)), try translation.value(wrapped).whole])))
    }
}

extension PredicateExpressions.IntDivision: TranslatableExpression {
    func translated(in translation: inout PredicateTranslation) throws -> Translated { try translation.call(.divide, lhs, rhs) }
}

extension PredicateExpressions.FloatDivision: TranslatableExpression {
    func translated(in translation: inout PredicateTranslation) throws -> Translated { try translation.call(.divide, lhs, rhs) }
}

extension PredicateExpressions.IntRemainder: TranslatableExpression {
    func translated(in translation: inout PredicateTranslation) throws -> Translated { try translation.call(.modulus, lhs, rhs) }
}
