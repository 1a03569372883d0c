import Foundation
import Heartwood
import HeartwoodModelCode

/// The structure that stands for a composite attribute.
struct CompositeStructure {
    let name: String
    private let composite: NSCompositeAttributeDescription
    private let names: SwiftTypeNames

    /// - Parameter name: of the structure; those of composites within begin with it.
    init(_ composite: NSCompositeAttributeDescription, named name: String, _ names: SwiftTypeNames) {
        (self.composite, self.name, self.names) = (composite, name, names)
    }

    /// The structure, and those within it.
    var texts: [String] {
        if let type = rawType { return [rawText(type)] }
        var inner: [String] = []
        let properties = composite.elements.map { element -> ModelClassProperty in
            let type: String
            if let nested = element as? NSCompositeAttributeDescription {
                let structure = CompositeStructure(nested, named: name + element.name.capitalizedFirst, names)
                inner += structure.texts
                type = structure.name
            } else {
                type = names.scalar(element.attributeType) ?? names.foundation("Data")
            }
            return ModelClassProperty(
                name: element.name, type: type + (element.isOptional ? "?" : ""),
                initial: element.isOptional ? nil : element.defaultValue.flatMap { SwiftLiteral.of($0, element.attributeType, names) })
        }
        let parameters = properties.map { property in
            "\(SwiftNames.escaped(property.name)): \(property.type)" + (property.isOptional ? " = nil" : property.initial.map { " = \($0)" } ?? "")
        }
        let lines = ["public struct \(name): Codable, Hashable, Sendable {"]
            + properties.map { "    public var \(SwiftNames.escaped($0.name)): \($0.type)" }
            + ["", "    public init(\(parameters.joined(separator: ", "))) {"]
            + properties.map { "        self.\(SwiftNames.escaped($0.name)) = \(SwiftNames.escaped($0.name))" } + ["    }", "}"]
        return [lines.joined(separator: "\n")] + inner
    }

    /// The type of the raw values of an enumeration, which SwiftData keeps as a composite of one element with the same name.
    private var rawType: String? {
        guard composite.elements.count == 1, composite.elements[0].name == composite.name else { return nil }
        let type = composite.elements[0].attributeType
        return Self.rawTypes.contains(type) ? names.scalar(type) : nil
    }

    /// Those of which the standard library makes a Codable enumeration.
    private static let rawTypes: [NSAttributeType] = [
        .stringAttributeType, .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .doubleAttributeType,
        .floatAttributeType, .booleanAttributeType,
    ]

    private func rawText(_ type: String) -> String {
        """
        // An enumeration with these raw values can stand here.
        public struct \(name): RawRepresentable, Codable, Hashable, Sendable {
            public var rawValue: \(type)
            public init(rawValue: \(type)) { self.rawValue = rawValue }
        }
        """
    }
}

extension String {
    var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
