import Foundation
import Heartwood
import HeartwoodModelCode

/// Makes the property of an attribute.
struct ModelAttributeReader {
    private let attribute: NSAttributeDescription
    private let structure: String
    private let isUnique: Bool
    private let names: SwiftTypeNames

    /// - Parameter structure: the name of the structure that stands for a composite.
    init(_ attribute: NSAttributeDescription, structure: String, isUnique: Bool, _ names: SwiftTypeNames) {
        (self.attribute, self.structure, self.isUnique, self.names) = (attribute, structure, isUnique, names)
    }

    /// nil for an attribute of a type that SwiftData does not have.
    var property: ModelClassProperty? {
        guard let type else { return nil }
        let initial = attribute.defaultValue.flatMap { SwiftLiteral.of($0, attribute.attributeType, names) }
        return ModelClassProperty(
            name: attribute.name, type: attribute.isOptional ? type + "?" : type, initial: initial, attribute: declaration, unsaid: unsaid(initial))
    }

    /// Why there is no property.
    var absence: String { "the attribute \(attribute.name) of the type \(attribute.attributeType.modelFileName)" }

    /// Those that stand for a composite, as code.
    var structures: [String] {
        (attribute as? NSCompositeAttributeDescription).map { CompositeStructure($0, named: structure, names).texts } ?? []
    }

    private var type: String? {
        switch attribute.attributeType {
        case .compositeAttributeType: structure
        case .transformableAttributeType: transformableType
        default: names.scalar(attribute.attributeType)
        }
    }

    private var transformableType: String {
        let stated = attribute.attributeValueClassName.flatMap(SwiftNames.type) ?? "NSObject"
        return stated.hasSuffix("?") ? String(stated.dropLast()) : stated
    }

    private var declaration: String? {
        var arguments: [String] = []
        if isUnique { arguments.append(".unique") }
        if attribute.allowsExternalBinaryDataStorage, attribute.attributeType == .binaryDataAttributeType { arguments.append(".externalStorage") }
        if attribute.preservesValueInHistoryOnDeletion { arguments.append(".preserveValueOnDeletion") }
        if attribute.isTransient { arguments.append(".ephemeral") }
        if attribute.isIndexedBySpotlight { arguments.append(".spotlight") }
        if attribute.attributeType == .transformableAttributeType {
            let name = attribute.valueTransformerName.flatMap { $0.isEmpty ? nil : $0 } ?? "NSSecureUnarchiveFromData"
            arguments.append(".transformable(by: \(SwiftLiteral.text(name)))")
        }
        return Self.declaration("@Attribute", arguments + Self.identity(of: attribute).map { "\($0.label): \($0.value)" })
    }

    /// The former name and the hash modifier, as arguments.
    static func identity(of property: NSPropertyDescription) -> [(label: String, value: String)] {
        var found: [(label: String, value: String)] = []
        if let old = property.declaredRenamingIdentifier, old != property.name { found.append(("originalName", SwiftLiteral.text(old))) }
        if let modifier = property.versionHashModifier { found.append(("hashModifier", SwiftLiteral.text(modifier))) }
        return found
    }

    static func declaration(_ macro: String, _ arguments: [String]) -> String? {
        arguments.isEmpty ? nil : "\(macro)(\(arguments.joined(separator: ", ")))"
    }

    private func unsaid(_ initial: String?) -> [String] {
        var found: [String] = []
        if let derived = attribute as? NSDerivedAttributeDescription {
            let expression = derived.derivationExpression.map { " as \(SwiftNames.shown($0.description))" } ?? ""
            found.append("the value is derived\(expression); a store that is opened goes on to derive it")
        }
        if attribute.defaultValue != nil, initial == nil { found.append("the default value") }
        for predicate in attribute.validationPredicates { found.append("a value must fulfil \(SwiftNames.shown(predicate.predicateFormat))") }
        if let info = attribute.userInfo, !info.isEmpty {
            found.append("the user info of the attribute, \(Output.count(info.count, "entry", "entries"))")
        }
        return found
    }
}
