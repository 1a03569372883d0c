/// Where the objects of an entity have the properties of one model class, by position.
final class ClassPlaces: @unchecked Sendable {
    // Unchecked: immutable; the memory is freed with the last user.

    static let none = ClassPlaces([])
    let all: [PropertyPlace]
    private let count: Int
    /// The index of each place: an accessor needs no more.
    private let indexes: UnsafeMutablePointer<Int>

    init(_ all: [PropertyPlace]) {
        self.all = all
        count = all.count
        indexes = .allocate(capacity: all.count)
        for (position, place) in all.enumerated() { indexes[position] = place.index }
    }

    deinit { indexes.deallocate() }

    /// nil where the entity lacks the property.
    @inline(__always)
    func index(_ position: Int) -> Int? {
        guard position < count, indexes[position] >= 0 else { return nil }
        return indexes[position]
    }
}

/// Where a managed object has a property of its model.
struct PropertyPlace {
    let property: ModelProperty
    /// The index among the properties of the object's entity.
    let index: Int
    /// nil for a relationship.
    let attribute: AttributePlace?
    /// How the entity keeps the attribute's values: the form may be a store's, and none of the property's type; nil for a relationship.
    let coding: (any AttributeCoding)?
    /// nil for an attribute, and for a relationship without an inverse.
    let inverse: String?

    /// Whether the property is a scalar, which objects and models of no context keep in one form.
    var isScalar: Bool { coding?.form.isScalar ?? false }
}
