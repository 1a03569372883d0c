import Foundation

/// Key paths of a class that no model in use names: a model may be made with them.
///
/// The objects have an entity with spare properties. The first read of a name takes the next spare one, and a second evaluation with a value in it
/// shows that the key path returns that property.
extension KeyPathRecorder {
    private static let spareMax = 16

    private static let model: NSManagedObjectModel = {
        let entity = NSEntityDescription(), model = NSManagedObjectModel()
        entity.name = "Spare"
        entity.properties = (0..<spareMax).map { number in
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType, attribute.isTransient) = ("spare\(number)", .undefinedAttributeType, true)
            return attribute
        }
        model.entities = [entity]
        model.makeImmutable()
        return model
    }()

    /// The name of the property that a key path reads.
    /// - Returns: nil for anything but one property of a known type, as it is.
    static func key(of keyPath: AnyKeyPath, root: NSManagedObject.Type) -> String? {
        let recorder = KeyPathRecorder(concurrencyType: .confinementConcurrencyType)
        recorder.spares = []
        guard let object = recorder.make(model.entities[0], root) else { return nil }
        return recorder.key(of: keyPath, object)
    }

    private func key(of keyPath: AnyKeyPath, _ object: NSManagedObject) -> String? {
        let type = Unwrapping.wrapped(Swift.type(of: keyPath).valueType)
        guard let (probe, wanted) = probe(for: type) else { return nil }
        _ = value(keyPath, of: object)
        guard let index = propertyRead(of: object) else { return nil }
        object.storage?.values[index] = probe
        let found = value(keyPath, of: object)
        guard propertyRead(of: object) == index, wanted.isEqual(PredicateValue(Unwrapping.rawValue(found))) else { return nil }
        return spares?[index]
    }

    /// The only property that was read of the only object.
    private func propertyRead(of object: NSManagedObject) -> Int? {
        guard let first = reads.first, reads.allSatisfy({ $0.object === object && $0.property == first.property }) else { return nil }
        return first.property
    }

    /// Called by an object for a key that its entity lacks.
    func spareIndex(_ name: String) -> Int? {
        guard let spares else { return nil }
        if let known = spares.firstIndex(of: name) { return known }
        guard spares.count < Self.spareMax else { return nil }
        self.spares = spares + [name]
        return spares.count
    }

    func requiredSpare<Value>(_ property: Int, of object: NSManagedObject) -> Value? {
        if let type = Value.self as? NSManagedObject.Type { return make(Self.model.entities[0], type) as? Value }
        if let (probe, _) = probe(for: Value.self) { object.storage?.values[property] = probe }
        return object.value(at: property) as? Value ?? Placeholder.value()
    }

    /// A value for a property of a type, and the value that a key path then gives; nil for a type whose values are not known.
    private func probe(for type: Any.Type) -> (ManagedValue, PredicateValue)? {
        func value(_ held: ManagedValue) -> (ManagedValue, PredicateValue) { (held, PredicateValue(held.attributeObject(kind: .undefined))) }
        if let objectClass = type as? NSManagedObject.Type {
            return make(Self.model.entities[0], objectClass).map { (.reference($0.key), .object($0)) }
        }
        switch type {
        case is String.Type: return value(.text("aB"))
        case is Bool.Type: return value(.bool(true))
        case is any FixedWidthInteger.Type, is NSNumber.Type: return value(.integer(2))
        case is any BinaryFloatingPoint.Type: return value(.double(1.5))
        case is Date.Type: return value(.date(86_400.5))
        case is Data.Type: return value(.data(Data([1, 2])))
        case is UUID.Type: return value(.uuid(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))))
        case is URL.Type: return URL(string: "x://y/Z").map { value(.url($0)) }
        case is NSDecimalNumber.Type, is Decimal.Type: return value(.decimal(NSDecimalNumber(string: "-1.25")))
        case is NSSet.Type, is NSOrderedSet.Type: return members(of: NSManagedObject.self)
        case let list as any MembersType.Type: return members(of: list.member)
        default: return nil
        }
    }

    private func members(of objectClass: NSManagedObject.Type) -> (ManagedValue, PredicateValue)? {
        make(Self.model.entities[0], objectClass).map { member in
            (.toMany(ToManyState(base: [member.key], isOrdered: false)), .collection([.object(member)]))
        }
    }
}

/// A set of managed objects of one class.
private protocol MembersType {
    static var member: NSManagedObject.Type { get }
}

extension Set: MembersType where Element: NSManagedObject {
    fileprivate static var member: NSManagedObject.Type { Element.self }
}
