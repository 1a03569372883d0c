import Foundation
import Heartwood

/// A stored value as JSON. The attribute's description is enough for it; the type that the property had is not needed.
struct StoredForm {
    let attribute: NSAttributeDescription
    /// The property's name in the version with which the value was stored.
    let name: String

    /// What the value may stand for. One form can have several meanings: an enumeration's raw value is stored as a structure is whose only property
    /// has the same name, and JSON as other data.
    /// - Parameter value: what key-value coding has of the attribute.
    /// - Returns: nothing for a value that only a transformer knows.
    func meanings(_ value: Any) -> [JSONValue] {
        [true, false].compactMap { embeds in
            // Data that is a whole property is JSON or the program's own, of which no other type is known.
            embeds || attribute.attributeType != .binaryDataAttributeType ? Self.json(value, attribute, embedsJSON: embeds) : nil
        }.flatMap { json in
            guard case .object(let parts) = json, let composite = attribute as? NSCompositeAttributeDescription, composite.elements.count == 1,
                let raw = parts[name]
            else { return [json] }
            return [raw, json]
        }
    }

    /// - Parameter embedsJSON: whether data that can be read as JSON is taken as that.
    private static func json(_ value: Any, _ attribute: NSAttributeDescription, embedsJSON: Bool) -> JSONValue? {
        if let composite = attribute as? NSCompositeAttributeDescription {
            guard let stored = value as? [String: Any] else { return nil }
            var parts: [String: JSONValue] = [:]
            for element in composite.elements {
                guard let part = stored[element.name], !(part is NSNull) else { continue }
                guard let json = json(part, element, embedsJSON: embedsJSON) else { return nil }
                // An enumeration within a structure.
                let isRaw = (element as? NSCompositeAttributeDescription).map { $0.elements.count == 1 && $0.elements[0].name == element.name }
                if isRaw == true, case .object(let inner) = json { parts[element.name] = inner[element.name] } else { parts[element.name] = json }
            }
            return .object(parts)
        }
        switch attribute.attributeType {
        case .booleanAttributeType: return (value as? NSNumber).map { .bool($0.boolValue) }
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType: return (value as? NSNumber).map { .integer($0.int64Value) }
        case .doubleAttributeType, .floatAttributeType: return (value as? NSNumber).map { .double($0.doubleValue) }
        case .decimalAttributeType: return Decimal(_object: value).map { .decimal($0) }
        case .stringAttributeType: return (value as? String).map { .string($0) }
        case .dateAttributeType: return (value as? Date).map { .double($0.timeIntervalSinceReferenceDate) }
        case .UUIDAttributeType: return (value as? UUID).map { .string($0.uuidString) }
        case .URIAttributeType: return (value as? URL).map { .string($0.absoluteString) }
        case .binaryDataAttributeType:
            guard let data = value as? Data else { return nil }
            if embedsJSON, let json = try? JSONForm.decode(JSONValue.self, from: data) { return json }
            return .string(data.base64EncodedString())
        default: return nil
        }
    }

    /// The form as errors tell it.
    var description: String {
        switch attribute {
        case let composite as NSCompositeAttributeDescription: "a composite of \(composite.elements.map(\.name).joined(separator: ", "))"
        default: attribute.attributeType == .binaryDataAttributeType ? "JSON" : "\(attribute.attributeType)"
        }
    }
}
