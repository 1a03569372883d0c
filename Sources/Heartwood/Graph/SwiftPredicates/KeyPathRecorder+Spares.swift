import Foundation

/// Key paths of a class that no model in use names: a model may be made with them.
///
/// The objects have an entity with spare properties. The first read of a name takes the next spare one, and a second evaluation with a value in it
/// shows that the key path returns that property. Values of other types show a computation: a property gives none for them.
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

    /// The result of one evaluation of a key path.
    private struct Answer {
        let value: Any?
        let path: [Read]
        let end: Read
        /// The value that the accessor of the last property required.
        let required: Required?
    }

    /// The names of the properties from the object on, through required to-one relationships.
    /// - Returns: nil for anything but one property as it is, and behind a relationship that the class declares as optional, since its class
    ///   cannot be told.
    static func keys(of keyPath: AnyKeyPath, root: NSManagedObject.Type) -> [String]? {
        let recorder = KeyPathRecorder(concurrencyType: .confinementConcurrencyType)
        recorder.spares = []
        guard let object = recorder.make(model.entities[0], root) else { return nil }
        return recorder.keys(of: keyPath, object)
    }

    private func keys(of keyPath: AnyKeyPath, _ object: NSManagedObject) -> [String]? {
        let type = Unwrapping.wrapped(Swift.type(of: keyPath).valueType)
        guard let null = answer(keyPath, object, type) else { return nil }
        let probes = probes(for: type)
        // The accessor of a type without probes gives nil for null, or asks for a value of its own type.
        guard !probes.isEmpty || null.value == nil || null.required != nil else { return nil }
        for (held, wanted) in probes {
            guard let found = answer(keyPath, object, type, with: held, in: null.end), found.required == nil, Self.isEqual(found.value, wanted) else {
                return nil
            }
        }
        for held in Self.foreignProbes(for: type) {
            guard let found = answer(keyPath, object, type, with: held, in: null.end) else { return nil }
            let isNull = found.required != nil || Self.isEqual(found.value, null.value)
            guard isNull || Self.isEqual(found.value, PredicateValue(held.attributeObject(kind: .undefined))) else { return nil }
        }
        return spares.map { spares in null.path.map { spares[$0.property] } }
    }

    /// Evaluates the key path, for a value of the property that it read before.
    /// - Returns: nil if it reads anything but one property, or gives something else than the value that an accessor required.
    private func answer(
        _ keyPath: AnyKeyPath, _ object: NSManagedObject, _ type: Any.Type, with held: ManagedValue = .null, in end: Read? = nil
    ) -> Answer? {
        if let end { end.object.storage?.values[end.property] = held }
        required = nil
        let value = value(keyPath, of: object)
        guard let path = spareProperties(from: object), let last = path.last else { return nil }
        if let end { guard last.object === end.object, last.property == end.property else { return nil } }
        guard let required, required.object === last.object, required.property == last.property else {
            return Answer(value: value, path: path, end: last, required: nil)
        }
        guard required.type == type, Self.isEqual(value, required.value) else { return nil }
        return Answer(value: value, path: path, end: last, required: required)
    }

    private static func isEqual(_ value: Any?, _ other: Any?) -> Bool {
        if let value = value as? AnyHashable, let other = other as? AnyHashable, value == other { return true }
        return PredicateValue(Unwrapping.rawValue(value)).isEqual(PredicateValue(Unwrapping.rawValue(other)))
    }

    /// The properties that were read, each of the object to which the one before it leads; nil for others.
    private func spareProperties(from object: NSManagedObject) -> [Read]? {
        var end = object, path: [Read] = []
        for read in reads {
            if let last = path.last, last.object === read.object, last.property == read.property { continue }
            if let last = path.last, let next = destination(of: last) { end = next }
            guard read.object === end else { return nil }
            path.append(read)
        }
        return path
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
        let value: Value? = spareValue(property, of: object)
        required = Required(object: object, property: property, type: Value.self, value: value)
        return value
    }

    private func spareValue<Value>(_ property: Int, of object: NSManagedObject) -> Value? {
        if let type = Value.self as? NSManagedObject.Type { return spareDestination(property, of: object, type) as? Value }
        if let (probe, _) = probes(for: Value.self).first { object.storage?.values[property] = probe }
        return object.value(at: property) as? Value ?? Placeholder.value()
    }

    /// Values for a property of a type, each with the value that a key path then gives; empty for a type whose values are not known.
    private func probes(for type: Any.Type) -> [(ManagedValue, PredicateValue)] {
        func values(_ held: [ManagedValue]) -> [(ManagedValue, PredicateValue)] {
            held.map { ($0, PredicateValue($0.attributeObject(kind: .undefined))) }
        }
        if let objectClass = type as? NSManagedObject.Type {
            return make(Self.model.entities[0], objectClass).map { [(.reference($0.key), .object($0))] } ?? []
        }
        switch type {
        case is String.Type: return values(AttributeCodec.string.probes())
        case is Bool.Type: return values(AttributeCodec.bool.probes())
        case let integer as any FixedWidthInteger.Type: return integer.probes.map { (.integer($0), .integer($0)) }
        // No Double has this value.
        case is NSDecimalNumber.Type, is Decimal.Type: return values([.decimal(NSDecimalNumber(string: "-1.2345678901234567890123"))])
        case is NSNumber.Type: return values([.integer(2), .double(-2.25)])
        // No Float has the first one's value.
        case is Double.Type: return values([.double(0.1), .double(-2.25)])
        case is any BinaryFloatingPoint.Type: return values(AttributeCodec.float.probes())
        case is Date.Type: return values(AttributeCodec.date.probes())
        case is Data.Type: return values(AttributeCodec.data.probes())
        case is UUID.Type: return values(AttributeCodec.uuid.probes())
        case is URL.Type: return values(AttributeCodec.uri.probes())
        case is NSSet.Type, is NSOrderedSet.Type: return members(of: NSManagedObject.self)
        case let list as any MembersType.Type: return members(of: list.member)
        default: return []
        }
    }

    /// Values of other types. For these a property of this type is null or the value itself. A number that is computed from one of another
    /// type, and a condition on a number, can give each of the type's own probes.
    private static func foreignProbes(for type: Any.Type) -> [ManagedValue] {
        switch type {
        case is Bool.Type: [.integer(2), .integer(3), .integer(-1)]
        case is any FixedWidthInteger.Type: [.double(1.5), .double(-2.5)]
        case is Double.Type: []
        case is any BinaryFloatingPoint.Type: [.double(0.1)]
        case is NSManagedObject.Type, is NSNumber.Type, is String.Type, is Date.Type, is Data.Type, is UUID.Type,
            is URL.Type, is Decimal.Type, is NSSet.Type, is NSOrderedSet.Type, is any MembersType.Type:
            []
        default:
            [
                .text("aB"), .integer(2), .double(1.5), .bool(true), .date(86_400.5), .data(Data([1, 2])), .object(["b", "a"] as NSArray),
                .object([2, 1] as NSArray), .object([2.5, 1] as NSArray),
            ]
        }
    }

    private func members(of objectClass: NSManagedObject.Type) -> [(ManagedValue, PredicateValue)] {
        make(Self.model.entities[0], objectClass).map { member in
            [(.toMany(ToManyState(base: [member.key], isOrdered: false)), .collection([.object(member)]))]
        } ?? []
    }
}

extension FixedWidthInteger {
    /// Numbers of this type that distinguish it from narrower ones and from floating point.
    fileprivate static var probes: [Int64] {
        [2, 100] + (isSigned ? [-1] : []) + [300, 70_000, 9_007_199_254_740_993].filter { Self(exactly: $0) != nil }
    }
}

/// A set of managed objects of one class.
private protocol MembersType {
    static var member: NSManagedObject.Type { get }
}

extension Set: MembersType where Element: NSManagedObject {
    fileprivate static var member: NSManagedObject.Type { Element.self }
}
