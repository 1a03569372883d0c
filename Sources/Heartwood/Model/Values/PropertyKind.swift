/// The kind of a property's values, for the switches at run time.
package enum PropertyKind: UInt8 {
    case bool, int16, int32, int64, float, double, decimal, string, date, data, externalData, uuid, uri, transformable, objectID, undefined
    case toOne, toMany

    package init(_ property: NSPropertyDescription) {
        switch property {
        case let attribute as NSAttributeDescription:
            let kind = attribute.attributeType.codec.kind
            if kind == .data, attribute.allowsExternalBinaryDataStorage {
                self = .externalData
            } else {
                // An undefined type holds any object that can be archived.
                self = attribute.attributeType == .undefinedAttributeType && !attribute.isTransient ? .transformable : kind
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
}
