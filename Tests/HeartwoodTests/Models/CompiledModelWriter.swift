import Foundation

@testable import Heartwood

/// Writes a model as a `.mom`. Attributes, relationships, constraints, indexes and requests have the layout of Xcode's files; predicates,
/// configurations, derived and fetched properties that of Core Data's archives; composites the layout that the reader assumes.
struct CompiledModelWriter {
    var archive = ArchiveWriter()
    private var entityNumbers: [String: Int] = [:]
    private var relationshipNumbers: [ObjectIdentifier: Int] = [:]

    static func bytes(_ model: NSManagedObjectModel) -> [UInt8] {
        var writer = CompiledModelWriter()
        return writer.write(model)
    }

    private mutating func write(_ model: NSManagedObjectModel) -> [UInt8] {
        let root = archive.reserve()
        for entity in model.entities { entityNumbers[entity.name ?? ""] = archive.reserve() }
        for entity in model.entities {
            for case let relationship as NSRelationshipDescription in entity.declaredProperties {
                relationshipNumbers[ObjectIdentifier(relationship)] = archive.reserve()
            }
        }
        for entity in model.entities { fill(entity, .reference(root)) }
        let configurations = model.configurations.map { name in
            (name, archive.array((model.entities(forConfigurationName: name) ?? []).map { reference($0) }))
        }
        let requests = model.fetchRequestTemplatesByName.sorted { $0.key < $1.key }.map { ($0.key, request($0.value)) }
        let identifiers = model.versionIdentifiers.compactMap { $0 as? String }.map { archive.text($0) }
        archive.fill(root, "NSManagedObjectModel", [
            ("NSEntities", archive.dictionary(model.entities.map { ($0.name ?? "", reference($0)) })),
            ("NSConfigurations", archive.dictionary(configurations)),
            ("NSFetchRequestTemplates", requests.isEmpty ? .reference(0) : archive.dictionary(requests)),
            ("NSVersionIdentifiers", archive.object("NSSet", [("NS.objects", .array(identifiers))])),
        ])
        return archive.finish(root: .reference(root))
    }

    private func reference(_ entity: NSEntityDescription?) -> ArchiveWriter.Node {
        .reference(entity.flatMap { entityNumbers[$0.name ?? ""] } ?? 0)
    }

    private mutating func userInfo(_ info: [AnyHashable: Any]?) -> ArchiveWriter.Node {
        let entries = (info as? [String: String] ?? [:]).sorted { $0.key < $1.key }
        return archive.dictionary(entries.map { ($0.key, archive.text($0.value)) })
    }

    private mutating func fill(_ entity: NSEntityDescription, _ model: ArchiveWriter.Node) {
        let number = entityNumbers[entity.name ?? ""] ?? 0
        // Inherited ones too: the reader must distinguish them from the entity's own.
        let properties = entity.properties.map { ($0.name, property($0)) }
        let tuples = entity.uniquenessConstraints.map { constraint in
            archive.array(constraint.compactMap { $0 as? String }.map { archive.text($0) })
        }
        var values: [(String, ArchiveWriter.Node)] = [
            ("NSEntityName", archive.text(entity.name)), ("NSClassNameForEntity", archive.text(entity.managedObjectClassName)),
            ("NSManagedObjectModel", model), ("NSSuperentity", reference(entity.superentity)),
            ("NSSubentities", archive.dictionary(entity.subentities.map { ($0.name ?? "", reference($0)) })),
            ("NSProperties", archive.dictionary(properties)), ("NSUserInfo", userInfo(entity.userInfo)),
            ("NSRenamingIdentifier", archive.text(entity.renamingIdentifier ?? entity.name)),
            ("NSVersionHashModifier", archive.text(entity.versionHashModifier)),
        ]
        if entity.isAbstract { values.append(("NSIsAbstract", .bool(true))) }
        if !tuples.isEmpty { values.append(("NSUniqueTuples", archive.array(tuples))) }
        if !entity.indexes.isEmpty {
            let indexes = entity.indexes.map { index in
                let elements = index.elements.enumerated().map { number, element in
                    let computed = element.property as? NSExpressionDescription
                    let name = computed == nil ? element.propertyName : "expression\(number + 1)"
                    let indexed: [(String, ArchiveWriter.Node)] = computed.map { computed in
                        [("NSIndexedProperty", archive.object("NSExpressionDescription", [
                            ("NSPropertyName", archive.text(name)), ("NSExpressionType", .integer(Int64(computed.expressionResultType.rawValue))),
                            ("NSExpression", computed.expression.map { expression($0.node) } ?? .reference(0)),
                        ]))]
                    } ?? []
                    return archive.object("NSFetchIndexElementDescription", [
                        ("NSPropertyName", archive.text(name)), ("NSFetchIndexElementType", .integer(Int64(element.collationType.rawValue))),
                        ("NSAscending", .bool(element.isAscending)),
                    ] + indexed)
                }
                return archive.object("NSFetchIndexDescription", [
                    ("NSIndexName", archive.object("NSMutableString", [("NS.string", .text(index.name))])),
                    ("NSIndexElements", archive.array(elements)),
                    ("NSPartialIndexPredicate", index.partialIndexPredicate.map { predicate($0.node) } ?? .reference(0)),
                    ("NSEntity", .reference(number)),
                ])
            }
            values.append(("NSFetchIndexDescriptions", archive.array(indexes)))
        }
        archive.fill(number, "NSEntityDescription", values)
    }

    // MARK: Properties

    private var written: [ObjectIdentifier: ArchiveWriter.Node] = [:]

    private mutating func property(_ property: NSPropertyDescription) -> ArchiveWriter.Node {
        if let known = written[ObjectIdentifier(property)] { return known }
        var values: [(String, ArchiveWriter.Node)] = [
            ("NSPropertyName", archive.text(property.name)), ("NSEntity", reference(property.holder)),
            ("NSRenamingIdentifier", archive.text(property.renamingIdentifier ?? property.name)),
            ("NSUserInfo", userInfo(property.userInfo)), ("NSVersionHashModifier", archive.text(property.versionHashModifier)),
        ]
        if property.isOptional { values.append(("NSIsOptional", .bool(true))) }
        if property.isTransient { values.append(("NSIsTransient", .bool(true))) }
        let made: ArchiveWriter.Node
        switch property {
        case let relationship as NSRelationshipDescription:
            if relationship.isOrdered { values.append(("NSIsOrdered", .bool(true))) }
            let number = relationshipNumbers[ObjectIdentifier(relationship)] ?? 0
            archive.fill(number, "NSRelationshipDescription", values + [
                ("NSDestinationEntity", reference(relationship.destinationEntity)), ("NSMinCount", .integer(Int64(relationship.minCount))),
                ("NSMaxCount", .integer(Int64(relationship.maxCount))), ("NSDeleteRule", .integer(Int64(relationship.deleteRule.rawValue))),
                ("NSInverseRelationship", .reference(relationship.inverseRelationship.flatMap { relationshipNumbers[ObjectIdentifier($0)] } ?? 0)),
            ])
            made = .reference(number)
        case let attribute as NSAttributeDescription: made = self.attribute(attribute, values)
        case let fetched as NSFetchedPropertyDescription:
            made = archive.object(
                "NSFetchedPropertyDescription", values + [("NSFetchRequest", fetched.fetchRequest.map { request($0) } ?? .reference(0))])
        default: made = .reference(0)
        }
        written[ObjectIdentifier(property)] = made
        return made
    }

    private mutating func attribute(_ attribute: NSAttributeDescription, _ common: [(String, ArchiveWriter.Node)]) -> ArchiveWriter.Node {
        let flags: Int64 = (attribute.allowsExternalBinaryDataStorage ? 4 : 0) | (attribute.preservesValueInHistoryOnDeletion ? 16 : 0)
        var values = common + [
            ("NSAttributeType", .integer(Int64(attribute.attributeType.rawValue))), ("NSFlagsKey", .integer(flags)),
            ("NSAttributeValueClassName", archive.text(attribute.attributeValueClassName)),
            ("NSValueTransformerName", archive.text(attribute.valueTransformerName)), ("NSDefaultValue", plain(attribute.defaultValue)),
        ]
        if !attribute.validationPredicates.isEmpty {
            values.append(("NSValidationPredicates", archive.array(attribute.validationPredicates.map { predicate($0.node) })))
            values.append(("NSValidationWarnings", archive.array(attribute.validationWarnings.map { plain($0) })))
        }
        switch attribute {
        case let derived as NSDerivedAttributeDescription:
            values.append(("NSDerivationExpression", derived.derivationExpression.map { expression($0.node) } ?? .reference(0)))
            return archive.object("NSDerivedAttributeDescription", values)
        case let composite as NSCompositeAttributeDescription:
            values.append(("NSElements", archive.array(composite.elements.map { property($0) })))
            return archive.object("NSCompositeAttributeDescription", values)
        default: return archive.object("NSAttributeDescription", values)
        }
    }

    private mutating func plain(_ value: Any?) -> ArchiveWriter.Node {
        switch value {
        case let list as [Any]: archive.array(list.map { plain($0) })
        case let text as String: archive.text(text)
        case let date as Date: archive.object("NSDate", [("NS.time", .real(date.timeIntervalSinceReferenceDate))])
        case let data as Data: archive.object("NSData", [("NS.data", .data(Array(data)))])
        case let uuid as UUID: archive.object("NSUUID", [("NS.uuidbytes", .data(withUnsafeBytes(of: uuid.uuid) { Array($0) }))])
        case let url as URL: archive.object("NSURL", [("NS.base", .reference(0)), ("NS.relative", archive.text(url.absoluteString))])
        case let decimal as NSDecimalNumber: number(decimal)
        case let number as NSNumber:
            number.doubleValue == number.doubleValue.rounded() ? archive.add(.integer(number.int64Value)) : archive.add(.real(number.doubleValue))
        default: .reference(0)
        }
    }

    /// A decimal with few digits, which is enough here.
    private mutating func number(_ decimal: NSDecimalNumber) -> ArchiveWriter.Node {
        let hundredths = Int(abs(decimal.doubleValue) * 100 + 0.5)
        let mantissa = (0..<8).flatMap { unit in
            let part = unit < 4 ? hundredths >> (unit * 16) : 0
            return [UInt8(truncatingIfNeeded: part), UInt8(truncatingIfNeeded: part >> 8)]
        }
        return archive.object("NSDecimalNumber", [
            ("NS.mantissa", archive.add(.data(mantissa))), ("NS.mantissa.bo", .integer(1)), ("NS.exponent", .integer(-2)),
            ("NS.length", .integer(4)), ("NS.negative", .bool(decimal.doubleValue < 0)), ("NS.compact", .bool(true)),
        ])
    }

    // MARK: Requests

    private mutating func request(_ request: NSFetchRequest<any NSFetchRequestResult>) -> ArchiveWriter.Node {
        let sort = (request.sortDescriptors ?? []).map { descriptor in
            let probe = SortProbe(descriptor)
            return archive.object("NSSortDescriptor", [
                ("NSKey", archive.text(probe.key)), ("NSAscending", .bool(descriptor.ascending)),
                ("NSSelector", archive.text(probe.textOrder.rawValue)),
            ])
        }
        return archive.object("NSFetchRequest", [
            ("NSEntity", reference(request.entity)), ("NSFetchLimit", .integer(Int64(request.fetchLimit))), ("NSFetchRequestFlags", .integer(30)),
            ("NSFetchOffset", .integer(Int64(request.fetchOffset))), ("NSBatchSize", .integer(Int64(request.fetchBatchSize))),
            ("NSResultType", .integer(Int64(request.resultType.rawValue))),
            ("NSPredicate", request.predicate.map { predicate($0.node) } ?? .reference(0)),
            ("NSSortDescriptors", sort.isEmpty ? .reference(0) : archive.array(sort)),
        ])
    }

    mutating func predicate(_ node: PredicateNode) -> ArchiveWriter.Node {
        switch node {
        case .constant(let value): return archive.object(value ? "NSTruePredicate" : "NSFalsePredicate", [])
        case .and(let parts), .or(let parts):
            var type: Int64 = 2
            if case .and = node { type = 1 }
            return archive.object("NSCompoundPredicate", [
                ("NSCompoundPredicateType", .integer(type)), ("NSSubpredicates", archive.array(parts.map { predicate($0) })),
            ])
        case .not(let part):
            return archive.object(
                "NSCompoundPredicate", [("NSCompoundPredicateType", .integer(0)), ("NSSubpredicates", archive.array([predicate(part)]))])
        case .comparison(let comparison):
            let types: [PredicateNode.Operator: Int64] = [
                .less: 0, .lessOrEqual: 1, .greater: 2, .greaterOrEqual: 3, .equal: 4, .notEqual: 5, .matches: 6, .like: 7, .beginsWith: 8,
                .endsWith: 9, .isIn: 10, .contains: 99, .between: 100,
            ]
            let modifiers: [PredicateNode.Modifier: Int64] = [.direct: 0, .all: 1, .any: 2]
            return archive.object("NSComparisonPredicate", [
                ("NSLeftExpression", expression(comparison.left)), ("NSRightExpression", expression(comparison.right)),
                ("NSPredicateOperator", archive.object("NSPredicateOperator", [
                    ("NSOperatorType", .integer(types[comparison.comparison] ?? -1)),
                    ("NSModifier", .integer(modifiers[comparison.modifier] ?? -1)),
                    // Operators on text have flags, the others options.
                    ((types[comparison.comparison] ?? 0) < 6 ? "NSOptions" : "NSFlags", .integer(Int64(comparison.options.rawValue))),
                ])),
            ])
        case .words, .block, .fault: return .reference(0)
        }
    }

    /// A separate expression, in the form of mapping models.
    static func bytes(_ expression: NSExpression) -> [UInt8] {
        var writer = CompiledModelWriter()
        let root = writer.expression(expression.node)
        return writer.archive.finish(root: root)
    }

    mutating func expression(_ node: ExpressionNode) -> ArchiveWriter.Node {
        switch node {
        case .set(let operation, let left, let right):
            let types: [ExpressionNode.SetOperation: Int64] = [.union: 5, .intersect: 6, .minus: 7]
            return archive.object("NSSetExpression", [
                ("NSExpressionType", .integer(types[operation] ?? -1)), ("NSLeftExpression", expression(left)),
                ("NSRightExpression", expression(right)),
            ])
        case .subquery(let collection, let name, let condition):
            return archive.object("NSSubqueryExpression", [
                ("NSExpressionType", .integer(13)), ("NSExpression", expression(collection)), ("NSVariable", archive.text(name)),
                ("NSSubpredicate", predicate(condition)),
            ])
        case .conditional(let condition, let first, let second):
            return archive.object("NSTernaryExpression", [
                ("NSExpressionType", .integer(20)), ("NSPredicate", predicate(condition)), ("NSTrueExpression", expression(first)),
                ("NSFalseExpression", expression(second)),
            ])
        case .block(let block, let arguments):
            guard let invocation = block.invocation else { return archive.object("NSBlockExpression", [("NSExpressionType", .integer(19))]) }
            guard case .method(let name) = invocation else {
                return archive.object("NSFetchRequestExpression", [
                    ("NSExpressionType", .integer(50)), ("NSFRExpression", expression(arguments[0])), ("NSMOCExpression", expression(arguments[1])),
                    ("NSCountOnlyFlag", .bool(false)),
                ])
            }
            return archive.object("NSFunctionExpression", [
                ("NSExpressionType", .integer(4)), ("NSOperand", expression(arguments[0])), ("NSSelectorName", archive.text(name)),
                ("NSArguments", archive.array(arguments.dropFirst().map { expression($0) })),
            ])
        case .constant(let value):
            return archive.object("NSConstantValueExpression", [("NSExpressionType", .integer(0)), ("NSConstantValue", plain(value.object))])
        case .keyPath(let keys): return path(keys, of: archive.object("NSSelfExpression", [("NSExpressionType", .integer(1))]))
        case .path(let base, let keys): return path(keys, of: expression(base))
        case .variable(let name):
            return archive.object("NSVariableExpression", [("NSExpressionType", .integer(2)), ("NSVariable", archive.text(name))])
        case .call(let function, let arguments) where function.isMethod:
            return archive.object("NSFunctionExpression", [
                ("NSExpressionType", .integer(4)), ("NSOperand", expression(arguments[0])), ("NSSelectorName", archive.text(function.rawValue)),
                ("NSArguments", archive.array(arguments.dropFirst().map { expression($0) })),
            ])
        case .call(let function, let arguments):
            return archive.object("NSFunctionExpression", [
                ("NSExpressionType", .integer(4)), ("NSSelectorName", archive.text(function.rawValue)),
                ("NSArguments", archive.array(arguments.map { expression($0) })),
            ])
        case .aggregate(let list):
            return archive.object(
                "NSAggregateExpression", [("NSExpressionType", .integer(14)), ("NSCollection", archive.array(list.map { expression($0) }))])
        default: return archive.object("NSUnknownExpression", [("NSExpressionType", .integer(99))])
        }
    }

    private mutating func path(_ keys: [String], of base: ArchiveWriter.Node) -> ArchiveWriter.Node {
        guard !keys.isEmpty else { return base }
        let specifier = archive.object("NSKeyPathSpecifierExpression", [
            ("NSExpressionType", .integer(10)), ("NSKeyPath", archive.text(keys.joined(separator: "."))),
        ])
        return archive.object("NSKeyPathExpression", [
            ("NSExpressionType", .integer(3)), ("NSOperand", base), ("NSSelectorName", archive.text("valueForKeyPath:")),
            ("NSArguments", archive.array([specifier])),
        ])
    }
}
