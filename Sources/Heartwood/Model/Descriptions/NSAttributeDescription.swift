import Foundation

/// The type of an attribute's values. The raw values are Core Data's.
public enum NSAttributeType: UInt, Sendable {
    case undefinedAttributeType = 0
    case integer16AttributeType = 100
    case integer32AttributeType = 200
    case integer64AttributeType = 300
    case decimalAttributeType = 400
    case doubleAttributeType = 500
    case floatAttributeType = 600
    case stringAttributeType = 700
    case booleanAttributeType = 800
    case dateAttributeType = 900
    case binaryDataAttributeType = 1000
    case UUIDAttributeType = 1100
    case URIAttributeType = 1200
    case transformableAttributeType = 1800
    case objectIDAttributeType = 2000
    case compositeAttributeType = 2100
}

/// An attribute of an entity.
/// Source: https://developer.apple.com/documentation/coredata/nsattributedescription
open class NSAttributeDescription: NSPropertyDescription, @unchecked Sendable {
    open var attributeType = NSAttributeType.undefinedAttributeType { willSet { checkEditable() } }
    /// The value of newly inserted objects.
    open var defaultValue: Any? { willSet { checkEditable() } }
    /// Whether long binary data is kept outside its object's row, so that changes of other attributes do not write it again. It stays in the
    /// same file; the property's name comes from Core Data, which puts it in files beside the store. Ignored for other types.
    /// Source: https://developer.apple.com/documentation/coredata/nsattributedescription/allowsexternalbinarydatastorage
    open var allowsExternalBinaryDataStorage = false { willSet { checkEditable() } }
    /// The name of the `ValueTransformer` that turns a transformable's value into bytes and back. Each save and each read calls it. If it is not
    /// registered or fails, a save throws 1550 and a read gives nil. Without a name, and with the name of a transformer of Foundation's, values
    /// are archived: Foundation's collections, strings, numbers, dates, data, URLs and UUIDs, and instances of the secure-coding class that
    /// `attributeValueClassName` names.
    /// Source: https://developer.apple.com/documentation/coredata/nsattributedescription/valuetransformername
    public final var valueTransformerName: String? { willSet { checkEditable() } }
    /// The name of the class of the attribute's values. For a transformable the model states it, otherwise the type determines it.
    /// Source: https://developer.apple.com/documentation/coredata/nsattributedescription/attributevalueclassname
    public final var attributeValueClassName: String? {
        get { declaredValueClassName ?? attributeType.codec.valueClassName }
        set {
            checkEditable()
            declaredValueClassName = newValue
        }
    }
    private(set) final var declaredValueClassName: String?
    /// Whether the history keeps the value when the object is deleted. Model files can state it.
    open var preservesValueInHistoryOnDeletion = false { willSet { checkEditable() } }

    open override func copy(with zone: NSZone? = nil) -> Any { NSAttributeDescription().taking(self) }

    override func take(_ original: NSPropertyDescription) {
        super.take(original)
        guard let original = original as? NSAttributeDescription else { return }
        attributeType = original.attributeType
        defaultValue = original.defaultValue
        allowsExternalBinaryDataStorage = original.allowsExternalBinaryDataStorage
        valueTransformerName = original.valueTransformerName
        declaredValueClassName = original.declaredValueClassName
        preservesValueInHistoryOnDeletion = original.preservesValueInHistoryOnDeletion
    }

    /// The newer spelling of `attributeType`.
    public struct AttributeType: RawRepresentable, Hashable, Sendable {
        public var rawValue: NSAttributeType

        public init(rawValue: NSAttributeType) {
            self.rawValue = rawValue
        }

        public static let undefined = AttributeType(rawValue: .undefinedAttributeType)
        public static let integer16 = AttributeType(rawValue: .integer16AttributeType)
        public static let integer32 = AttributeType(rawValue: .integer32AttributeType)
        public static let integer64 = AttributeType(rawValue: .integer64AttributeType)
        public static let decimal = AttributeType(rawValue: .decimalAttributeType)
        public static let double = AttributeType(rawValue: .doubleAttributeType)
        public static let float = AttributeType(rawValue: .floatAttributeType)
        public static let string = AttributeType(rawValue: .stringAttributeType)
        public static let boolean = AttributeType(rawValue: .booleanAttributeType)
        public static let date = AttributeType(rawValue: .dateAttributeType)
        public static let binaryData = AttributeType(rawValue: .binaryDataAttributeType)
        public static let uuid = AttributeType(rawValue: .UUIDAttributeType)
        public static let uri = AttributeType(rawValue: .URIAttributeType)
        public static let transformable = AttributeType(rawValue: .transformableAttributeType)
        public static let objectID = AttributeType(rawValue: .objectIDAttributeType)
        public static let composite = AttributeType(rawValue: .compositeAttributeType)
    }

    public final var type: AttributeType {
        get { AttributeType(rawValue: attributeType) }
        set { attributeType = newValue.rawValue }
    }
}
