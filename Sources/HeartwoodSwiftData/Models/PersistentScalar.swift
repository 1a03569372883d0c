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

    /// The value of an attribute by its index in the object's entity; nil where the store has none.
    static func _read(_ object: NSManagedObject, at index: Int) -> Self?
    /// The same; the neutral value where the store has none.
    static func _value(_ object: NSManagedObject, at index: Int) -> Self
    func _write(to object: NSManagedObject, at index: Int)
    /// The value as the model's descriptions and key-value coding have it.
    var _object: Any? { get }
    init?(_object: Any)
    /// The value as a managed object keeps it.
    var _scalar: _ScalarValue { get }
    init?(_scalar: _ScalarValue)
}

extension _PersistentScalar {
    public static var _isOptional: Bool { false }
    public static func _value(_ object: NSManagedObject, at index: Int) -> Self { _read(object, at: index) ?? _neutral }
    public func _write(to object: NSManagedObject, at index: Int) { _scalar.write(to: object, at: index) }
}

extension Optional: _PersistentScalar where Wrapped: _PersistentScalar {
    public static var _attributeType: NSAttributeType { Wrapped._attributeType }
    public static var _neutral: Wrapped? { nil }
    public static var _examples: [Wrapped?] { Wrapped._examples }
    public static var _isOptional: Bool { true }
    public static func _read(_ object: NSManagedObject, at index: Int) -> Wrapped?? { .some(Wrapped._read(object, at: index)) }
    public var _object: Any? { self?._object }
    public init?(_object: Any) { self = Wrapped(_object: _object) }
    public var _scalar: _ScalarValue { self?._scalar ?? _ScalarValue(.null) }
    public init?(_scalar: _ScalarValue) { self = Wrapped(_scalar: _scalar) }
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
    public static func _read(_ object: NSManagedObject, at index: Int) -> Self? {
        object.managedInteger(at: index).map { Self(truncatingIfNeeded: $0) }
    }
    public var _scalar: _ScalarValue { _ScalarValue(.integer(Int64(truncatingIfNeeded: self))) }
    public init?(_scalar: _ScalarValue) {
        guard case .integer(let number) = _scalar.value else { return nil }
        self = Self(truncatingIfNeeded: number)
    }
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
    public static func _read(_ object: NSManagedObject, at index: Int) -> Bool? { object.managedBool(at: index) }
    public var _scalar: _ScalarValue { _ScalarValue(.bool(self)) }
    public init?(_scalar: _ScalarValue) {
        guard case .bool(let value) = _scalar.value else { return nil }
        self = value
    }
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
    public static func _read(_ object: NSManagedObject, at index: Int) -> Double? { object.managedDouble(at: index) }
    public var _scalar: _ScalarValue { _ScalarValue(.double(self)) }
    public init?(_scalar: _ScalarValue) {
        guard case .double(let value) = _scalar.value else { return nil }
        self = value
    }
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
    public static func _read(_ object: NSManagedObject, at index: Int) -> Float? { object.managedDouble(at: index).map { Float($0) } }
    public var _scalar: _ScalarValue { _ScalarValue(.double(Double(self))) }
    public init?(_scalar: _ScalarValue) {
        guard case .double(let value) = _scalar.value else { return nil }
        self = Float(value)
    }
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
    public static func _read(_ object: NSManagedObject, at index: Int) -> Decimal? {
        object.managedAttribute(at: index).flatMap(Decimal.init(_object:))
    }
    public var _scalar: _ScalarValue { _ScalarValue(.decimal(NSDecimalNumber(decimal: self))) }
    public init?(_scalar: _ScalarValue) {
        guard case .decimal(let value) = _scalar.value else { return nil }
        self = value.decimalValue
    }
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
    public static func _read(_ object: NSManagedObject, at index: Int) -> String? { object.managedString(at: index) }
    public var _scalar: _ScalarValue { _ScalarValue(.text(self)) }
    public init?(_scalar: _ScalarValue) {
        guard case .text(let value) = _scalar.value else { return nil }
        self = value
    }
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
    public static func _read(_ object: NSManagedObject, at index: Int) -> Date? { object.managedDate(at: index) }
    public var _scalar: _ScalarValue { _ScalarValue(.date(timeIntervalSinceReferenceDate)) }
    public init?(_scalar: _ScalarValue) {
        guard case .date(let value) = _scalar.value else { return nil }
        self = Date(timeIntervalSinceReferenceDate: value)
    }
    public var _object: Any? { self }
    public init?(_object object: Any) {
        guard let date = object as? Date else { return nil }
        self = date
    }
}

extension Data: _PersistentScalar {
    public static var _attributeType: NSAttributeType { .binaryDataAttributeType }
    public static var _neutral: Data { Data() }
    public static var _examples: [Data] { [Data([7, 1]), Data([9])] }
    public static func _read(_ object: NSManagedObject, at index: Int) -> Data? { object.managedAttribute(at: index) as? Data }
    public var _scalar: _ScalarValue { _ScalarValue(.data(self)) }
    public init?(_scalar: _ScalarValue) {
        guard case .data(let value) = _scalar.value else { return nil }
        self = value
    }
    public var _object: Any? { self }
    public init?(_object object: Any) {
        guard let data = object as? Data else { return nil }
        self = data
    }
}

extension UUID: _PersistentScalar {
    public static var _attributeType: NSAttributeType { .UUIDAttributeType }
    public static var _neutral: UUID { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }
    public static var _examples: [UUID] {
        [UUID(uuid: (7, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)), UUID(uuid: (9, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))]
    }
    public static func _read(_ object: NSManagedObject, at index: Int) -> UUID? { object.managedAttribute(at: index) as? UUID }
    public var _scalar: _ScalarValue { _ScalarValue(.uuid(self)) }
    public init?(_scalar: _ScalarValue) {
        guard case .uuid(let value) = _scalar.value else { return nil }
        self = value
    }
    public var _object: Any? { self }
    public init?(_object object: Any) {
        guard let uuid = object as? UUID else { return nil }
        self = uuid
    }
}

extension URL: _PersistentScalar {
    public static var _attributeType: NSAttributeType { .URIAttributeType }
    public static var _neutral: URL { URL(fileURLWithPath: "/") }
    public static var _examples: [URL] { [URL(fileURLWithPath: "/probe/7"), URL(fileURLWithPath: "/probe/9")] }
    public static func _read(_ object: NSManagedObject, at index: Int) -> URL? { object.managedAttribute(at: index) as? URL }
    public var _scalar: _ScalarValue { _ScalarValue(.url(self)) }
    public init?(_scalar: _ScalarValue) {
        guard case .url(let value) = _scalar.value else { return nil }
        self = value
    }
    public var _object: Any? { self }
    public init?(_object object: Any) {
        guard let url = object as? URL else { return nil }
        self = url
    }
}
