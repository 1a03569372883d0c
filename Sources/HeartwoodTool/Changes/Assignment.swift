import Foundation
import Heartwood

/// A property and its new value, as a person writes it: NAME=VALUE.
///
/// VALUE is a text as in a field of CSV, or `null`. A value that begins with a quote is JSON, and under a relationship one that begins with a
/// bracket: a text that is itself `null`, or the members of a to-many relationship. A relationship names objects by their URIs, or by their
/// values of the destination's uniqueness constraint.
struct Assignment {
    let property: NSPropertyDescription
    private let value: RecordValue
    /// Of a relationship.
    private var destinations: [NSManagedObject] = []

    init(_ text: String, of entity: NSEntityDescription, in open: OpenStore) throws {
        guard let equals = text.firstIndex(of: "=") else {
            throw ToolError.usage("--set takes NAME=VALUE, not \"\(DisplayWidth.printable(text))\"")
        }
        property = try Self.property(String(text[..<equals]), of: entity)
        value = try Self.value(String(text[text.index(after: equals)...]), for: property)
        guard let relationship = property as? NSRelationshipDescription else {
            try check()
            return
        }
        destinations = try Self.members(value, of: relationship).map { try Self.destination($0, of: relationship, in: open) }
    }

    private static func property(_ name: String, of entity: NSEntityDescription) throws -> NSPropertyDescription {
        let all = entity.orderedProperties.filter { property in
            guard !property.isTransient, !(property is NSDerivedAttributeDescription) else { return false }
            guard let attribute = property as? NSAttributeDescription else { return property is NSRelationshipDescription }
            return attribute.attributeType != .compositeAttributeType
        }
        if let found = all.first(where: { $0.name == name }) { return found }
        throw ToolError.usage(
            "\(entity.title) has no property \"\(DisplayWidth.printable(name))\" to set; it has " + all.map(\.name).sorted().joined(separator: ", "))
    }

    private static func value(_ text: String, for property: NSPropertyDescription) throws -> RecordValue {
        if text == "null" { return .null }
        let isJSON = text.hasPrefix("\"") || property is NSRelationshipDescription && (text.hasPrefix("[") || text.hasPrefix("{"))
        guard isJSON else { return .text(text) }
        do {
            return try Array(text.utf8).withUnsafeBytes { try JSONText.value($0) }
        } catch let error as JSONText.Fault {
            throw ToolError.usage(
                "--set \(property.name): a value that begins with \(text.prefix(1)) is JSON, and \(error.reason), at byte \(error.offset + 1)")
        }
    }

    /// A wrong value is an error also where no object is found.
    private func check() throws {
        guard let attribute = property as? NSAttributeDescription, attribute.attributeType != .transformableAttributeType else { return }
        do {
            _ = try AttributeText.value(value, for: attribute)
        } catch ToolError.failure(let text) {
            throw ToolError.usage(text)
        }
    }

    /// Sets the property.
    /// - Throws: an error that names the property if the value does not fit.
    func apply(to object: NSManagedObject) throws {
        guard let relationship = property as? NSRelationshipDescription else {
            guard let attribute = property as? NSAttributeDescription else { return }
            return try AttributeText.assign(value, to: attribute, of: object)
        }
        if relationship.isToMany {
            try object.assign(NSOrderedSet(array: destinations), to: relationship)
        } else if let destination = destinations.first {
            object.connect(destination, by: relationship)
        } else {
            try object.assign(nil, to: relationship)
        }
    }

    // MARK: Relationships

    private static func members(_ value: RecordValue, of relationship: NSRelationshipDescription) throws -> [RecordValue] {
        switch value {
        case .null: return []
        case .list(let list) where relationship.isToMany: return list
        case .text, .number, .object: return [value]
        case .list, .bool: throw ToolError.usage("\(relationship.name) leads to one object, and \(AttributeText.describe(value)) names none")
        }
    }

    private static func destination(
        _ value: RecordValue, of relationship: NSRelationshipDescription, in open: OpenStore
    ) throws -> NSManagedObject {
        guard let entity = relationship.destinationEntity else { throw ToolError.failure("\(relationship.name) leads nowhere") }
        if let uri = try uri(value, relationship) {
            let found = try open.context.existingObject(with: try open.objectID(uri))
            guard found.entity.isKindOf(entity: entity) else {
                throw ToolError.usage("\(relationship.name) leads to \(entity.title), and \(uri) is of the entity \(found.entity.title)")
            }
            return found
        }
        guard let key = entity.uniqueAttribute else {
            throw ToolError.usage("\(relationship.name) takes the URI of an object: \(entity.title) has no uniqueness constraint over one attribute")
        }
        let request = NSFetchRequest<NSManagedObject>(entityName: entity.title)
        request.fetchLimit = 1
        request.predicate = NSComparisonPredicate.equality(key.name, try AttributeText.value(value, for: key))
        guard let found = try open.context.fetch(request).first else {
            throw ToolError.failure("\(relationship.name): no \(entity.title) has the \(key.name) \(AttributeText.describe(value))")
        }
        return found
    }

    /// A URI alone, or as a label; nil for another value.
    private static func uri(_ value: RecordValue, _ relationship: NSRelationshipDescription) throws -> String? {
        switch value {
        case .text(let text): return text.hasPrefix("x-coredata:") ? text : nil
        case .object(let members):
            if members.count == 1, let uri = try Record(line: 1, values: members).text(Record.labelName) { return uri }
            throw ToolError.usage("\(relationship.name) names objects as {\"\(Record.labelName)\": URI}, as URIs alone, or by unique values")
        default: return nil
        }
    }
}
