import Foundation

/// Writes a model as Xcode's source, an `.xcdatamodeld`, so that a program can have the model that only a store has.
///
/// Each entity asks for a class of the name that the model states, without its module, or else of the entity's name. Numbers are scalars where nil
/// is no value of theirs. XML cannot state the order of a request, a default of a transformable, and a rule that is no limit and no pattern.
package struct ModelFileWriter {
    private let document: ModelDocument
    private var xml = XMLLines()
    /// The composites that are written before the entities, by name.
    private var composites: [(name: String, elements: [ModelDocument.Attribute])] = []

    /// - Returns: the contents of an `.xcdatamodel`.
    package static func contents(_ model: NSManagedObjectModel) -> String {
        var writer = ModelFileWriter(ModelDocument(model))
        writer.write()
        return writer.xml.text
    }

    /// Writes a model as the only version of an `.xcdatamodeld`, or as an `.xcdatamodel`.
    /// - Throws: if the folder exists or cannot be made. A folder that could not be completed is removed.
    package static func write(_ model: NSManagedObjectModel, to url: URL) throws {
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        do {
            guard url.pathExtension == "xcdatamodeld" else { return try writeVersion(model, to: url) }
            let version = url.deletingPathExtension().lastPathComponent + ".xcdatamodel"
            let current = try PropertyListSerialization.data(
                fromPropertyList: ["_XCCurrentVersionName": version], format: .xml, options: 0)
            try current.write(to: url.appendingPathComponent(".xccurrentversion"))
            let folder = url.appendingPathComponent(version)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
            try writeVersion(model, to: folder)
        } catch {
            try? FileManager.default.removeItem(at: url)
            throw error
        }
    }

    private static func writeVersion(_ model: NSManagedObjectModel, to folder: URL) throws {
        try Data(contents(model).utf8).write(to: folder.appendingPathComponent("contents"))
    }

    private init(_ document: ModelDocument) { self.document = document }

    private mutating func write() {
        let entities = document.entities.sorted { $0.name < $1.name }
        for entity in entities { name(entity.attributes, in: entity.name) }
        xml.open("model", [
            ("type", "com.apple.IDECoreDataModeler.DataModel"), ("documentVersion", "1.0"), ("minimumToolsVersion", "Automatic"),
            ("sourceLanguage", "Swift"), ("userDefinedModelVersionIdentifier", document.versionIdentifiers?.first ?? ""),
        ])
        for composite in composites {
            xml.open("composite", [("name", composite.name)])
            for element in composite.elements { write(element, in: composite.name) }
            xml.close("composite")
        }
        for entity in entities { write(entity) }
        for request in document.fetchRequests ?? [] { write(request, named: request.name) }
        for (name, members) in (document.configurations ?? [:]).sorted(by: { $0.key < $1.key })
        where name != NSManagedObjectModel.defaultConfigurationName {
            xml.open("configuration", [("name", name)])
            for member in members { xml.add("memberEntity", [("name", member)]) }
            xml.close("configuration")
        }
        xml.close("model")
    }

    // MARK: Composites

    /// Names the composites among attributes, and those within them, by the path to them.
    private mutating func name(_ attributes: [ModelDocument.Attribute], in owner: String) {
        for attribute in attributes {
            guard let elements = attribute.elements else { continue }
            let own = Self.compositeName(attribute, in: owner)
            composites.append((own, elements))
            name(elements, in: own)
        }
    }

    private static func compositeName(_ attribute: ModelDocument.Attribute, in owner: String) -> String { "\(owner).\(attribute.name)" }

    // MARK: Entities

    private mutating func write(_ entity: ModelDocument.Entity) {
        let className = entity.className?.split(separator: ".").last.map(String.init) ?? entity.name
        xml.open("entity", [
            ("name", entity.name), ("representedClassName", className), ("isAbstract", Self.flag(entity.isAbstract)),
            ("parentEntity", entity.parent), ("elementID", entity.renamingIdentifier), ("versionHashModifier", entity.versionHashModifier),
            ("syncable", "YES"), ("codeGenerationType", "class"),
        ])
        for attribute in entity.attributes { write(attribute, in: entity.name) }
        for relationship in entity.relationships { write(relationship) }
        for property in entity.fetchedProperties ?? [] { write(property) }
        for index in entity.indexes ?? [] { write(index) }
        if let constraints = entity.uniquenessConstraints { write(constraints) }
        write(entity.userInfo)
        xml.close("entity")
    }

    private mutating func write(_ attribute: ModelDocument.Attribute, in owner: String) {
        let type = NSAttributeType(rawValue: attribute.type) ?? .undefinedAttributeType, isDate = type == .dateAttributeType
        let rules = attribute.rules ?? ValidationRules()
        let limits = isDate ? ("minDateTimeInterval", "maxDateTimeInterval") : ("minValueString", "maxValueString")
        xml.open("attribute", [
            ("name", attribute.name), ("optional", Self.flag(attribute.isOptional)), ("transient", Self.flag(attribute.isTransient)),
            ("attributeType", type.modelFileName), ("composite", attribute.elements.map { _ in Self.compositeName(attribute, in: owner) }),
            (limits.0, rules.minimum.map(Self.text)), (limits.1, rules.maximum.map(Self.text)), ("regularExpressionString", rules.pattern),
            (isDate ? "defaultDateTimeInterval" : "defaultValueString", Self.defaultText(attribute, type)),
            ("usesScalarValueType", Self.isScalar(attribute, type).map { $0 ? "YES" : "NO" }),
            ("derived", attribute.derivation.map { _ in "YES" }), ("derivationExpression", attribute.derivation),
            ("allowsExternalBinaryDataStorage", Self.flag(attribute.allowsExternalBinaryDataStorage)),
            ("valueTransformerName", attribute.valueTransformerName), ("customClassName", attribute.valueClassName),
            ("preserveAfterDeletion", Self.flag(attribute.preservesValueInHistoryOnDeletion)), ("elementID", attribute.renamingIdentifier),
            ("versionHashModifier", attribute.versionHashModifier),
        ])
        write(attribute.userInfo)
        xml.close("attribute")
    }

    /// nil for a type that generated code has no number for.
    private static func isScalar(_ attribute: ModelDocument.Attribute, _ type: NSAttributeType) -> Bool? {
        type.codec.isScalar ? !attribute.isOptional || attribute.defaultValue != nil : nil
    }

    private static func defaultText(_ attribute: ModelDocument.Attribute, _ type: NSAttributeType) -> String? {
        guard type == .booleanAttributeType else { return attribute.defaultValue }
        return attribute.defaultValue.map { $0 == "1" ? "YES" : "NO" }
    }

    private mutating func write(_ relationship: ModelDocument.Relationship) {
        let rules: [NSDeleteRule: String] = [
            .nullifyDeleteRule: "Nullify", .cascadeDeleteRule: "Cascade", .denyDeleteRule: "Deny", .noActionDeleteRule: "No Action",
        ]
        xml.open("relationship", [
            ("name", relationship.name), ("optional", Self.flag(relationship.isOptional)), ("transient", Self.flag(relationship.isTransient)),
            ("toMany", Self.flag(relationship.maxCount != 1)), ("minCount", relationship.minCount == 0 ? nil : "\(relationship.minCount)"),
            ("maxCount", relationship.maxCount == 0 ? nil : "\(relationship.maxCount)"), ("ordered", Self.flag(relationship.isOrdered)),
            ("deletionRule", NSDeleteRule(rawValue: relationship.deleteRule).flatMap { rules[$0] }),
            ("destinationEntity", relationship.destination), ("inverseName", relationship.inverse),
            ("inverseEntity", relationship.inverse.map { _ in relationship.destination }), ("elementID", relationship.renamingIdentifier),
            ("versionHashModifier", relationship.versionHashModifier),
        ])
        write(relationship.userInfo)
        xml.close("relationship")
    }

    private mutating func write(_ index: ModelDocument.Index) {
        xml.open("fetchIndex", [("name", index.name), ("partialIndexPredicate", index.predicate)])
        for element in index.elements {
            let type = switch element.collation.flatMap(NSFetchIndexElementType.init) {
            case .rTree: "RTree"
            case .text: "Text"
            case .binary, nil: "Binary"
            }
            xml.add("fetchIndexElement", [
                ("property", element.property), ("expression", element.expression),
                ("expressionType", element.expressionType.flatMap(NSAttributeType.init)?.modelFileName), ("type", type),
                ("order", element.isAscending ? "ascending" : "descending"),
            ])
        }
        xml.close("fetchIndex")
    }

    private mutating func write(_ constraints: [[String]]) {
        xml.open("uniquenessConstraints", [])
        for constraint in constraints {
            xml.open("uniquenessConstraint", [])
            for name in constraint { xml.add("constraint", [("value", name)]) }
            xml.close("uniquenessConstraint")
        }
        xml.close("uniquenessConstraints")
    }

    private mutating func write(_ userInfo: [String: String]?) {
        guard let userInfo else { return }
        xml.open("userInfo", [])
        for (key, value) in userInfo.sorted(by: { $0.key < $1.key }) { xml.add("entry", [("key", key), ("value", value)]) }
        xml.close("userInfo")
    }

    // MARK: Requests

    private mutating func write(_ property: ModelDocument.FetchedProperty) {
        xml.open("fetchedProperty", [
            ("name", property.name), ("optional", Self.flag(property.isOptional)), ("elementID", property.renamingIdentifier),
            ("versionHashModifier", property.versionHashModifier),
        ])
        if let request = property.request { write(request, named: "fetchedPropertyFetchRequest") }
        write(property.userInfo)
        xml.close("fetchedProperty")
    }

    private mutating func write(_ request: ModelDocument.FetchRequest, named name: String) {
        func stated(_ flag: Bool?) -> String? { flag.map { $0 ? "YES" : "NO" } }
        xml.add("fetchRequest", [
            ("name", name), ("entity", request.entity), ("predicateString", request.predicate), ("fetchLimit", request.fetchLimit.map(String.init)),
            ("fetchBatchSize", request.fetchBatchSize.map(String.init)), ("resultType", request.resultType.map(String.init)),
            ("includeSubentities", stated(request.includesSubentities)), ("includePropertyValues", stated(request.includesPropertyValues)),
            ("includesPendingChanges", stated(request.includesPendingChanges)), ("returnObjectsAsFaults", stated(request.returnsObjectsAsFaults)),
        ])
    }

    // MARK: Texts

    private static func flag(_ flag: Bool?) -> String? { flag == true ? "YES" : nil }

    /// Whole numbers without a fraction, as Xcode writes the limits of integers and of lengths.
    private static func text(_ number: Double) -> String { Int64(exactly: number).map(String.init) ?? "\(number)" }
}
