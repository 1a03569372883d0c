import Foundation
internal import HeartwoodFileReading

/// A parser that turns the XML in an `.xcdatamodel`'s `contents` into a document.
final class ModelFileParser {
    private let data: Data
    private let path: String
    var document = ModelDocument()
    var entity: ModelDocument.Entity?
    private var attribute: ModelDocument.Attribute?
    private var relationship: ModelDocument.Relationship?
    var composite: ModelDocument.Composite?
    var fetchedProperty: ModelDocument.FetchedProperty?
    var fetchRequest: ModelDocument.FetchRequest?
    private var index: ModelDocument.Index?
    private var constraint: [String]?
    private var configuration: (name: String, members: [String])?
    private var userInfo: [String: String]?
    private var sawModel = false
    /// The line of the element that is read.
    private(set) var line = 1
    private var error: NSError?

    init(data: Data, path: String) {
        self.data = data
        self.path = path
        document.source = path
    }

    func parse() throws -> ModelDocument {
        do throws(XMLReader.Fault) {
            try XMLReader.elements(of: data, kind: "model files", while: { error == nil }, start: start, end: end)
        } catch {
            throw ModelFile.failure(
                error.isMalformed
                    ? "\(path):\(error.line): is not a model file (the XML is not well-formed)."
                    : "\(path):\(error.line):\(error.column): \(error.reason).")
        }
        if let error { throw error }
        guard sawModel else { throw ModelFile.failure("\(path):\(line): is not a model file (there is no model element).") }
        return document
    }

    func fail(_ message: String) {
        if error == nil { error = ModelFile.failure("\(path):\(line): \(message)") }
    }

    private func start(_ name: String, _ values: [String: String], _ line: Int) {
        self.line = line
        switch name {
        case "model": startModel(values)
        case "entity": startEntity(values)
        case "attribute": startAttribute(values)
        case "relationship": startRelationship(values)
        case "fetchIndex": index = ModelDocument.Index(name: values["name"] ?? "", elements: [], predicate: values["partialIndexPredicate"])
        case "fetchIndexElement": addIndexElement(values)
        case "uniquenessConstraint": constraint = []
        case "constraint": if let value = values["value"] { constraint?.append(value) }
        case "configuration": configuration = (values["name"] ?? "", [])
        case "memberEntity": configuration?.members.append(values["name"] ?? "")
        case "userInfo": userInfo = [:]
        case "entry": if let key = values["key"] { userInfo?[key] = values["value"] ?? "" }
        case "compoundIndex": index = ModelDocument.Index(name: "", elements: [])
        case "index": addCompoundIndexElement(values)
        case "fetchedProperty": startFetchedProperty(values)
        case "fetchRequest": startFetchRequest(values)
        case "composite": composite = ModelDocument.Composite(name: values["name"] ?? "", line: line)
        // The other elements are the editor's drawing of the model.
        default: break
        }
    }

    private func end(_ name: String) {
        switch name {
        case "entity":
            if let entity { document.entities.append(entity) }
            entity = nil
        case "attribute":
            endAttribute()
        case "relationship":
            if let relationship { entity?.relationships.append(relationship) }
            relationship = nil
        case "fetchedProperty", "fetchRequest", "composite": endRequest(name)
        case "compoundIndex":
            if var index, !index.elements.isEmpty {
                index.name = index.elements.compactMap(\.property).joined(separator: "_")
                entity?.indexes.add(index)
            }
            index = nil
        case "fetchIndex":
            if let index { entity?.indexes.add(index) }
            index = nil
        case "uniquenessConstraint":
            if let constraint { entity?.uniquenessConstraints.add(constraint) }
            constraint = nil
        case "configuration":
            if let configuration {
                document.configurations = (document.configurations ?? [:]).merging([configuration.name: configuration.members]) { $1 }
            }
            configuration = nil
        case "userInfo": endUserInfo()
        default: break
        }
    }

    private func endUserInfo() {
        defer { userInfo = nil }
        guard let userInfo, !userInfo.isEmpty else { return }
        if attribute != nil {
            attribute?.userInfo = userInfo
        } else if relationship != nil {
            relationship?.userInfo = userInfo
        } else if fetchedProperty != nil {
            fetchedProperty?.userInfo = userInfo
        } else {
            entity?.userInfo = userInfo
        }
    }

    // MARK: Elements

    private func startModel(_ values: [String: String]) {
        sawModel = true
        // Xcode writes an empty identifier if the model has none.
        if let identifier = values["userDefinedModelVersionIdentifier"], !identifier.isEmpty { document.versionIdentifiers = [identifier] }
    }

    private func endAttribute() {
        if let attribute {
            if composite != nil { composite?.attributes.append(attribute) } else { entity?.attributes.append(attribute) }
        }
        attribute = nil
    }

    /// Parses an index in the format from before fetch indexes. Core Data names such an index by its attributes.
    private func addCompoundIndexElement(_ values: [String: String]) {
        guard let name = values["value"] else { return }
        index?.elements.append(ModelDocument.Index.Element(property: name, isAscending: true))
    }

    private func startEntity(_ values: [String: String]) {
        var new = ModelDocument.Entity(name: values["name"] ?? "")
        new.className = values["representedClassName"].flatMap { $0.isEmpty ? nil : $0 }
        new.isAbstract = values["isAbstract"] == "YES" ? true : nil
        new.parent = values["parentEntity"]
        new.renamingIdentifier = values["elementID"]
        new.versionHashModifier = values["versionHashModifier"]
        new.codeGenerationType = values["codeGenerationType"]
        new.isUnsyncable = values["syncable"] == "NO" ? true : nil
        new.line = line
        entity = new
    }

    private static func type(named name: String) -> NSAttributeType? {
        ModelAttributeType.named(name).flatMap { NSAttributeType(rawValue: $0.number) }
    }

    private func startAttribute(_ values: [String: String]) {
        let name = values["name"] ?? ""
        let path = "attribute \(entity?.name ?? composite?.name ?? "?").\(name)"
        var type = NSAttributeType.undefinedAttributeType
        if let declared = values["attributeType"] {
            guard let known = Self.type(named: declared) else {
                let known = ModelAttributeType.all.map(\.name).sorted().joined(separator: ", ")
                return fail("\(path): the type \"\(declared)\" is unknown; it is one of \(known).")
            }
            type = known
        }
        var new = ModelDocument.Attribute(name: name, type: type.rawValue, isOptional: values["optional"] == "YES")
        new.isTransient = values["transient"] == "YES" ? true : nil
        new.allowsExternalBinaryDataStorage = values["allowsExternalBinaryDataStorage"] == "YES" ? true : nil
        // Xcode may write a default for types that cannot have one.
        if type.codec.canHaveDefault {
            new.defaultValue = type == .dateAttributeType ? values["defaultDateTimeInterval"] : values["defaultValueString"]
        }
        if values["derived"] == "YES" {
            guard let expression = values["derivationExpression"], !expression.isEmpty else {
                return fail("\(path): is derived, and has no derivationExpression.")
            }
            new.derivation = expression
        }
        if type == .compositeAttributeType { new.composite = values["composite"] ?? "" }
        new.valueTransformerName = values["valueTransformerName"]
        new.valueClassName = values["customClassName"]
        new.preservesValueInHistoryOnDeletion = values["preserveAfterDeletion"] == "YES" ? true : nil
        new.usesScalarValueType = values["usesScalarValueType"] == "YES" ? true : nil
        if values["indexed"] == "YES", entity != nil {
            entity?.indexes.add(ModelDocument.Index(name: name, elements: [ModelDocument.Index.Element(property: name, isAscending: true)]))
        }
        new.renamingIdentifier = values["elementID"]
        new.versionHashModifier = values["versionHashModifier"]
        new.line = line
        let isDate = type == .dateAttributeType
        var rules = ValidationRules(
            minimum: number(isDate ? "minDateTimeInterval" : "minValueString", of: values, path),
            maximum: number(isDate ? "maxDateTimeInterval" : "maxValueString", of: values, path),
            pattern: values["regularExpressionString"])
        if type == .integer64AttributeType {
            if let rule = Self.exact(values["minValueString"], ">=", NSValidationNumberTooSmallError) {
                rules.minimum = nil
                new.validation.add(rule)
            }
            if let rule = Self.exact(values["maxValueString"], "<=", NSValidationNumberTooLargeError) {
                rules.maximum = nil
                new.validation.add(rule)
            }
        }
        if !rules.isEmpty { new.rules = rules }
        attribute = new
    }

    /// A limit that is a whole number which no double can represent.
    private static func exact(_ text: String?, _ comparison: String, _ code: Int) -> ModelDocument.Validation? {
        guard let limit = text.flatMap(Int64.init), Int64(exactly: Double(limit)) != limit else { return nil }
        return ModelDocument.Validation(predicate: "SELF \(comparison) \(limit)", code: code)
    }

    private func number(_ key: String, of values: [String: String], _ path: String) -> Double? {
        guard let text = values[key], !text.isEmpty else { return nil }
        let number = Double(text).flatMap { $0.isFinite ? $0 : nil }
        if number == nil { fail("\(path): \(key) is \"\(text)\", which is no number.") }
        return number
    }

    func count(_ key: String, of values: [String: String], _ path: String) -> Int? {
        guard let text = values[key], !text.isEmpty else { return nil }
        guard let number = Int(text), number >= 0 else {
            fail("\(path): \(key) is \"\(text)\", which is no count.")
            return nil
        }
        return number
    }

    private func startRelationship(_ values: [String: String]) {
        let name = values["name"] ?? ""
        let rules: [String: NSDeleteRule] = [
            "Nullify": .nullifyDeleteRule, "Cascade": .cascadeDeleteRule, "Deny": .denyDeleteRule, "No Action": .noActionDeleteRule,
        ]
        guard let rule = rules[values["deletionRule"] ?? "Nullify"] else {
            return fail("relationship \(entity?.name ?? "?").\(name): the deletion rule \"\(values["deletionRule"] ?? "")\" is unknown.")
        }
        let path = "relationship \(entity?.name ?? "?").\(name)"
        let maxCount = count("maxCount", of: values, path) ?? (values["toMany"] == "YES" ? 0 : 1)
        var new = ModelDocument.Relationship(
            name: name, isOptional: values["optional"] == "YES", destination: values["destinationEntity"] ?? "",
            inverse: values["inverseName"], minCount: count("minCount", of: values, path) ?? 0, maxCount: maxCount,
            deleteRule: rule.rawValue)
        new.isTransient = values["transient"] == "YES" ? true : nil
        new.isOrdered = values["ordered"] == "YES" ? true : nil
        new.renamingIdentifier = values["elementID"]
        new.versionHashModifier = values["versionHashModifier"]
        new.line = line
        relationship = new
    }

    private func addIndexElement(_ values: [String: String]) {
        let path = "fetchIndexElement of \(entity?.name ?? "?").\(index?.name ?? "?")"
        var new = ModelDocument.Index.Element(property: values["property"], isAscending: values["order"] != "descending")
        if values["type"] == "RTree" { new.collation = NSFetchIndexElementType.rTree.rawValue }
        if values["type"] == "Text" { new.collation = NSFetchIndexElementType.text.rawValue }
        if new.property == nil {
            guard let expression = values["expression"] else {
                return fail("\(path): has neither a property nor an expression.")
            }
            new.expression = expression
            if let declared = values["expressionType"], declared != "Undefined" {
                guard let type = Self.type(named: declared) else { return fail("\(path): the type \"\(declared)\" is unknown.") }
                new.expressionType = type.rawValue
            }
        }
        index?.elements.append(new)
    }
}

extension Optional where Wrapped: RangeReplaceableCollection {
    /// Appends an element. Makes the collection first if there is none.
    mutating func add(_ element: Wrapped.Element) {
        var collection = self ?? Wrapped()
        collection.append(element)
        self = collection
    }
}
