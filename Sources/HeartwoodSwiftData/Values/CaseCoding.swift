import Foundation
@_spi(GeneratedCode) import Heartwood

/// An enumeration whose cases are the elements of a composite, as SwiftData makes them: only the element of the value's case has a value.
///
/// A case without a payload has its own name there. The payload of another case is the element's value, its JSON, or a composite of its parts.
struct CaseCoding<Value: Codable>: AttributeCoding {
    private let elements: [CaseElement]

    /// - Returns: nil for a type that has none of the elements among its cases.
    init?(_ composite: NSCompositeAttributeDescription) {
        elements = composite.elements.map(CaseElement.init)
        guard elements.contains(where: { Self.isCase($0.name) }) else { return nil }
    }

    /// An enumeration counts the keys that it knows, and then reads the payload of the only one.
    private static func isCase(_ name: String) -> Bool {
        do {
            _ = try JSONForm.decodeJSON(Value.self, from: JSONSerialization.data(withJSONObject: [name: [String: Any]()]))
            return true
        } catch DecodingError.keyNotFound(let key, let context) {
            return !context.codingPath.isEmpty || key.stringValue == name
        } catch {
            return false
        }
    }

    var form: AttributeForm {
        .composite(elements.map { .init(name: $0.name, valueType: Data.self, form: .scalar($0.type, isOptional: true)) }, isOptional: false)
    }

    func isAbsent(_ object: NSManagedObject, at place: AttributePlace) -> Bool { object.managedAttribute(at: place.index) == nil }

    func read(_ object: NSManagedObject, at place: AttributePlace) -> Value? {
        guard let parts = object.managedAttribute(at: place.index) as? [String: Any] else { return nil }
        let known = elements.compactMap { element in
            parts[element.name].flatMap { $0 is NSNull ? nil : (element, $0) }
        }
        guard known.count == 1, let (element, value) = known.first else { return nil }
        return element.payloads(of: value).lazy.compactMap { Self.decode(element.name, $0) }.first
    }

    func write(_ value: Value, to object: NSManagedObject, at place: AttributePlace) throws {
        object.setManagedAttribute(try self.object(value), at: place.index)
    }

    func object(_ value: Value) throws -> Any? {
        let json = try JSONSerialization.jsonObject(with: JSONForm.encode(value), options: .fragmentsAllowed)
        guard let cases = json as? [String: Any], cases.count == 1, let name = cases.keys.first, let payload = cases[name] as? [String: Any],
            let element = elements.first(where: { $0.name == name }), let stored = try element.stored(payload)
        else {
            throw RefusingEncoder.refusal(value, because: "The store has no place for the value among the cases that it keeps.")
        }
        return [name: stored]
    }

    func following(_ stored: NSAttributeDescription) -> (any AttributeCoding)? { AttributeCodings.encoded(Value.self, following: stored) }

    /// - Parameter payload: a payload of one value may lack its label. The decoder tells which it wants.
    private static func decode(_ name: String, _ payload: CaseElement.Payload) -> Value? {
        func value(_ parts: [String: Any]) throws -> Value {
            try JSONForm.decodeJSON(Value.self, from: JSONSerialization.data(withJSONObject: [name: parts]))
        }
        do {
            return try value(payload.parts)
        } catch DecodingError.keyNotFound(let key, _) {
            guard let single = payload.single else { return nil }
            return try? value([key.stringValue: single])
        } catch {
            return nil
        }
    }
}

/// The element of one case.
struct CaseElement: Sendable {
    let name: String
    let type: NSAttributeType
    /// Those of a payload that is a composite.
    let elements: [CaseElement]

    init(_ stored: NSAttributeDescription) {
        name = stored.name
        type = stored.attributeType
        elements = (stored as? NSCompositeAttributeDescription)?.elements.map(CaseElement.init) ?? []
    }

    /// A payload in JSON's forms.
    struct Payload {
        var parts: [String: Any] = [:]
        /// The value of a payload without labels in the store.
        var single: Any?
    }

    /// What the element's value may mean; the first that the enumeration can be decoded of is meant.
    func payloads(of value: Any) -> [Payload] {
        switch value {
        case let parts as [String: Any] where !elements.isEmpty:
            return [Payload(parts: parts.compactMapValues { $0 is NSNull ? nil : ObjectForm.json($0) })]
        case let data as Data:
            guard let json = try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed) else {
                return [Payload(single: data.base64EncodedString())]
            }
            return ((json as? [String: Any]).map { [Payload(parts: $0)] } ?? []) + [Payload(single: json)]
        case let text as String where text == name: return [Payload(single: text)]
        default: return [Payload(parts: ["_0": ObjectForm.json(value)]), Payload(single: ObjectForm.json(value))]
        }
    }

    /// The payload as the store keeps it; nil where the element cannot hold it.
    func stored(_ payload: [String: Any]) throws -> Any? {
        guard elements.isEmpty else {
            let parts = elements.compactMap { element in
                payload[element.name].flatMap { ObjectForm.object(ofJSON: $0, as: element.type) }.map { (element.name, $0) }
            }
            return parts.count == payload.count ? Dictionary(parts) { first, _ in first } : nil
        }
        if type == .binaryDataAttributeType { return try JSONSerialization.data(withJSONObject: payload, options: .sortedKeys) }
        if payload.isEmpty { return type == .stringAttributeType ? name : nil }
        return payload.count == 1 ? payload.values.first.flatMap { ObjectForm.object(ofJSON: $0, as: type) } : nil
    }
}
