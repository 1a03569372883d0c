import Foundation
import Heartwood

/// Writes objects as lines of JSON or CSV, in large pieces.
final class RecordWriter {
    private let properties: [NSPropertyDescription]
    private let labels: Bool
    private let output: OutputBuffer
    private let dangling: DanglingReferences?
    private let encoder = JSONValue.lineEncoder()

    /// - Parameter labels: whether each line has a label for its object, and relationships in JSON refer to labels. Otherwise they have the keys of
    ///   their destinations, if these have a key.
    /// - Parameter dangling: gets the references that are left out, since they lead nowhere.
    init(entity: NSEntityDescription, labels: Bool = false, output: OutputBuffer = OutputBuffer(), dangling: DanglingReferences? = nil) {
        let all = entity.orderedProperties.filter { !$0.isTransient }
        // Of two inverses on one entity only the first is written, unless the second is ordered; otherwise the second would repeat it.
        properties = all.enumerated().filter { index, property in
            guard let relationship = property as? NSRelationshipDescription, let inverse = relationship.inverseRelationship else { return true }
            return relationship.isOrdered || !all.prefix(index).contains { $0 === inverse }
        }.map(\.element)
        self.labels = labels
        self.output = output
        self.dangling = dangling
    }

    // MARK: Values

    private static func label(_ object: NSManagedObject) -> String { object.objectID.uriRepresentation().absoluteString }

    private static func value(_ object: NSManagedObject, _ attribute: NSAttributeDescription) -> JSONValue? {
        guard attribute.attributeType == .transformableAttributeType else { return object.attributeValue(attribute).map(AttributeText.json) }
        return object.storedData(of: attribute).map {
            AttributeText.json(object.attributeValue(attribute), transformable: attribute, bytes: $0)
        }
    }

    /// A relationship's destinations, in the relationship's order or else in the order of their text. A destination is written as its key; one
    /// whose entity has no key as its URI, which a reader understands.
    /// - Parameter byLabel: whether all are written as their URIs.
    private func destinations(_ object: NSManagedObject, _ relationship: NSRelationshipDescription, byLabel: Bool) -> [JSONValue] {
        let attribute = byLabel ? nil : relationship.destinationEntity?.uniqueAttribute
        let all = object.destinations(of: relationship)
        let known = relationship.isToMany ? all : all.filter { dangling?.leads(to: $0, from: object, relationship) ?? true }
        let values = known.map { destination -> (value: JSONValue, text: String) in
            if let key = attribute.flatMap({ destination.attributeValue($0) }) { return (AttributeText.json(key), AttributeText.text(key)) }
            let label = Self.label(destination)
            return (byLabel || attribute != nil ? .object([Record.labelName: .text(label)]) : .text(label), label)
        }
        guard relationship.isToMany, !relationship.isOrdered else { return values.map(\.value) }
        return values.sorted { $0.text.utf8.lexicographicallyPrecedes($1.text.utf8) }.map(\.value)
    }

    // MARK: JSON

    /// Writes one object as a line; null values are left out.
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
                // A text in CSV cannot say whether it is a key or a label: it is a key if the entity has one.
                let texts = destinations(object, relationship, byLabel: false).map(AttributeText.text)
                return relationship.isToMany ? MemberList.text(texts) : texts.first
            default: return nil
            }
        }))
    }

    func flush() throws { try output.flush() }
}
