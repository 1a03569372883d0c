import Foundation
@_spi(GeneratedCode) import Heartwood

/// Values that a store keeps as Foundation's objects in a transformable attribute, as SwiftData keeps arrays of scalars.
struct ObjectCoding<Value: Codable>: AttributeCoding {
    var form: AttributeForm { .transformable(className: nil, isOptional: false) }

    func read(_ object: NSManagedObject, at place: AttributePlace) -> Value? {
        object.managedAttribute(at: place.index).flatMap { try? ObjectForm.decode(Value.self, from: $0) }
    }
    func write(_ value: Value, to object: NSManagedObject, at place: AttributePlace) throws {
        object.setManagedAttribute(try ObjectForm.encode(value), at: place.index)
    }
    func object(_ value: Value) throws -> Any? { try ObjectForm.encode(value) }
    func following(_ stored: NSAttributeDescription) -> (any AttributeCoding)? { AttributeCodings.encoded(Value.self, following: stored) }
}

/// Makes Foundation's objects of values, and values of those: of lists of scalars directly, of other values by way of JSON.
enum ObjectForm {
    static func decode<Value: Decodable>(_ type: Value.Type, from object: Any) throws -> Value {
        if let list = type as? any ScalarCollection.Type, let value = list.init(_objects: object) as? Value { return value }
        // An encoder may have made the value bytes before they were archived.
        if let data = object as? Data, type != Data.self { return try JSONForm.decodeJSON(type, from: data) }
        let json = try JSONSerialization.data(withJSONObject: Self.json(object), options: .fragmentsAllowed)
        return try JSONForm.decodeJSON(type, from: json)
    }

    static func encode(_ value: some Encodable) throws -> Any {
        if let list = value as? any ScalarCollection { return list._foundationObject }
        return try JSONSerialization.jsonObject(with: JSONForm.encode(value), options: .fragmentsAllowed)
    }

    /// The object in the forms that JSON has, as `JSONForm` writes values of the object's type.
    static func json(_ object: Any) -> Any {
        switch object {
        case let list as NSArray: return list.map(json)
        case let list as NSOrderedSet: return list.map(json)
        case let list as NSSet: return list.map(json)
        case let list as [Any]: return list.map(json)
        case let map as NSDictionary:
            return Dictionary(map.map { ("\($0.key)", json($0.value)) }) { first, _ in first }
        case let map as [String: Any]: return map.mapValues(json)
        case let date as Date: return date.timeIntervalSinceReferenceDate
        case let data as Data: return data.base64EncodedString()
        case let uuid as UUID: return uuid.uuidString
        case let url as URL: return url.absoluteString
        case let number as NSNumber where !number.doubleValue.isFinite:
            return number.doubleValue.isNaN ? "nan" : number.doubleValue < 0 ? "-inf" : "inf"
        default: return object
        }
    }

    /// A value of JSON as an attribute of the type has it; nil where it can be none.
    static func object(ofJSON json: Any, as type: NSAttributeType) -> Any? {
        switch type {
        case .stringAttributeType: json as? String
        case .dateAttributeType: (json as? NSNumber).map { Date(timeIntervalSinceReferenceDate: $0.doubleValue) }
        case .UUIDAttributeType: (json as? String).flatMap(UUID.init(uuidString:))
        case .URIAttributeType: (json as? String).flatMap(URL.init(string:))
        case .binaryDataAttributeType: (json as? String).flatMap { Data(base64Encoded: $0) }
        case .decimalAttributeType: (json as? NSNumber).map { NSDecimalNumber(string: "\($0)") }
        case .transformableAttributeType: json
        default: json as? NSNumber
        }
    }
}

/// A collection whose members are scalars, each of which is one of Foundation's objects in an archive.
protocol ScalarCollection {
    init?(_objects: Any)
    var _foundationObject: Any { get }
}

private func members(_ objects: Any) -> [Any]? {
    switch objects {
    case let list as NSArray: list.map { $0 }
    case let list as NSOrderedSet: list.map { $0 }
    case let list as NSSet: list.map { $0 }
    default: objects as? [Any]
    }
}

/// Members of other types make the whole unreadable: a list without them would be another value.
private func scalars<Scalar: _PersistentScalar>(_ objects: [Any]) -> [Scalar]? {
    let found = objects.compactMap { $0 is NSNull ? (Scalar._isOptional ? Scalar._neutral : nil) : Scalar(_object: $0) }
    return found.count == objects.count ? found : nil
}

extension Array: ScalarCollection where Element: _PersistentScalar {
    init?(_objects: Any) {
        guard let found: [Element] = members(_objects).flatMap(scalars) else { return nil }
        self = found
    }
    var _foundationObject: Any { NSArray(array: map { $0._object ?? NSNull() }) }
}

extension Set: ScalarCollection where Element: _PersistentScalar {
    init?(_objects: Any) {
        guard let found: [Element] = members(_objects).flatMap(scalars) else { return nil }
        self = Set(found)
    }
    var _foundationObject: Any { NSSet(array: map { $0._object ?? NSNull() }) }
}

extension Dictionary: ScalarCollection where Key == String, Value: _PersistentScalar {
    init?(_objects: Any) {
        let entries = (_objects as? NSDictionary).map { $0.map { ($0.key, $0.value) } } ?? (_objects as? [String: Any])?.map { ($0.key, $0.value) }
        guard let entries, let values: [Value] = scalars(entries.map { $0.1 }) else { return nil }
        let keys = entries.compactMap { $0.0 as? String }
        guard keys.count == values.count else { return nil }
        self = Dictionary(zip(keys, values)) { first, _ in first }
    }
    var _foundationObject: Any { NSDictionary(dictionary: mapValues { $0._object ?? NSNull() }) }
}
