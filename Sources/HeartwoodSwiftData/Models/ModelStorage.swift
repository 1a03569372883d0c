import Foundation
@_spi(GeneratedCode) import Heartwood

/// The values that one model class of a model's class and its superclasses declares.
///
/// 1. Before the insertion, and after a deletion was saved, the values are here, by position.
/// 2. In a context they are in the managed object, which all storages of a model share; `values` is empty then.
/// 3. A storage is used where its model is: models are not Sendable.
open class ModelStorage {
    /// nil for a property that was never set. Models stand for themselves; a to-many relationship is an array of them.
    @exclusivity(unchecked) final var values: [Any?] = []
    @exclusivity(unchecked) private(set) final var object: ModelObject?
    /// The context of the object.
    @exclusivity(unchecked) private(set) final var home: ModelObjectContext?
    /// The places of the class's properties in the object's entity.
    @exclusivity(unchecked) private(set) final var places: ClassPlaces = .none
    /// Records reads in place of answering them, to find out which property a key path reads.
    final var probe: KeyPathProbe?
    /// The identity that the program was told before the insertion.
    final var identity: PersistentIdentifier?
    @exclusivity(unchecked) private final var registrar: RegistrarBox?

    /// A registrar is a structure of another library, which is copied by calls.
    private final class RegistrarBox {
        let registrar = ObservationRegistrar()
    }

    init() {}

    /// The class whose properties these are.
    var modelType: ModelType { preconditionFailure("Each storage is a DefaultBackingData.") }

    /// Moves the values to a managed object.
    final func attach(_ object: ModelObject, _ home: ModelObjectContext, _ places: ClassPlaces) {
        self.object = object
        self.home = home
        self.places = places
        values = []
    }

    /// Takes the values back.
    final func detach(_ values: [Any?]) {
        object = nil
        home = nil
        places = .none
        self.values = values
    }

    // MARK: Observation

    public final var observationRegistrar: ObservationRegistrar { box.registrar }

    private final var box: RegistrarBox {
        if let registrar { return registrar }
        let made = RegistrarBox()
        registrar = made
        return made
    }

    public final func access<M: PersistentModel, Member>(_ model: M, _ keyPath: KeyPath<M, Member>) {
        box.registrar.access(model, keyPath: keyPath)
    }

    /// A model without a registrar has no observers: a property is observed by being read.
    public final func withMutation<M: PersistentModel, Member, Result>(
        of model: M, _ keyPath: KeyPath<M, Member>, _ mutation: () throws -> Result
    ) rethrows -> Result {
        guard let registrar else { return try mutation() }
        return try registrar.registrar.withMutation(of: model, keyPath: keyPath, mutation)
    }

    final var isObserved: Bool { registrar != nil }

    // MARK: Values of no context

    /// The value at a position; nil if none was set.
    final func loose<Value>(_ position: Int) -> Value? {
        if let probe { return probe.value(of: self, at: position) }
        guard position < values.count, let value = values[position] else { return nil }
        return value as? Value
    }

    final func setLoose(_ value: Any?, at position: Int) {
        if values.count <= position { makeRoom(for: position) }
        values[position] = value
    }

    /// For several properties at once: an initializer sets one after the other.
    private final func makeRoom(for position: Int) {
        let count = max(position + 1, Self.valuesMin)
        values.reserveCapacity(count)
        while values.count < count { values.append(nil) }
    }

    private static let valuesMin = 8

    // MARK: Identity

    final func identifier(of type: any PersistentModel.Type) -> PersistentIdentifier {
        if let identity { return identity }
        if let object { return PersistentIdentifier(object.objectID) }
        let made = PersistentIdentifier(unsaved: type)
        identity = made
        return made
    }
}

/// Where the objects of an entity have the properties of one model class, by position.
final class ClassPlaces: @unchecked Sendable {
    // Unchecked: immutable; the memory is freed with the last user.

    static let none = ClassPlaces([])
    let all: [PropertyPlace]
    /// The index of each place: an accessor needs no more.
    private let indexes: UnsafeMutablePointer<Int>

    init(_ all: [PropertyPlace]) {
        self.all = all
        indexes = .allocate(capacity: all.count)
        for (position, place) in all.enumerated() { indexes[position] = place.index }
    }

    deinit { indexes.deallocate() }

    /// nil where the entity lacks the property.
    @inline(__always)
    func index(_ position: Int) -> Int? {
        guard position < all.count, indexes[position] >= 0 else { return nil }
        return indexes[position]
    }

    func place(_ position: Int) -> PropertyPlace? { index(position).map { _ in all[position] } }
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
}
