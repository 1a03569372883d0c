import Foundation
internal import HeartwoodFileReading

/// Reads the properties of an entity, and fetch requests.
extension CompiledModelReader {
    /// Bits of an attribute's `NSFlagsKey`.
    private enum AttributeFlags {
        static let storesExternally: Int64 = 4
        static let preservesInHistory: Int64 = 16
    }

    func add(_ archived: ArchivedModel.Property, of model: ArchivedModel, to entity: inout ModelDocument.Entity) throws {
        let property = archived.object, name = archived.name
        switch archived.kind {
        case .attribute, .derivedAttribute, .compositeAttribute:
            entity.attributes.append(try attribute(property, name: name, of: entity.name, in: model, depth: 0))
        case .relationship: entity.relationships.append(try relationship(property, name: name, of: entity.name))
        case .fetchedProperty:
            var fetched = ModelDocument.FetchedProperty(name: name, isOptional: try property.has(.isOptional))
            fetched.request = try isForRowsOnly ? nil : property.object("NSFetchRequest").map {
                try request($0, name: name, of: "the fetched property \(entity.name).\(name)")
            }
            let destination = try property.text("_NSFetchRequestEntityName")
            if let made = fetched.request { fetched.request?.entity = made.entity ?? destination }
            fetched.renamingIdentifier = try renaming(property, name)
            fetched.versionHashModifier = try property.text("NSVersionHashModifier")
            fetched.userInfo = try userInfo(property)
            entity.fetchedProperties = (entity.fetchedProperties ?? []) + [fetched]
        }
    }

    private func renaming(_ property: KeyedArchive.Object, _ name: String) throws -> String? {
        try property.text("NSRenamingIdentifier").flatMap { $0 == name ? nil : $0 }
    }

    private func attribute(
        _ object: KeyedArchive.Object, name fallback: String, of owner: String, in model: ArchivedModel, depth: Int
    ) throws -> ModelDocument.Attribute {
        let name = try object.text("NSPropertyName") ?? fallback
        let path = "the attribute \(owner).\(name)"
        guard let number = try object.integer("NSAttributeType").flatMap(UInt.init(exactly:)), let type = NSAttributeType(rawValue: number)
        else { throw failure("\(path) has an unknown type.") }
        var attribute = ModelDocument.Attribute(name: name, type: number, isOptional: try object.has(.isOptional))
        attribute.isTransient = try object.has(.isTransient) ? true : nil
        let flags = try object.integer("NSFlagsKey") ?? 0
        attribute.allowsExternalBinaryDataStorage = flags & AttributeFlags.storesExternally != 0 ? true : nil
        attribute.preservesValueInHistoryOnDeletion = flags & AttributeFlags.preservesInHistory != 0 ? true : nil
        if type.codec.canHaveDefault, !isForRowsOnly { attribute.defaultValue = DefaultValueText.text(try object.plain("NSDefaultValue")) }
        attribute.valueTransformerName = try object.text("NSValueTransformerName")
        attribute.valueClassName = try object.text("NSAttributeValueClassName").flatMap { $0 == type.codec.valueClassName ? nil : $0 }
        attribute.renamingIdentifier = try renaming(object, name)
        attribute.versionHashModifier = try object.text("NSVersionHashModifier")
        attribute.userInfo = try userInfo(object)
        attribute.validation = try isForRowsOnly ? nil : validation(object, path)
        if object.className == "NSDerivedAttributeDescription", !isForRowsOnly {
            guard let expression = try object.object("NSDerivationExpression") else { throw failure("\(path) is derived from nothing.") }
            attribute.derivation = PredicatePrinter.format(try CompiledPredicateReader(path: self.path, of: path).expression(expression))
        }
        if object.className == "NSCompositeAttributeDescription" {
            guard depth < 32 else { throw failure("\(path) is a composite within more than 32 others.") }
            attribute.elements = try model.elements(of: object).map {
                try self.attribute($0, name: "", of: "\(owner).\(name)", in: model, depth: depth + 1)
            }
        }
        return attribute
    }

    private func validation(_ object: KeyedArchive.Object, _ path: String) throws -> [ModelDocument.Validation]? {
        let predicates = try object.members("NSValidationPredicates")
        guard !predicates.isEmpty else { return nil }
        let warnings = try object.members("NSValidationWarnings").map { try $0.plain() }
        return try predicates.enumerated().compactMap { index, member in
            guard let object = try member.object() else { return nil }
            let node = try CompiledPredicateReader(path: self.path, of: path).predicate(object)
            var rule = ModelDocument.Validation(predicate: PredicatePrinter.format(node))
            switch index < warnings.count ? warnings[index] : nil {
            case let text as String: rule.text = text
            case let code as Int64: rule.code = Int(clamping: code)
            default: rule.code = ValueTest(NSPredicate(node: node)).errorCode
            }
            return rule
        }
    }

    private func relationship(_ object: KeyedArchive.Object, name: String, of owner: String) throws -> ModelDocument.Relationship {
        let inverse = try object.text("_NSInverseRelationshipName") ?? object.object("NSInverseRelationship")?.text("NSPropertyName")
        guard let minCount = Int(exactly: try object.integer("NSMinCount") ?? 0), minCount >= 0, let maxCount = try object.maxCount() else {
            throw failure("the relationship \(owner).\(name) has an invalid count.")
        }
        var relationship = ModelDocument.Relationship(
            name: name, isOptional: try object.has(.isOptional), destination: try object.destinationName() ?? "", inverse: inverse,
            minCount: minCount, maxCount: maxCount, deleteRule: UInt(exactly: try object.integer("NSDeleteRule") ?? 1) ?? .max)
        relationship.isTransient = try object.has(.isTransient) ? true : nil
        relationship.isOrdered = try object.has(.isOrdered) ? true : nil
        relationship.renamingIdentifier = try renaming(object, relationship.name)
        relationship.versionHashModifier = try object.text("NSVersionHashModifier")
        relationship.userInfo = try userInfo(object)
        return relationship
    }

    func request(_ object: KeyedArchive.Object, name: String, of what: String) throws -> ModelDocument.FetchRequest {
        var request = ModelDocument.FetchRequest(name: name)
        request.entity = try object.object("NSEntity")?.text("NSEntityName") ?? object.text("NSEntityName")
        request.predicate = try object.object("NSPredicate").map {
            PredicatePrinter.format(try CompiledPredicateReader(path: path, of: what).predicate($0))
        }
        func count(_ key: String) throws -> Int? { try object.integer(key).flatMap { $0 > 0 ? Int(clamping: $0) : nil } }
        request.fetchLimit = try count("NSFetchLimit")
        request.fetchOffset = try count("NSFetchOffset")
        request.fetchBatchSize = try count("NSBatchSize")
        request.resultType = try count("NSResultType").map { UInt($0) }
        let paths = try object.members("NSRelationshipKeyPathsForPrefetching").compactMap { try $0.text() }
        if !paths.isEmpty { request.prefetching = paths }
        let sort = try object.members("NSSortDescriptors").compactMap { member -> ModelDocument.FetchRequest.Sort? in
            guard let descriptor = try member.object(), let key = try descriptor.text("NSKey") else { return nil }
            let selector = try descriptor.text("NSSelector")
            return ModelDocument.FetchRequest.Sort(
                key: key, isAscending: try descriptor.flag("NSAscending"),
                textOrder: selector == NSSortDescriptor.TextOrder.literal.rawValue ? nil : selector)
        }
        if !sort.isEmpty { request.sort = sort }
        return request
    }
}
