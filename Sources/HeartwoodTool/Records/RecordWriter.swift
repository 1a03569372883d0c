import Foundation
import Heartwood

/// Writes objects as lines of JSON or CSV, in large pieces.
final class RecordWriter {
    private let properties: [NSPropertyDescription]
    private let labels: Bool
    private let output: OutputBuffer
    private let encoder = JSONValue.lineEncoder()

    /// - Parameter labels: whether each object's line says which object it is, and relationships in JSON name objects in that way; else
    ///   they have the keys of their destinations, where these have one.
    init(entity: NSEntityDescription, labels: Bool = false, output: OutputBuffer = OutputBuffer()) {
        let all = entity.orderedProperties.filter { !$0.isTransient }
        // Of two inverses on one entity the first says everything, but for the order of the second; else the other would repeat it.
        properties = all.enumerated().filter { place, property in
            guard let relationship = property as? NSRelationshipDescription, let inverse = relationship.inverseRelationship else { return true }
            return relationship.isOrdered || !all.prefix(place).contains { $0 === inverse }
        }.map(\.element)
        self.labels = labels
        self.output = output
    }

    // MARK: Values

    private static func label(_ object: NSManagedObject) -> String { object.objectID.uriRepresentation().absoluteString }

    private static func value(_ object: NSManagedObject, _ attribute: NSAttributeDescription) -> JSONValue? {
        guard attribute.attributeType == .transformableAttributeType else { return object.attributeValue(attribute).map(AttributeText.json) }
        return object.storedData(of: attribute).map {
            AttributeText.json(object.attributeValue(attribute), transformable: attribute, bytes: $0)
        }
    }

    /// A relationship's destinations, in the order of what they are written as where the relationship has none. One with a key goes by it; one
    /// whose entity has no keys by its URI, which a reader takes for that.
    /// - Parameter byLabel: whether all go by their URIs.
    private func destinations(_ object: NSManagedObject, _ relationship: NSRelationshipDescription, byLabel: Bool) -> [JSONValue] {
        let attribute = byLabel ? nil : relationship.destinationEntity?.uniqueAttribute
        let values = object.destinations(of: relationship).map { destination -> (value: JSONValue, text: String) in
            if let key = attribute.flatMap({ destination.attributeValue($0) }) { return (AttributeText.json(key), AttributeText.text(key)) }
            let label = Self.label(destination)
            return (byLabel || attribute != nil ? .object([Record.labelName: .text(label)]) : .text(label), label)
        }
        guard relationship.isToMany, !relationship.isOrdered else { return values.map(\.value) }
        return values.sorted { $0.text.utf8.lexicographicallyPrecedes($1.text.utf8) }.map(\.value)
    }

    // MARK: JSON

    /// One object as a line; what has no value is left out.
    func json(_ object: NSManagedObject) throws {
        var values: [String: JSONValue] = [:]
        if labels {
            values[Record.labelName] = .text(Self.label(object))
            values[Record.entityName] = .text(object.entity.name ?? "")
        }
        for property in properties {
            switch property {
            case let attribute as NSAttributeDescription: values[attribute.name] = Self.value(object, attribute)
            case let relationship as NSRelationshipDescription:
                let members = destinations(object, relationship, byLabel: labels)
                if relationship.isToMany {
                    if !members.isEmpty { values[relationship.name] = .list(members) }
                } else if let destination = members.first {
                    values[relationship.name] = destination
                }
            default: break
            }
        }
        try output.append(try encoder.encode(values))
        try output.append("\n")
    }

    // MARK: CSV

    func csvHeader() throws {
        try output.append(DelimitedText.line((labels ? [Record.labelName, Record.entityName] : []) + properties.map(\.name)))
    }

    func csv(_ object: NSManagedObject) throws {
        let first = labels ? [Self.label(object), object.entity.name ?? ""] : []
        try output.append(DelimitedText.line(first + properties.map { property in
            switch property {
            case let attribute as NSAttributeDescription: return Self.value(object, attribute).map(AttributeText.text)
            case let relationship as NSRelationshipDescription:
                // A text in CSV cannot say whether it is a key or a label: it is a key where there are any.
                let texts = destinations(object, relationship, byLabel: false).map(AttributeText.text)
                return relationship.isToMany ? MemberList.text(texts) : texts.first
            default: return nil
            }
        }))
    }

    func flush() throws { try output.flush() }
}
