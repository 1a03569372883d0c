import Foundation

/// The order of an index element.
/// Source: https://developer.apple.com/documentation/coredata/nsfetchindexelementtype
public enum NSFetchIndexElementType: UInt, Sendable {
    /// The order of values; text by its UTF-8 bytes.
    case binary = 0
    /// For ranges in several dimensions. Heartwood's stores do not build such an index, and fetches scan instead.
    case rTree = 1
    /// For searches in texts, an addition of Heartwood: CONTAINS, BEGINSWITH, ENDSWITH, LIKE, MATCHES, equality without case or diacritics, and
    /// `NSFetchRequest.textSearch`. All elements of such an index must have this type and be stored attributes of text, or expressions that are
    /// the path of a composite attribute's element. Stores do not build any other one, and fetches scan instead. `isAscending` has no effect.
    case text = 1000
}

/// One part of a fetch index: an attribute, a to-one relationship, or the expression of an `NSExpressionDescription`.
/// Source: https://developer.apple.com/documentation/coredata/nsfetchindexelementdescription
open class NSFetchIndexElementDescription: NSObject, NSCopying, @unchecked Sendable {
    // Unchecked: see NSPropertyDescription.

    /// The indexed property. An expression whose result type is text indexes only texts; with any other result type only numbers and dates.
    open var property: NSPropertyDescription? { willSet { indexDescription?.checkEditable() } }
    open var collationType: NSFetchIndexElementType { willSet { indexDescription?.checkEditable() } }
    open var isAscending = true { willSet { indexDescription?.checkEditable() } }
    /// The index that contains this element.
    public internal(set) final weak var indexDescription: NSFetchIndexDescription?

    public init(property: NSPropertyDescription, collationType: NSFetchIndexElementType) {
        self.property = property
        self.collationType = collationType
    }

    open var propertyName: String? { property?.name }

    /// Returns a copy that belongs to no index.
    open func copy(with zone: NSZone? = nil) -> Any { duplicate() }

    fileprivate final func duplicate() -> NSFetchIndexElementDescription {
        let duplicate = NSFetchIndexElementDescription(property: property ?? NSPropertyDescription(), collationType: collationType)
        duplicate.property = property
        duplicate.isAscending = isAscending
        return duplicate
    }
}

/// An index of an entity and its subentities in a store. Fetches that filter or sort by its elements read few rows.
///
/// Adding or removing an index changes no version hash. A store opened for writing builds a missing index in the background and drops one
/// that the model no longer has. Until an index is built, fetches use other plans.
/// Source: https://developer.apple.com/documentation/coredata/nsfetchindexdescription
open class NSFetchIndexDescription: NSObject, NSCopying, @unchecked Sendable {
    // Unchecked: see NSPropertyDescription.

    /// Unique among the entity's indexes, inherited ones included. Of two with the same name the ancestor's is kept.
    open var name: String { willSet { checkEditable() } }
    open var elements: [NSFetchIndexElementDescription] {
        willSet { checkEditable() }
        didSet { adoptElements() }
    }
    /// The entity to which the index belongs.
    open var entity: NSEntityDescription? { owner?.takeUnretainedValue() }
    /// The entity clears this when it is freed; see `NSPropertyDescription.owner`.
    final var owner: Unmanaged<NSEntityDescription>?
    /// The condition that an object must meet to be in the index; nil for all objects. It compares attributes of the entity with constants and
    /// with each other.
    ///
    /// The index serves a fetch whose predicate contains each AND-joined part of this one, either in the same form or as a narrower range of the
    /// same attribute. No other implication is recognized.
    open var partialIndexPredicate: NSPredicate? { willSet { checkEditable() } }

    public init(name: String, elements: [NSFetchIndexElementDescription]?) {
        self.name = name
        self.elements = elements ?? []
        super.init()
        adoptElements()
    }

    /// Returns an editable copy with copies of the elements. It belongs to no entity.
    open func copy(with zone: NSZone? = nil) -> Any { duplicate() }

    final func duplicate() -> NSFetchIndexDescription {
        let duplicate = NSFetchIndexDescription(name: name, elements: elements.map { $0.duplicate() })
        duplicate.partialIndexPredicate = partialIndexPredicate
        return duplicate
    }

    private func adoptElements() {
        for element in elements { element.indexDescription = self }
    }

    fileprivate final func checkEditable() {
        demand(entity?.isImmutable != true, ModelMessages.immutable)
    }
}
