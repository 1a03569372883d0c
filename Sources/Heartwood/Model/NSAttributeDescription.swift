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
}

/// An attribute of an entity.
/// Source: https://developer.apple.com/documentation/coredata/nsattributedescription
open class NSAttributeDescription: NSPropertyDescription, @unchecked Sendable {
    public final var attributeType = NSAttributeType.undefinedAttributeType { willSet { checkEditable() } }
    /// The value that a newly inserted object has.
    public final var defaultValue: Any? { willSet { checkEditable() } }
    /// Whether binary data that is long is kept outside its object's row, so that a change of another attribute does not write
    /// it again. In the same file: the name is Core Data's, which has files beside the store. No meaning for other types.
    /// Source: https://developer.apple.com/documentation/coredata/nsattributedescription/allowsexternalbinarydatastorage
    public final var allowsExternalBinaryDataStorage = false { willSet { checkEditable() } }

    /// The modern spelling of `attributeType`.
    public struct AttributeType: RawRepresentable, Hashable, Sendable {
        public let rawValue: UInt

        public init(rawValue: UInt) {
            self.rawValue = rawValue
        }

        public static let integer16 = AttributeType(rawValue: 100)
        public static let integer32 = AttributeType(rawValue: 200)
        public static let integer64 = AttributeType(rawValue: 300)
        public static let decimal = AttributeType(rawValue: 400)
        public static let double = AttributeType(rawValue: 500)
        public static let float = AttributeType(rawValue: 600)
        public static let string = AttributeType(rawValue: 700)
        public static let boolean = AttributeType(rawValue: 800)
        public static let date = AttributeType(rawValue: 900)
        public static let binaryData = AttributeType(rawValue: 1000)
        public static let uuid = AttributeType(rawValue: 1100)
        public static let uri = AttributeType(rawValue: 1200)
        public static let transformable = AttributeType(rawValue: 1800)
        public static let objectID = AttributeType(rawValue: 2000)
    }

    public final var type: AttributeType {
        get { AttributeType(rawValue: attributeType.rawValue) }
        set { attributeType = NSAttributeType(rawValue: newValue.rawValue) ?? .undefinedAttributeType }
    }
}
