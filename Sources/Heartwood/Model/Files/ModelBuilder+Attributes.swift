import Foundation

/// Makes attributes, including composite and derived ones.
extension ModelBuilder {
    /// The most elements that an entity's composites may have in total. No real model has so many. Without a limit a file whose nested composites
    /// double at each level would fill memory.
    static let elementMax = 10_000

    func attributes(of entity: ModelDocument.Entity) throws -> [NSAttributeDescription] {
        var budget = Self.elementMax
        return try entity.attributes.map { try attribute($0, in: entity.name, within: [], &budget) }
    }

    private func attribute(
        _ declared: ModelDocument.Attribute, in owner: String, within composites: [String], _ budget: inout Int
    ) throws -> NSAttributeDescription {
        let path = "the attribute \(owner).\(declared.name)"
        guard !declared.name.isEmpty else { throw failure("an attribute of \(owner) has no name.", line: declared.line) }
        guard let type = NSAttributeType(rawValue: declared.type) else { throw failure("\(path) has an unknown type.", line: declared.line) }
        let attribute: NSAttributeDescription
        if type == .compositeAttributeType {
            attribute = try composite(declared, path: path, within: composites, &budget)
        } else if let derivation = declared.derivation {
            attribute = try derived(derivation, path, declared.line)
        } else {
            attribute = NSAttributeDescription()
        }
        attribute.name = declared.name
        attribute.attributeType = type
        attribute.isOptional = declared.isOptional
        attribute.isTransient = declared.isTransient ?? false
        attribute.allowsExternalBinaryDataStorage = declared.allowsExternalBinaryDataStorage ?? false
        attribute.valueTransformerName = declared.valueTransformerName
        if let name = declared.valueClassName { attribute.attributeValueClassName = name }
        attribute.preservesValueInHistoryOnDeletion = declared.preservesValueInHistoryOnDeletion ?? false
        if let text = declared.defaultValue {
            let value = DefaultValueText.value(text, type: type)
            // A number out of its type's range is refused, since it would become another number. A text that is no UUID or URI is dropped.
            if value == nil, type == .UUIDAttributeType || type == .URIAttributeType {
                warnings.add("\(owner).\(declared.name)", "has the default value \"\(text)\", which does not fit its type: it has no default")
            } else if value == nil {
                throw failure("the default value \"\(text)\" does not suit the attribute \(owner).\(declared.name).", line: declared.line)
            }
            attribute.defaultValue = value
        }
        try addRules(declared, to: attribute, path)
        attribute.declaredRenamingIdentifier = declared.renamingIdentifier
        attribute.versionHashModifier = declared.versionHashModifier
        attribute.userInfo = declared.userInfo
        return attribute
    }

    private func addRules(_ declared: ModelDocument.Attribute, to attribute: NSAttributeDescription, _ path: String) throws {
        if let rules = declared.rules {
            if let pattern = rules.pattern, (try? NSRegularExpression(pattern: pattern)) == nil {
                throw failure("\(path) has the pattern \"\(pattern)\", which is no regular expression.", line: declared.line)
            }
            attribute.rules = rules
        }
        guard let more = declared.validation else { return }
        let predicates = try more.map { try predicate($0.predicate, "\(path) has a validation predicate", line: declared.line) }
        let warnings = more.map { rule -> Any in rule.code.map { NSNumber(value: $0) } ?? (rule.text ?? "") }
        attribute.setValidation(attribute.validationPredicates + predicates, warnings: attribute.validationWarnings + warnings)
    }

    /// - Throws: an error that names the part of the model with the format (`what`).
    func predicate(_ format: String, _ what: String, line: Int?) throws -> NSPredicate {
        do {
            return try NSPredicate(parsing: format)
        } catch {
            throw failure("\(what) that does not parse: \(error)", line: line)
        }
    }

    private func derived(_ format: String, _ path: String, _ line: Int?) throws -> NSDerivedAttributeDescription {
        let derived = NSDerivedAttributeDescription()
        do {
            let parsed = try PredicateParser.parseExpression(format, arguments: [])
            derived.derivationExpression = NSExpression(node: parsed.node, depth: parsed.depth)
        } catch {
            throw failure("\(path) has a derivation expression that does not parse: \(error)", line: line)
        }
        return derived
    }

    private func composite(
        _ declared: ModelDocument.Attribute, path: String, within composites: [String], _ budget: inout Int
    ) throws -> NSCompositeAttributeDescription {
        let composite = NSCompositeAttributeDescription()
        var inside = composites
        let elements: [ModelDocument.Attribute]
        if let inline = declared.elements {
            elements = inline
        } else {
            let name = declared.composite ?? ""
            guard let known = document.composites.first(where: { $0.name == name }) else {
                throw failure("\(path) is of the composite \"\(name)\", which does not exist.", line: declared.line)
            }
            guard !composites.contains(name) else {
                throw failure("\(path) makes the composite \(name) a part of itself.", line: declared.line)
            }
            elements = known.attributes
            inside.append(name)
        }
        guard !elements.isEmpty else { throw failure("\(path) is a composite without elements.", line: declared.line) }
        budget -= elements.count
        guard budget >= 0 else { throw failure("\(path) has more than \(Self.elementMax) elements in all.", line: declared.line) }
        var names: Set<String> = []
        composite.elements = try elements.map { element in
            guard names.insert(element.name).inserted else {
                throw failure("\(path) has two elements named \(element.name).", line: element.line ?? declared.line)
            }
            guard element.derivation == nil else {
                throw failure(
                    "\(path) has the element \(element.name), which is derived; derive an attribute of the entity instead.",
                    line: element.line ?? declared.line)
            }
            return try attribute(element, in: declared.composite ?? declared.name, within: inside, &budget)
        }
        return composite
    }

    /// Checks that the properties in derivations exist.
    func checkDerivations(_ declared: ModelDocument.Entity, _ entities: [String: NSEntityDescription]) throws {
        for attribute in declared.attributes where attribute.derivation != nil {
            guard let entity = entities[declared.name],
                let derived = entity.attributesByName[attribute.name] as? NSDerivedAttributeDescription,
                let node = derived.derivationExpression?.node
            else { continue }
            for keys in node.keyPaths {
                var owner: NSEntityDescription? = entity
                for key in keys where !key.hasPrefix("@") && key.lowercased() != "self" {
                    guard let known = owner?.propertiesByName[key] else {
                        throw failure(
                            "the attribute \(declared.name).\(attribute.name) is derived from \"\(keys.joined(separator: "."))\", and "
                                + "\(owner?.name ?? "an attribute") has no property \"\(key)\".", line: attribute.line)
                    }
                    // The use of a composite's elements is checked later.
                    if known is NSCompositeAttributeDescription { break }
                    owner = (known as? NSRelationshipDescription)?.destinationEntity
                }
            }
        }
    }
}

extension ExpressionNode {
    /// The key paths in the expression, without those of predicates inside it.
    fileprivate var keyPaths: [[String]] {
        switch self {
        case .keyPath(let keys): [keys]
        case .constant, .variable, .fault, .path, .subquery, .conditional: []
        case .aggregate(let list), .call(_, let list), .block(_, let list): list.flatMap(\.keyPaths)
        case .set(_, let left, let right): left.keyPaths + right.keyPaths
        }
    }
}
