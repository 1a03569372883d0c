import Foundation

extension PredicateExpressions.TypeCheck: TranslatableExpression {
    func translated(in translation: inout PredicateTranslation) throws -> Translated {
        let value = try translation.value(input)
        let wanted = Unwrapping.wrapped(Desired.self)
        let test = try translation.family(of: wanted, value, for: self).test
        // nil is of every optional type.
        return .truth(wanted == Desired.self ? test : .joining([test, value.isNil], isAnd: false))
    }
}

extension PredicateExpressions.ConditionalCast: TranslatableExpression {
    func translated(in translation: inout PredicateTranslation) throws -> Translated {
        let value = try translation.value(input)
        let family = try translation.family(of: Desired.self, value, for: self)
        var result = TranslatedValue(value.node, entity: family.entity)
        result.cast = TranslatedValue.Cast(test: family.test, others: family.others)
        return .value(result)
    }
}

extension PredicateExpressions.ForceCast: TranslatableExpression {
    /// Swift's evaluation throws for an object of another class. A store reads that object's properties, and null for those that it lacks.
    func translated(in translation: inout PredicateTranslation) throws -> Translated {
        let value = try translation.value(input)
        return .value(TranslatedValue(value.node, entity: try translation.family(of: Desired.self, value, for: self).entity))
    }
}

extension TranslatedValue {
    /// The condition of `as?`, without which the value is nil.
    struct Cast {
        let test: PredicateNode
        /// The entities of the objects that are of another class.
        let others: [NSEntityDescription]
    }

    /// The object itself, behind a cast that has succeeded.
    var withoutCast: TranslatedValue {
        var result = self
        result.cast = nil
        return result
    }

    /// Whether a value is one of this object's properties that no object has for which the cast fails. A store reads null for those.
    func isNullUnlessCast(_ value: TranslatedValue) -> Bool {
        guard let cast, value.ifNull == nil, value.cast == nil, let key = Self.property(value.node, of: node), !key.hasPrefix("@")
        else { return false }
        return !cast.others.contains { $0.propertiesByName[key] != nil }
    }

    private static func property(_ node: ExpressionNode, of base: ExpressionNode) -> String? {
        let (keys, start): ([String], [String])
        switch (node, base) {
        case (.keyPath(let path), .keyPath(let root)): (keys, start) = (path, root)
        case (.path(.variable(let name), let path), .variable(let other)) where name == other: (keys, start) = (path, [])
        case (.path(.variable(let name), let path), .path(.variable(let other), let root)) where name == other: (keys, start) = (path, root)
        default: return nil
        }
        return keys.count == start.count + 1 && keys.starts(with: start) ? keys.last : nil
    }
}

extension PredicateTranslation {
    /// The entities whose objects are of a class.
    struct Family {
        /// The entity of the class; that of the value where the class is above it.
        let entity: NSEntityDescription
        /// Whether the value is an object of the class.
        let test: PredicateNode
        let others: [NSEntityDescription]
    }

    /// - Throws: `PredicateTranslationError` for a type of which a store knows nothing, such as a protocol.
    fileprivate func family(of type: Any.Type, _ value: TranslatedValue, for expression: any PredicateExpression) throws -> Family {
        guard let known = value.entity, value.node.constant == nil, !value.isCollection else { throw refusal(expression, type) }
        let all = known.concreteFamily
        let entity: NSEntityDescription, members: [NSEntityDescription]
        if let layer {
            guard let wanted = layer.entity(of: type) else { throw refusal(expression, type) }
            entity = wanted.isKindOf(entity: known) ? wanted : known
            members = all.filter { $0.isKindOf(entity: wanted) }
        } else {
            guard let wanted = type as? NSManagedObject.Type else { throw refusal(expression, type) }
            members = all.filter { $0.hasObjects(of: wanted) }
            entity = known.narrowest { $0.hasObjects(of: wanted) } ?? known
        }
        let others = all.filter { other in !members.contains { $0 === other } }
        // A program's own property of that name hides the entity.
        guard others.isEmpty || !known.isKnownInFamily("entity") else { throw refusal(expression, type) }
        return Family(entity: entity, test: value.isOf(members, isAll: others.isEmpty), others: others)
    }

    private func refusal(_ expression: any PredicateExpression, _ type: Any.Type) -> PredicateTranslationError {
        PredicateTranslationError("\(Self.name(expression)) with \(type) cannot be asked of a store, which knows the classes of its objects only.")
    }
}

extension TranslatedValue {
    fileprivate func isOf(_ entities: [NSEntityDescription], isAll: Bool) -> PredicateNode {
        if isAll, node.isRootObject { return .constant(true) }
        if isAll, case .constant(false) = isNil { return .constant(true) }
        if isAll { return .negating(isNil) }
        let names = entities.compactMap(\.name).sorted().map(PredicateValue.text)
        guard let first = names.first else { return .constant(false) }
        let name = appending(["entity", "name"])
        if names.count == 1 { return .comparison(.init(left: name, comparison: .equal, right: .constant(first))) }
        return .comparison(.init(left: name, comparison: .isIn, right: .constant(.collection(names))))
    }
}

extension ExpressionNode {
    /// Whether it is the object of the predicate, or the member of a collection, which is never null.
    fileprivate var isRootObject: Bool {
        switch self {
        case .keyPath(let keys): keys.isEmpty
        case .variable: true
        default: false
        }
    }
}

extension NSEntityDescription {
    /// Whether the entity's objects are of a class.
    fileprivate func hasObjects(of wanted: NSManagedObject.Type) -> Bool {
        var next: AnyClass? = ManagedObjectClasses.resolve(self)
        while let known = next {
            if known == wanted { return true }
            next = _getSuperclass(known)
        }
        return false
    }

    /// The first entity, of this one and those below it, that fits.
    fileprivate func narrowest(_ fits: (NSEntityDescription) -> Bool) -> NSEntityDescription? {
        if fits(self) { return self }
        for entity in subentities { if let found = entity.narrowest(fits) { return found } }
        return nil
    }
}
