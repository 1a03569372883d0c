import Foundation
internal import HeartwoodFileReading

/// A reader of the `elements` in an `.xcdatamodel` of Xcode 3, which later versions of Xcode accept. It is a keyed archive of the editor's objects.
///
/// Apple does not document the layout. Entities, inheritance, attributes and relationships were read from files that Xcode made. None of these
/// had a fetch request, a fetched property or a configuration, so a model with one is refused. Entities and properties are sorted by name.
struct EditorModelReader {
    private let archive: KeyedArchive
    private let path: String

    static func isModel(_ archive: KeyedArchive) throws -> Bool { try archive.root().className == className }
    private static let className = "XDPMModel"

    init(_ archive: KeyedArchive, path: String) {
        self.archive = archive
        self.path = path
    }

    private func failure(_ message: String) -> NSError { ModelFile.failure("\(path): \(message)") }

    private func unknown(_ what: String) -> NSError {
        failure("\(what) of a model that Xcode 3 wrote is unknown. Open and save the model in Xcode, which writes it as XML.")
    }

    func read() throws -> ModelDocument {
        let root = try archive.root()
        guard root.className == Self.className, let package = try root.object("_xd_rootPackage") else {
            throw failure("holds an archived \(root.className.isEmpty ? "object" : root.className), not a model of Xcode 3's.")
        }
        var document = ModelDocument()
        document.source = path
        if let identifier = try root.text("_modelVersionIdentifier"), !identifier.isEmpty { document.versionIdentifiers = [identifier] }
        guard try root.entries("_configurationsByName").isEmpty else { throw unknown("a configuration") }
        for (name, member) in try package.entries("XDBucketForClassesstorage") {
            guard let entity = try member.object(), entity.className == "XDPMEntity" else { throw failure("the entity \(name) is no entity.") }
            document.entities.append(try self.entity(entity, name: name))
        }
        return document
    }

    /// The editor's statements about an object, by key. Each is an object whose `_default` is the value.
    private func facts(_ object: KeyedArchive.Object) throws -> [String: KeyedArchive.Object] {
        var facts: [String: KeyedArchive.Object] = [:]
        for (_, member) in try object.entries("XDBucketForStereotypesstorage") {
            for (key, value) in try member.object()?.entries("XDBucketForOwnedAttributesstorage") ?? [] { facts[key] = try value.object() }
        }
        return facts
    }

    private func entity(_ object: KeyedArchive.Object, name: String) throws -> ModelDocument.Entity {
        var entity = ModelDocument.Entity(name: try object.text("_name") ?? name)
        let facts = try facts(object)
        func text(_ key: String) throws -> String? { try facts[key]?.text("_default").flatMap { $0.isEmpty ? nil : $0 } }
        entity.className = try text("XD_PSK_entityClassName")
        let isAbstract = try facts["XD_PSK_isAbstract"]?.flag("_default") ?? false || object.flag("_isAbstract")
        entity.isAbstract = isAbstract ? true : nil
        entity.renamingIdentifier = try text("XD_PSK_elementID")
        entity.versionHashModifier = try text("XD_PSK_versionHashModifier")
        entity.userInfo = try userInfo(facts["XD_PSK_userInfo"])
        entity.parent = try object.members("XDBucketForGeneralizationsstorage").first?.object()?.object("_general")?.text("_name")
        guard try facts["XD_PSK_fetchRequestsArray"]?.members("_default").isEmpty ?? true else { throw unknown("a fetch request") }
        for (name, member) in try object.entries("XDBucketForOwnedAttributesstorage") {
            guard let property = try member.object() else { throw failure("the property \(entity.name).\(name) is missing.") }
            try add(property, name: try property.text("_name") ?? name, to: &entity)
        }
        for names in try lists(facts["XDPMCompoundIndexes"]) {
            let elements = names.map { ModelDocument.Index.Element(property: $0, isAscending: true) }
            entity.indexes.add(ModelDocument.Index(name: names.joined(separator: "_"), elements: elements))
        }
        let constraints = try lists(facts["XDPMUniquenessConstraints"])
        if !constraints.isEmpty { entity.uniquenessConstraints = constraints }
        return entity
    }

    /// Lists of property names.
    private func lists(_ fact: KeyedArchive.Object?) throws -> [[String]] {
        try fact?.members("_default").map { try $0.members().compactMap { try $0.text() } }.filter { !$0.isEmpty } ?? []
    }

    private func userInfo(_ fact: KeyedArchive.Object?) throws -> [String: String]? {
        var result: [String: String] = [:]
        // Sync Services no longer exist, and later versions of Xcode leave out the editor's notes for them.
        for (key, value) in try fact?.entries("_default") ?? [] where !key.hasPrefix("com.apple.syncservices.") {
            result[key] = try value.text()
        }
        return result.isEmpty ? nil : result
    }

    private func add(_ object: KeyedArchive.Object, name: String, to entity: inout ModelDocument.Entity) throws {
        let facts = try facts(object)
        func flag(_ key: String) throws -> Bool { try facts[key]?.flag("_default") ?? false }
        func text(_ key: String) throws -> String? { try facts[key]?.text("_default").flatMap { $0.isEmpty ? nil : $0 } }
        switch object.className {
        case "XDPMAttribute":
            guard let number = try facts["XD_PAttK_attributeType"]?.integer("_default").flatMap({ UInt(exactly: $0) }),
                let type = NSAttributeType(rawValue: number)
            else { throw failure("the attribute \(entity.name).\(name) has an unknown type.") }
            var attribute = ModelDocument.Attribute(name: name, type: number, isOptional: try flag("XD_PPSK_isOptional"))
            attribute.isTransient = try flag("XD_PPSK_isTransient") ? true : nil
            attribute.allowsExternalBinaryDataStorage = try flag("XD_PAttK_allowsExternalBinaryDataStorage") ? true : nil
            attribute.valueTransformerName = try text("XD_PAttK_valueTransformerName")
            attribute.renamingIdentifier = try text("XD_PPSK_elementID")
            attribute.versionHashModifier = try text("XD_PPSK_versionHashModifier")
            attribute.userInfo = try userInfo(facts["XD_PPSK_userInfo"])
            if type.codec.canHaveDefault { attribute.defaultValue = try text("XD_PAttK_defaultValueAsString") }
            func limit(_ key: String) throws -> Double? {
                guard let text = try text(key) else { return nil }
                guard let limit = Double(text), limit.isFinite else { throw unknown("the limit \"\(text)\" of \(entity.name).\(name)") }
                return limit
            }
            if type == .dateAttributeType, let text = attribute.defaultValue, Double(text) == nil {
                throw unknown("the default date \"\(text)\" of \(entity.name).\(name)")
            }
            let rules = ValidationRules(
                minimum: try limit("XD_PAttK_minValueString"), maximum: try limit("XD_PAttK_maxValueString"),
                pattern: try text("XD_PAttK_regularExpressionString"))
            if !rules.isEmpty { attribute.rules = rules }
            if try flag("XD_PPSK_isIndexed") {
                let element = ModelDocument.Index.Element(property: name, isAscending: true)
                entity.indexes.add(ModelDocument.Index(name: name, elements: [element]))
            }
            entity.attributes.append(attribute)
        case "XDPMRelationship":
            func count(_ key: String) throws -> Int {
                guard let count = Int(exactly: try facts[key]?.integer("_default") ?? 0), count >= 0 else {
                    throw failure("the relationship \(entity.name).\(name) has an invalid count.")
                }
                return count
            }
            let isToMany = try flag("XD_PRK_isToMany") || count("XD_PRK_maxCount") > 1
            var relationship = ModelDocument.Relationship(
                name: name, isOptional: try flag("XD_PPSK_isOptional"),
                destination: try facts["XD_PRK_destination"]?.object("_default")?.text("_name") ?? "",
                inverse: try facts["XD_PRK_inverseRelationship"]?.object("_default")?.text("_name"), minCount: try count("XD_PRK_minCount"),
                maxCount: isToMany ? try count("XD_PRK_maxCount") : 1,
                deleteRule: UInt(exactly: try facts["XD_PRK_deleteRule"]?.integer("_default") ?? 1) ?? .max)
            relationship.isTransient = try flag("XD_PPSK_isTransient") ? true : nil
            relationship.isOrdered = try flag("XD_PRK_ordered") ? true : nil
            relationship.renamingIdentifier = try text("XD_PPSK_elementID")
            relationship.versionHashModifier = try text("XD_PPSK_versionHashModifier")
            relationship.userInfo = try userInfo(facts["XD_PPSK_userInfo"])
            entity.relationships.append(relationship)
        default: throw unknown("the property \(entity.name).\(name), a \(object.className)")
        }
    }
}
