import RecordLog

/// The kind of a property's values, for the switches at run time.
package enum PropertyKind: UInt8 {
    case bool, int16, int32, int64, float, double, decimal, string, date, data, externalData, uuid, uri, transformable, objectID, undefined
    case toOne, toMany

    package init(_ property: NSPropertyDescription) {
        switch property {
        case let attribute as NSAttributeDescription:
            self = switch attribute.attributeType {
            case .booleanAttributeType: .bool
            case .integer16AttributeType: .int16
            case .integer32AttributeType: .int32
            case .integer64AttributeType: .int64
            case .floatAttributeType: .float
            case .doubleAttributeType: .double
            case .decimalAttributeType: .decimal
            case .stringAttributeType: .string
            case .dateAttributeType: .date
            case .binaryDataAttributeType: attribute.allowsExternalBinaryDataStorage ? .externalData : .data
            case .UUIDAttributeType: .uuid
            case .URIAttributeType: .uri
            case .transformableAttributeType: .transformable
            case .objectIDAttributeType: .objectID
            // Holds any object that can be archived.
            case .undefinedAttributeType where !attribute.isTransient: .transformable
            default: .undefined
            }
        case let relationship as NSRelationshipDescription:
            self = relationship.isToMany ? .toMany : .toOne
        default:
            self = .undefined
        }
    }

    /// Whether a class may declare the property with a non-optional C number type.
    var isScalar: Bool { rawValue <= PropertyKind.double.rawValue }

    var isRelationship: Bool { self == .toOne || self == .toMany }

    /// The column of a persistent property of this kind in its entity's table.
    package var columnType: ColumnType? {
        switch self {
        case .bool: .bool
        case .int16: .int16
        case .int32: .int32
        case .int64: .int64
        case .float: .float
        case .double: .double
        case .decimal: .decimal
        case .string, .uri: .text
        case .date: .date
        case .data, .transformable: .bytes
        case .externalData: .value
        case .uuid: .uuid
        case .toOne: .reference
        case .toMany, .objectID, .undefined: nil
        }
    }
}
