internal import HeartwoodFileReading
import RecordLog

/// One type of attribute: its facts, and the conversions of single values.
///
/// Code that runs for each of many rows, or for each access, has a `switch` over the type instead, which the compiler sees through.
/// AttributeSwitchTests lists these files, each with its reason.
final class AttributeCodec: Sendable {
    /// The numbers of a type.
    enum Number { case flag, whole, fraction }
    /// The form in which a row gives a column's value, without an object around it.
    enum RawValue { case integer, double, decimal }

    let kind: PropertyKind
    /// The type in models and in generated code.
    let stated: ModelAttributeType
    /// The name in messages.
    let displayName: String
    /// The column in an entity's table, with its width; nil for a type that tables cannot have.
    let column: ColumnType?
    let raw: RawValue?
    /// nil for a type that is no number.
    let number: Number?
    /// Whether a predicate can compare values of the type as they are.
    let isComparable: Bool
    /// The default value of a model file's text: nil if the text does not fit. Without it the type has no defaults.
    let parse: (@Sendable (String) -> Any?)?
    /// A number of another type as this one, nil if it does not fit. Of numbers only.
    let convert: (@Sendable (ManagedValue) -> ManagedValue?)?
    /// The object of a computed number in a result; nil for the number's own.
    let result: @Sendable (PredicateNumber) -> Any?
    /// The meaning of a limit in a model file: the keys behind the attribute, and the value that they are compared with.
    let limit: @Sendable (Double) -> (keys: [String], value: PredicateValue)?
    /// A value on which no accessor should trap.
    let neutral: @Sendable () -> ManagedValue
    /// Values that distinguish an attribute from a computation on it: another case, a fraction, the other sign. A negative integer is the last.
    let probes: @Sendable () -> [ManagedValue]

    init(
        _ kind: PropertyKind, _ stated: ModelAttributeType, displayName: String? = nil, _ column: ColumnType?, raw: RawValue? = nil,
        number: Number? = nil, isComparable: Bool = true, parse: (@Sendable (String) -> Any?)? = nil,
        convert: (@Sendable (ManagedValue) -> ManagedValue?)? = nil, result: @escaping @Sendable (PredicateNumber) -> Any? = { _ in nil },
        limit: @escaping @Sendable (Double) -> (keys: [String], value: PredicateValue)? = { _ in nil },
        neutral: @escaping @Sendable () -> ManagedValue = { .null }, probes: @escaping @Sendable () -> [ManagedValue] = { [] }
    ) {
        self.kind = kind
        self.stated = stated
        self.displayName = displayName ?? stated.name
        self.column = column
        self.raw = raw
        self.number = number
        self.isComparable = isComparable
        self.parse = parse
        self.convert = convert
        self.result = result
        self.limit = limit
        self.neutral = neutral
        self.probes = probes
    }

    var type: NSAttributeType { NSAttributeType(rawValue: stated.number) ?? .undefinedAttributeType }
    var canHaveDefault: Bool { parse != nil }
    var isScalar: Bool { stated.isScalar }
    var valueClassName: String? { stated.valueClass }

    /// The first type of attribute that has such a column.
    static func first(_ column: ColumnType) -> AttributeCodec? {
        let order: [AttributeCodec] = [bool, int16, int32, int64, float, double, decimal, string, date, data, externalData, uuid]
        return order.first { $0.column == column }
    }
}

extension NSAttributeType {
    var codec: AttributeCodec {
        switch self {
        case .undefinedAttributeType: .undefined
        case .integer16AttributeType: .int16
        case .integer32AttributeType: .int32
        case .integer64AttributeType: .int64
        case .decimalAttributeType: .decimal
        case .doubleAttributeType: .double
        case .floatAttributeType: .float
        case .stringAttributeType: .string
        case .booleanAttributeType: .bool
        case .dateAttributeType: .date
        case .binaryDataAttributeType: .data
        case .UUIDAttributeType: .uuid
        case .URIAttributeType: .uri
        case .transformableAttributeType: .transformable
        case .objectIDAttributeType: .objectID
        case .compositeAttributeType: .composite
        }
    }

    /// The type's name in model files and model editors.
    package var modelFileName: String { codec.stated.name }
}

extension PropertyKind {
    /// nil for a relationship.
    var codec: AttributeCodec? {
        switch self {
        case .bool: .bool
        case .int16: .int16
        case .int32: .int32
        case .int64: .int64
        case .float: .float
        case .double: .double
        case .decimal: .decimal
        case .string: .string
        case .date: .date
        case .data: .data
        case .externalData: .externalData
        case .uuid: .uuid
        case .uri: .uri
        case .transformable: .transformable
        case .objectID: .objectID
        case .undefined: .undefined
        case .toOne, .toMany: nil
        }
    }

    /// The column of a persistent property of this kind in its entity's table.
    package var columnType: ColumnType? { self == .toOne ? .reference : codec?.column }

    /// The kind's name in messages.
    var displayName: String { codec?.displayName ?? (self == .toOne ? "a to-one relationship" : "a to-many relationship") }

    /// Whether values can be added. A Boolean is a number, but none to count with.
    var isArithmetic: Bool { codec?.number == .whole || codec?.number == .fraction }

    /// Whether a predicate can read a value of this kind from the object's own row.
    var isComparableInRow: Bool { self != .externalData && codec?.isComparable == true }
}
