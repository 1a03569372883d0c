import Foundation

/// Compiles the derivation expressions of an immutable model, and refuses those that a store cannot compute.
///
/// Supports exactly Core Data's list: a key path through to-one relationships to an attribute; `canonical:`, `uppercase:` or `lowercase:` of
/// one; a to-many relationship with `@count`, or with `@sum` of an attribute; `now()`. Compiled models have these two as `count:(members)` and
/// `sum:(members.amount)`.
/// Source: https://developer.apple.com/documentation/coredata/nsderivedattributedescription
struct DerivationReader {
    /// The store's entities.
    let entities: [NSEntityDescription]

    /// Returns the derivations of each concrete entity. Each attribute comes after those that it is derived from.
    /// - Throws: 134020 for the first derivation that cannot be computed.
    func read() throws -> [ObjectIdentifier: [Derivation]] {
        var known: [ObjectIdentifier: Derivation] = [:]
        for entity in entities {
            for case let composite as NSCompositeAttributeDescription in entity.propertiesByIndex where composite.hasDerivedElements {
                throw CoreDataError.make(
                    NSPersistentStoreIncompatibleSchemaError,
                    "The model cannot be used: the composite attribute \(entity.name ?? "?").\(composite.name) has an element that is "
                        + "derived; derive an attribute of the entity instead.",
                    [NSValidationKeyErrorKey: composite.name])
            }
            for case let attribute as NSDerivedAttributeDescription in entity.propertiesByIndex
            where known[ObjectIdentifier(attribute)] == nil {
                known[ObjectIdentifier(attribute)] = try derivation(of: attribute)
            }
        }
        guard !known.isEmpty else { return [:] }
        let ranks = try ranks(known)
        var result: [ObjectIdentifier: [Derivation]] = [:]
        for entity in entities where !entity.isAbstract {
            let list = entity.propertiesByIndex.compactMap { known[ObjectIdentifier($0)] }
            guard !list.isEmpty else { continue }
            result[ObjectIdentifier(entity)] = list.sorted {
                (ranks[ObjectIdentifier($0.attribute)] ?? 0, $0.property) < (ranks[ObjectIdentifier($1.attribute)] ?? 0, $1.property)
            }
        }
        return result
    }

    private func failure(_ attribute: NSDerivedAttributeDescription, _ reason: String) -> NSError {
        let format = attribute.derivationExpression.map { "\"\($0.description)\"" } ?? "nothing"
        return CoreDataError.make(
            NSPersistentStoreIncompatibleSchemaError,
            "The model cannot be used: the attribute \(attribute.holder?.name ?? "?").\(attribute.name) is derived from \(format), and "
                + "\(reason).",
            [NSValidationKeyErrorKey: attribute.name])
    }

    /// Returns the length of the chain of derived attributes that ends at each attribute.
    private func ranks(_ known: [ObjectIdentifier: Derivation]) throws -> [ObjectIdentifier: Int] {
        var ranks: [ObjectIdentifier: Int] = [:]
        for derivation in known.values.sorted(by: { $0.attribute.name < $1.attribute.name }) {
            // Each attribute has at most one source, so sources form a chain.
            var chain: [Derivation] = [], next: Derivation? = derivation
            while let link = next, ranks[ObjectIdentifier(link.attribute)] == nil {
                guard !chain.contains(where: { $0.attribute === link.attribute }) else {
                    throw failure(link.attribute, "that is derived from the attribute itself in turn")
                }
                chain.append(link)
                next = link.source.flatMap { known[ObjectIdentifier($0)] }
            }
            var rank = next.flatMap { ranks[ObjectIdentifier($0.attribute)] } ?? 0
            for link in chain.reversed() {
                rank += 1
                ranks[ObjectIdentifier(link.attribute)] = rank
            }
        }
        return ranks
    }

    private func derivation(of attribute: NSDerivedAttributeDescription) throws -> Derivation {
        let kind = PropertyKind(attribute)
        guard !attribute.isTransient else {
            throw failure(attribute, "it is transient; take that away, since its value is kept in the store")
        }
        guard let node = attribute.derivationExpression?.node else { throw failure(attribute, "needs a derivationExpression") }
        let families = entities.filter { $0.propertiesByIndex.contains { $0 === attribute } }
        guard !families.contains(where: { $0.allUniquenessConstraints.contains { $0.contains(attribute.name) } }) else {
            throw failure(attribute, "it is part of a uniqueness constraint; constrain the attribute that it is derived from")
        }
        let form = try form(node, attribute, kind)
        return Derivation(attribute: attribute, kind: kind, form: form)
    }

    private func form(_ node: ExpressionNode, _ attribute: NSDerivedAttributeDescription, _ kind: PropertyKind) throws -> Derivation.Form {
        switch node {
        case .call(.now, _):
            guard kind == .date else { throw failure(attribute, "its type is \(attribute.attributeType.modelFileName); a time is a Date") }
            return .now
        case .call(let function, let arguments) where [.canonical, .uppercase, .lowercase].contains(function):
            guard arguments.count == 1, case .keyPath(let keys) = arguments[0],
                case .copy(let source) = try form(keys, attribute), source.kind == .string, kind == .string
            else { throw failure(attribute, "\(function.rawValue) makes a String of the key path of another") }
            return .function(function, source)
        case .call(.count, let arguments) where arguments.count == 1:
            guard case .keyPath(let keys) = arguments[0] else { throw unknown(attribute) }
            return try form(.keyPath(keys + ["@count"]), attribute, kind)
        case .call(.sum, let arguments) where arguments.count == 1:
            guard case .keyPath(let keys) = arguments[0], let last = keys.last else { throw unknown(attribute) }
            return try form(.keyPath(keys.dropLast() + ["@sum", last]), attribute, kind)
        case .keyPath(let keys):
            let form = try form(keys, attribute)
            let found: PropertyKind
            switch form {
            case .copy(let source): found = source.kind
            case .count: found = .int64
            case .sum(_, let source):
                guard source.kind.isArithmetic else {
                    throw failure(
                        attribute, "the type of \(source.attribute.name), \(source.attribute.attributeType.modelFileName), has no sum")
                }
                found = source.kind
            default: return form
            }
            guard found.suits(kind) else {
                throw failure(
                    attribute, "\(attribute.attributeType.modelFileName), its type, does not keep a value of the type \(found.displayName)")
            }
            return form
        default:
            throw unknown(attribute)
        }
    }

    private func unknown(_ attribute: NSDerivedAttributeDescription) -> NSError {
        failure(
            attribute, "a derived attribute is a key path over to-one relationships (\"name\", \"group.name\"), canonical:, "
                + "uppercase: or lowercase: of one, \"members.@count\", \"members.@sum.amount\", or now()")
    }

    /// Returns a copy, a count or a sum.
    private func form(_ given: [String], _ attribute: NSDerivedAttributeDescription) throws -> Derivation.Form {
        guard let entity = attribute.holder else { throw failure(attribute, "it belongs to no entity") }
        let keys = entity.joiningComposites(given.filter { $0.lowercased() != "self" })
        var owner = entity, path: [NSRelationshipDescription] = []
        for (index, key) in keys.enumerated() {
            guard let property = owner.keptProperty(key) else {
                throw failure(attribute, "\(owner.name ?? "?") has no property \"\(key)\"")
            }
            guard !property.isTransient else { throw failure(attribute, "\(key) is transient: no store has its value") }
            let rest = Array(keys[(index + 1)...])
            switch property {
            case let source as NSAttributeDescription:
                guard rest.isEmpty else { throw failure(attribute, "\(key) is an attribute, which leads no further") }
                return .copy(Derivation.Source(path: path, attribute: source))
            case let relationship as NSRelationshipDescription:
                guard let destination = relationship.destinationEntity, entities.contains(where: { $0 === destination }) else {
                    throw failure(attribute, "the store does not hold the destination of \(key)")
                }
                guard relationship.isToMany else {
                    path.append(relationship)
                    owner = destination
                    continue
                }
                guard path.isEmpty else { throw failure(attribute, "\(key), a to-many relationship, must be the first of its keys") }
                if rest == ["@count"] { return .count(relationship) }
                guard rest.count == 2, rest[0] == "@sum", let source = destination.keptProperty(rest[1]) as? NSAttributeDescription,
                    !source.isTransient
                else { throw failure(attribute, "of the members of \(key) there are \"@count\" and \"@sum\" of an attribute of theirs") }
                return .sum(relationship, Derivation.Source(path: [], attribute: source))
            default: throw failure(attribute, "\(key) is fetched and not stored")
            }
        }
        throw failure(attribute, "a relationship alone has no value; name an attribute of its destination")
    }
}
