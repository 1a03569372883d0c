import Foundation
import Heartwood

/// Writes objects as lines of JSON or CSV, in large pieces.
final class RecordWriter {
    private let properties: [NSPropertyDescription]
    private let output = OutputBuffer()
    private let encoder = JSONValue.lineEncoder()

    init(entity: NSEntityDescription) {
        let all = entity.orderedProperties.filter { !$0.isTransient }
        // Of two inverses on one entity the first says everything; the other would repeat it.
        properties = all.enumerated().filter { place, property in
            guard let inverse = (property as? NSRelationshipDescription)?.inverseRelationship else { return true }
            return !all.prefix(place).contains { $0 === inverse }
        }.map(\.element)
    }

    // MARK: JSON

    /// One object as a line; what has no value is left out.
    func json(_ object: NSManagedObject) throws {
        var values: [String: JSONValue] = [:]
        for property in properties {
            switch property {
            case let attribute as NSAttributeDescription:
                if let value = object.attributeValue(attribute) { values[attribute.name] = AttributeText.json(value) }
            case let relationship as NSRelationshipDescription:
                let keys = keys(object, relationship)
                if relationship.isToMany {
                    if !keys.isEmpty { values[relationship.name] = .list(keys.map(AttributeText.json)) }
                } else if let key = keys.first {
                    values[relationship.name] = AttributeText.json(key)
                }
            default: break
            }
        }
        try output.append(try encoder.encode(values))
        try output.append("\n")
    }

    /// A relationship's destinations, by key where they have one, in key order where the relationship has none.
    private func keys(_ object: NSManagedObject, _ relationship: NSRelationshipDescription) -> [Any] {
        let attribute = relationship.destinationEntity?.uniqueAttribute
        let keys = object.destinations(of: relationship).map { destination -> Any in
            attribute.flatMap { destination.attributeValue($0) } ?? destination.objectID.uriRepresentation().absoluteString
        }
        guard relationship.isToMany, !relationship.isOrdered else { return keys }
        return keys.sorted { AttributeText.text($0).utf8.lexicographicallyPrecedes(AttributeText.text($1).utf8) }
    }

    // MARK: CSV

    func csvHeader() throws {
        try output.append(DelimitedText.line(properties.map(\.name)))
    }

    func csv(_ object: NSManagedObject) throws {
        try output.append(DelimitedText.line(properties.map { property in
            switch property {
            case let attribute as NSAttributeDescription: return object.attributeValue(attribute).map(AttributeText.text)
            case let relationship as NSRelationshipDescription:
                let keys = keys(object, relationship)
                let texts = keys.map(AttributeText.text)
                return relationship.isToMany ? MemberList.text(texts) : texts.first
            default: return nil
            }
        }))
    }

    func flush() throws { try output.flush() }
}
