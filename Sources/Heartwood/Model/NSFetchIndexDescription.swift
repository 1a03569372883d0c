import Foundation

/// How an index compares.
public enum NSFetchIndexElementType: UInt, Sendable {
    /// By the order of values; text by its UTF-8 bytes.
    case binary = 0
}

/// One property of a fetch index.
/// Source: https://developer.apple.com/documentation/coredata/nsfetchindexelementdescription
open class NSFetchIndexElementDescription: NSObject, @unchecked Sendable {
    public final let property: NSPropertyDescription?
    public final let propertyName: String?
    public final let collationType: NSFetchIndexElementType
    public final var isAscending = true

    public init(property: NSPropertyDescription, collationType: NSFetchIndexElementType) {
        self.property = property
        propertyName = property.name
        self.collationType = collationType
    }
}

/// An index that a store keeps for an entity, so that fetches by its properties, or sorted by them, visit few rows.
/// Source: https://developer.apple.com/documentation/coredata/nsfetchindexdescription
open class NSFetchIndexDescription: NSObject, @unchecked Sendable {
    public final let name: String
    public final let elements: [NSFetchIndexElementDescription]

    public init(name: String, elements: [NSFetchIndexElementDescription]?) {
        self.name = name
        self.elements = elements ?? []
    }
}
