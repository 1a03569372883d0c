import Foundation

/// A model as plain data: the statements of a model file, and the form in which a store keeps its model.
package struct ModelDocument: Codable, Equatable {
    package struct Entity: Codable, Equatable {
        package var name: String
        var className: String?
        var isAbstract: Bool?
        var parent: String?
        var renamingIdentifier: String?
        var versionHashModifier: String?
        var attributes: [Attribute] = []
        var relationships: [Relationship] = []
        var fetchedProperties: [FetchedProperty]?
        /// The kind of code that Xcode generates: "class" or "category"; nil for none. In model files only.
        package var codeGenerationType: String?
        /// Whether synchronization leaves the entity out. In model files only.
        var isUnsyncable: Bool?
        var indexes: [Index]?
        var uniquenessConstraints: [[String]]?
        var userInfo: [String: String]?
        var line: Int?
    }

    package struct Attribute: Codable, Equatable {
        package var name: String
        /// The raw value of `NSAttributeType`.
        var type: UInt
        var isOptional: Bool
        var isTransient: Bool?
        var allowsExternalBinaryDataStorage: Bool?
        /// The text form of the type: numbers in decimal, dates in seconds since 2001-01-01, data in base 64.
        var defaultValue: String?
        var rules: ValidationRules?
        /// The predicates that a compiled model states besides the rules.
        var validation: [Validation]?
        /// The expression of a derived attribute, in the format language.
        var derivation: String?
        /// The name of the composite with the elements. In model files only.
        var composite: String?
        /// The elements of a composite attribute.
        var elements: [Attribute]?
        var valueTransformerName: String?
        var valueClassName: String?
        var preservesValueInHistoryOnDeletion: Bool?
        /// Whether generated code has a number instead of an object. In model files only.
        package var usesScalarValueType: Bool?
        var renamingIdentifier: String?
        var versionHashModifier: String?
        var userInfo: [String: String]?
        var line: Int?
    }

    /// A validation predicate in the format language. Its warning is a text or a code.
    struct Validation: Codable, Equatable {
        var predicate: String
        var text: String?
        var code: Int?
    }

    /// A named list of attributes that composite attributes use as their elements.
    struct Composite: Codable, Equatable {
        var name: String
        var attributes: [Attribute] = []
        var line: Int?
    }

    package struct Relationship: Codable, Equatable {
        package var name: String
        var isOptional: Bool
        var isTransient: Bool?
        var destination: String
        var inverse: String?
        var minCount: Int
        var maxCount: Int
        /// The raw value of `NSDeleteRule`.
        var deleteRule: UInt
        var isOrdered: Bool?
        var renamingIdentifier: String?
        var versionHashModifier: String?
        var userInfo: [String: String]?
        var line: Int?
    }

    package struct Index: Codable, Equatable {
        struct Element: Codable, Equatable {
            /// nil if `expression` is set.
            var property: String?
            var isAscending: Bool
            /// In the format language.
            var expression: String?
            /// The type of the expression's values, as the raw value of `NSAttributeType`; nil: the expression's own type.
            var expressionType: UInt?
            /// The raw value of `NSFetchIndexElementType`; nil: binary.
            var collation: UInt?
        }

        var name: String
        var elements: [Element]
        /// The condition of a partial index, in the format language.
        var predicate: String?
    }

    static let currentVersion = 1

    var version = ModelDocument.currentVersion
    package var entities: [Entity] = []
    var composites: [Composite] = []
    var fetchRequests: [FetchRequest]?
    var configurations: [String: [String]]?
    var versionIdentifiers: [String]?
    /// The file from which the document was read, for messages.
    var source: String?

    private enum CodingKeys: String, CodingKey {
        case version, entities, fetchRequests, configurations, versionIdentifiers
    }
}

extension ModelDocument {
    package init(_ model: NSManagedObjectModel) {
        entities = model.entities.map(Entity.init)
        let names = model.configurations
        if !names.isEmpty {
            configurations = Dictionary(uniqueKeysWithValues: names.map { name in
                (name, (model.entities(forConfigurationName: name) ?? []).compactMap(\.name).sorted())
            })
        }
        let requests = model.fetchRequestTemplatesByName.sorted { $0.key < $1.key }.compactMap { FetchRequest($0.value, name: $0.key) }
        if !requests.isEmpty { fetchRequests = requests }
        let identifiers = model.versionIdentifiers.compactMap { $0 as? String }.sorted()
        if !identifiers.isEmpty { versionIdentifiers = identifiers }
    }

    /// The entries of a user info whose keys and values are texts; nil if there are none.
    static func texts(of userInfo: [AnyHashable: Any]?) -> [String: String]? {
        let texts = (userInfo ?? [:]).compactMap { key, value in (key as? String).flatMap { key in (value as? String).map { (key, $0) } } }
        return texts.isEmpty ? nil : Dictionary(texts) { first, _ in first }
    }
}

extension ModelDocument.Entity {
    init(_ entity: NSEntityDescription) {
        name = entity.name ?? ""
        className = entity.managedObjectClassName == "NSManagedObject" ? nil : entity.managedObjectClassName
        isAbstract = entity.isAbstract ? true : nil
        parent = entity.superentity?.name
        renamingIdentifier = entity.declaredRenamingIdentifier
        versionHashModifier = entity.versionHashModifier
        userInfo = ModelDocument.texts(of: entity.userInfo)
        for property in entity.declaredProperties {
            switch property {
            case let attribute as NSAttributeDescription: attributes.append(.init(attribute))
            case let relationship as NSRelationshipDescription: relationships.append(.init(relationship))
            case let fetched as NSFetchedPropertyDescription: fetchedProperties = (fetchedProperties ?? []) + [.init(fetched)]
            default: break
            }
        }
        if !entity.indexes.isEmpty {
            indexes = entity.indexes.map { index in
                ModelDocument.Index(
                    name: index.name, elements: index.elements.map(ModelDocument.Index.Element.init),
                    predicate: index.partialIndexPredicate.map { PredicatePrinter.format($0.node) })
            }
        }
        let constraints = entity.uniquenessConstraints.map { constraint in
            constraint.compactMap { ($0 as? NSPropertyDescription)?.name ?? $0 as? String }
        }
        if !constraints.isEmpty { uniquenessConstraints = constraints }
    }
}

extension ModelDocument.Index.Element {
    init(_ element: NSFetchIndexElementDescription) {
        isAscending = element.isAscending
        collation = element.collationType == .binary ? nil : element.collationType.rawValue
        guard let computed = element.property as? NSExpressionDescription else {
            property = element.propertyName ?? ""
            return
        }
        expression = computed.expression.map { PredicatePrinter.format($0.node) } ?? ""
        expressionType = computed.expressionResultType == .undefinedAttributeType ? nil : computed.expressionResultType.rawValue
    }
}

extension ModelDocument.Attribute {
    init(_ attribute: NSAttributeDescription) {
        name = attribute.name
        type = attribute.attributeType.rawValue
        isOptional = attribute.isOptional
        isTransient = attribute.isTransient ? true : nil
        allowsExternalBinaryDataStorage = attribute.allowsExternalBinaryDataStorage ? true : nil
        // A value without a text that parses is omitted here; `takeRest(of:)` copies it.
        defaultValue = DefaultValueText.text(attribute.defaultValue).flatMap {
            DefaultValueText.value($0, type: attribute.attributeType) == nil ? nil : $0
        }
        rules = attribute.rules.isEmpty ? nil : attribute.rules
        derivation = (attribute as? NSDerivedAttributeDescription)?.derivationExpression.map { PredicatePrinter.format($0.node) }
        elements = (attribute as? NSCompositeAttributeDescription)?.elements.map(ModelDocument.Attribute.init)
        valueTransformerName = attribute.valueTransformerName
        valueClassName = attribute.declaredValueClassName
        preservesValueInHistoryOnDeletion = attribute.preservesValueInHistoryOnDeletion ? true : nil
        renamingIdentifier = attribute.declaredRenamingIdentifier
        versionHashModifier = attribute.versionHashModifier
        userInfo = ModelDocument.texts(of: attribute.userInfo)
    }
}

extension ModelDocument.Relationship {
    init(_ relationship: NSRelationshipDescription) {
        name = relationship.name
        isOptional = relationship.isOptional
        isTransient = relationship.isTransient ? true : nil
        destination = relationship.destinationEntity?.name ?? ""
        inverse = relationship.inverseRelationship?.name
        minCount = relationship.minCount
        maxCount = relationship.maxCount
        deleteRule = relationship.deleteRule.rawValue
        isOrdered = relationship.isOrdered ? true : nil
        renamingIdentifier = relationship.declaredRenamingIdentifier
        versionHashModifier = relationship.versionHashModifier
        userInfo = ModelDocument.texts(of: relationship.userInfo)
    }
}

/// Converts an attribute's default value to text and back.
enum DefaultValueText {
    static func text(_ value: Any?) -> String? {
        switch value {
        case nil: nil
        case let text as String: text
        case let date as Date: "\(date.timeIntervalSinceReferenceDate)"
        case let data as Data: data.base64EncodedString()
        case let uuid as UUID: uuid.uuidString
        case let url as URL: url.absoluteString
        case let number as NSDecimalNumber: number.stringValue
        case let number as NSNumber: number.stringValue
        case let flag as Bool: flag ? "1" : "0"
        case let other?: "\(other)"
        }
    }

    /// - Returns: nil if the text does not fit the type.
    static func value(_ text: String, type: NSAttributeType) -> Any? {
        type.codec.parse?(text)
    }
}
