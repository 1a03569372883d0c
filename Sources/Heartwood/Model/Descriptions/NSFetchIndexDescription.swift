import Foundation

/// How an index compares.
/// Source: https://developer.apple.com/documentation/coredata/nsfetchindexelementtype
public enum NSFetchIndexElementType: UInt, Sendable {
    /// By the order of values; text by its UTF-8 bytes.
    case binary = 0
    /// For ranges in several dimensions. No store here has such an index: it is left out, and fetches scan.
    case rTree = 1
}

/// One part of a fetch index: an attribute, a to-one relationship, or the expression of an `NSExpressionDescription`.
/// Source: https://developer.apple.com/documentation/coredata/nsfetchindexelementdescription
open class NSFetchIndexElementDescription: NSObject, NSCopying, @unchecked Sendable {
    // Unchecked: see NSPropertyDescription.

    /// What is indexed. Of an expression a result type of text keeps texts alone, and any other one numbers and dates.
    open var property: NSPropertyDescription? { willSet { indexDescription?.checkEditable() } }
    open var collationType: NSFetchIndexElementType { willSet { indexDescription?.checkEditable() } }
    open var isAscending = true { willSet { indexDescription?.checkEditable() } }
    /// The index that it is part of.
    public internal(set) final weak var indexDescription: NSFetchIndexDescription?

    public init(property: NSPropertyDescription, collationType: NSFetchIndexElementType) {
        self.property = property
        self.collationType = collationType
    }

    open var propertyName: String? { property?.name }

    /// A copy that is part of no index.
    open func copy(with zone: NSZone? = nil) -> Any { twin() }

    fileprivate final func twin() -> NSFetchIndexElementDescription {
        let twin = NSFetchIndexElementDescription(property: property ?? NSPropertyDescription(), collationType: collationType)
        twin.property = property
        twin.isAscending = isAscending
        return twin
    }
}

/// An index that a store keeps for an entity and those below it, so that fetches by its elements, or sorted by them, visit few rows.
///
/// An index that is added to a model changes no version hash: a store that lacks it, and is opened for writing, builds it in the
/// background, and one that the model does not have any more is removed. Fetches go another way until it is there.
/// Source: https://developer.apple.com/documentation/coredata/nsfetchindexdescription
open class NSFetchIndexDescription: NSObject, NSCopying, @unchecked Sendable {
    // Unchecked: see NSPropertyDescription.

    /// Unique among the entity's indexes, inherited ones included: of two of one name the ancestor's is kept.
    open var name: String { willSet { checkEditable() } }
    open var elements: [NSFetchIndexElementDescription] {
        willSet { checkEditable() }
        didSet { adoptElements() }
    }
    /// The entity that states the index.
    open var entity: NSEntityDescription? { owner?.takeUnretainedValue() }
    /// The entity takes it back before it goes; see `NSPropertyDescription.owner`.
    final var owner: Unmanaged<NSEntityDescription>?
    /// The objects that the index has; nil for all. It compares attributes of the entity with constants and each other.
    ///
    /// The index serves a fetch whose predicate has each part of this one, joined by AND: as it is written here, or as a narrower range of
    /// the same attribute. What else might follow from a predicate is not looked for.
    open var partialIndexPredicate: NSPredicate? { willSet { checkEditable() } }

    public init(name: String, elements: [NSFetchIndexElementDescription]?) {
        self.name = name
        self.elements = elements ?? []
        super.init()
        adoptElements()
    }

    /// A copy that can be changed, with elements of its own, and that no entity states.
    open func copy(with zone: NSZone? = nil) -> Any { twin() }

    final func twin() -> NSFetchIndexDescription {
        let twin = NSFetchIndexDescription(name: name, elements: elements.map { $0.twin() })
        twin.partialIndexPredicate = partialIndexPredicate
        return twin
    }

    private func adoptElements() {
        for element in elements { element.indexDescription = self }
    }

    fileprivate final func checkEditable() {
        precondition(entity?.isFrozen != true, ModelMessages.frozen)
    }
}
