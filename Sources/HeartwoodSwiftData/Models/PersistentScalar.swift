import Foundation
@_spi(GeneratedCode) import Heartwood

/// A value that is an attribute as it is: a number, a text, a date and their like, and optionals of them.
///
/// The accessors of models read and write them without a cast and without a coder.
public protocol _PersistentScalar: Codable, SendableMetatype {
    static var _attributeType: NSAttributeType { get }
    /// What a property has that no store and no program has given a value.
    static var _neutral: Self { get }
    /// Two values that no code makes up, with which a key path is tried.
    static var _examples: [Self] { get }
    /// Whether nil is a value of the type.
    static var _isOptional: Bool { get }

    /// The value of an attribute by its index in the object's entity; the neutral value where the store has none.
    static func _read(_ object: NSManagedObject, at index: Int) -> Self
    func _write(to object: NSManagedObject, at index: Int)
    /// The value as the model's descriptions and key-value coding have it.
    var _object: Any? { get }
    init?(_object: Any)
}

extension _PersistentScalar {
    public static var _isOptional: Bool { false }
}

extension Optional: _PersistentScalar where Wrapped: _PersistentScalar {
    public static var _attributeType: NSAttributeType { Wrapped._attributeType }
    public static var _neutral: Wrapped? { nil }
    public static var _examples: [Wrapped?] { Wrapped._examples }
    public static var _isOptional: Bool { true }
    public static func _read(_ object: NSManagedObject, at index: Int) -> Wrapped? {
        object.managedAttribute(at: index).flatMap(Wrapped.init(_object:))
    }
    public func _write(to object: NSManagedObject, at index: Int) {
        if let self { self._write(to: object, at: index) } else { object.setManagedAttribute(nil, at: index) }
    }
    public var _object: Any? { self?._object }
    public init?(_object: Any) { self = Wrapped(_object: _object) }
}

// MARK: Numbers

/// A whole number. Numbers of 64 bits without a sign are kept as the signed number of the same bits.
public protocol _PersistentInteger: _PersistentScalar, FixedWidthInteger {}

extension _PersistentInteger {
    public static var _attributeType: NSAttributeType {
        bitWidth < 16 || bitWidth == 16 && isSigned ? .integer16AttributeType
            : bitWidth < 32 || bitWidth == 32 && isSigned ? .integer32AttributeType : .integer64AttributeType
    }
    public static var _neutral: Self { 0 }
    public static var _examples: [Self] { [12, 97] }
    public static func _read(_ object: NSManagedObject, at index: Int) -> Self {
        Self(truncatingIfNeeded: object.managedInteger(at: index) ?? 0)
    }
    public func _write(to object: NSManagedObject, at index: Int) { object.setManagedInteger(Int64(truncatingIfNeeded: self), at: index) }
    public var _object: Any? { NSNumber(value: Int64(truncatingIfNeeded: self)) }
    public init?(_object object: Any) {
        guard let number = object as? NSNumber else { return nil }
        self = Self(truncatingIfNeeded: number.int64Value)
    }
}

extension Int: _PersistentInteger {}
extension Int8: _PersistentInteger {}
extension Int16: _PersistentInteger {}
extension Int32: _PersistentInteger {}
extension Int64: _PersistentInteger {}
extension UInt: _PersistentInteger {}
extension UInt8: _PersistentInteger {}
extension UInt16: _PersistentInteger {}
extension UInt32: _PersistentInteger {}
extension UInt64: _PersistentInteger {}

extension Bool: _PersistentScalar {
    public static var _attributeType: NSAttributeType { .booleanAttributeType }
    public static var _neutral: Bool { false }
    public static var _examples: [Bool] { [true, false] }
    public static func _read(_ object: NSManagedObject, at index: Int) -> Bool { object.managedBool(at: index) ?? false }
    public func _write(to object: NSManagedObject, at index: Int) { object.setManagedInteger(self ? 1 : 0, at: index) }
    public var _object: Any? { NSNumber(value: self) }
    public init?(_object object: Any) {
        guard let number = object as? NSNumber else { return nil }
        self = number.boolValue
    }
}

extension Double: _PersistentScalar {
    public static var _attributeType: NSAttributeType { .doubleAttributeType }
    public static var _neutral: Double { 0 }
    public static var _examples: [Double] { [12.25, 97.75] }
    public static func _read(_ object: NSManagedObject, at index: Int) -> Double { object.managedDouble(at: index) ?? 0 }
    public func _write(to object: NSManagedObject, at index: Int) { object.setManagedDouble(self, at: index) }
    public var _object: Any? { NSNumber(value: self) }
    public init?(_object object: Any) {
        guard let number = object as? NSNumber else { return nil }
        self = number.doubleValue
    }
}

extension Float: _PersistentScalar {
    public static var _attributeType: NSAttributeType { .floatAttributeType }
    public static var _neutral: Float { 0 }
    public static var _examples: [Float] { [12.25, 97.75] }
    public static func _read(_ object: NSManagedObject, at index: Int) -> Float { Float(object.managedDouble(at: index) ?? 0) }
    public func _write(to object: NSManagedObject, at index: Int) { object.setManagedDouble(Double(self), at: index) }
    public var _object: Any? { NSNumber(value: self) }
    public init?(_object object: Any) {
        guard let number = object as? NSNumber else { return nil }
        self = number.floatValue
    }
}

extension Decimal: _PersistentScalar {
    public static var _attributeType: NSAttributeType { .decimalAttributeType }
    public static var _neutral: Decimal { 0 }
    public static var _examples: [Decimal] { [12, 97] }
    public static func _read(_ object: NSManagedObject, at index: Int) -> Decimal {
        object.managedAttribute(at: index).flatMap(Decimal.init(_object:)) ?? 0
    }
    public func _write(to object: NSManagedObject, at index: Int) { object.setManagedAttribute(_object, at: index) }
    public var _object: Any? { NSDecimalNumber(decimal: self) }
    public init?(_object object: Any) {
        switch object {
        case let number as NSDecimalNumber: self = number.decimalValue
        case let number as Decimal: self = number
        case let number as NSNumber: self = number.decimalValue
        default: return nil
        }
    }
}

// MARK: Texts, dates and the rest

extension String: _PersistentScalar {
    public static var _attributeType: NSAttributeType { .stringAttributeType }
    public static var _neutral: String { "" }
    public static var _examples: [String] { ["Ab 7ç", "xY-9"] }
    public static func _read(_ object: NSManagedObject, at index: Int) -> String { object.managedString(at: index) ?? "" }
    public func _write(to object: NSManagedObject, at index: Int) { object.setManagedString(self, at: index) }
    public var _object: Any? { self }
    public init?(_object object: Any) {
        guard let text = object as? String else { return nil }
        self = text
    }
}

extension Date: _PersistentScalar {
    public static var _attributeType: NSAttributeType { .dateAttributeType }
    public static var _neutral: Date { Date(timeIntervalSinceReferenceDate: 0) }
    public static var _examples: [Date] { [Date(timeIntervalSinceReferenceDate: 12_345.5), Date(timeIntervalSinceReferenceDate: 987_654.25)] }
    public static func _read(_ object: NSManagedObject, at index: Int) -> Date { object.managedDate(at: index) ?? _neutral }
    public func _write(to object: NSManagedObject, at index: Int) { object.setManagedDate(self, at: index) }
    public var _object: Any? { self }
    public init?(_object object: Any) {
        guard let date = object as? Date else { return nil }
        self = date
    }
}

/// The values that key-value coding hands over as they are.
protocol ObjectScalar: _PersistentScalar {}

extension ObjectScalar {
    static func read(_ object: NSManagedObject, at index: Int) -> Self { object.managedAttribute(at: index) as? Self ?? _neutral }
}

extension Data: ObjectScalar {
    public static var _attributeType: NSAttributeType { .binaryDataAttributeType }
    public static var _neutral: Data { Data() }
    public static var _examples: [Data] { [Data([7, 1]), Data([9])] }
    public static func _read(_ object: NSManagedObject, at index: Int) -> Data { read(object, at: index) }
    public func _write(to object: NSManagedObject, at index: Int) { object.setManagedAttribute(self, at: index) }
    public var _object: Any? { self }
    public init?(_object object: Any) {
        guard let data = object as? Data else { return nil }
        self = data
    }
}

extension UUID: ObjectScalar {
    public static var _attributeType: NSAttributeType { .UUIDAttributeType }
    public static var _neutral: UUID { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }
    public static var _examples: [UUID] {
        [UUID(uuid: (7, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)), UUID(uuid: (9, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))]
    }
    public static func _read(_ object: NSManagedObject, at index: Int) -> UUID { read(object, at: index) }
    public func _write(to object: NSManagedObject, at index: Int) { object.setManagedAttribute(self, at: index) }
    public var _object: Any? { self }
    public init?(_object object: Any) {
        guard let uuid = object as? UUID else { return nil }
        self = uuid
    }
}

extension URL: ObjectScalar {
    public static var _attributeType: NSAttributeType { .URIAttributeType }
    public static var _neutral: URL { URL(fileURLWithPath: "/") }
    public static var _examples: [URL] { [URL(fileURLWithPath: "/probe/7"), URL(fileURLWithPath: "/probe/9")] }
    public static func _read(_ object: NSManagedObject, at index: Int) -> URL { read(object, at: index) }
    public func _write(to object: NSManagedObject, at index: Int) { object.setManagedAttribute(self, at: index) }
    public var _object: Any? { self }
    public init?(_object object: Any) {
        guard let url = object as? URL else { return nil }
        self = url
    }
}
