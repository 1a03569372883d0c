import Foundation
@_spi(GeneratedCode) import Heartwood

/// The values that one model class of a model's class and its superclasses declares.
///
/// 1. Before the insertion, and after a deletion was saved, the values are here, by position.
/// 2. In a context they are in the managed object, which all storages of a model share; `values` is empty then.
/// 3. A storage is used where its model is: models are not Sendable.
open class ModelStorage {
    /// nil for a property that was never set. Models stand for themselves; a to-many relationship is an array of them.
    final var values: [Any?] = []
    final var object: ModelObject?
    /// The places of the class's properties in the object's entity.
    final var places: [PropertyPlace] = []
    /// Records reads in place of answering them, to find out which property a key path reads.
    final var probe: KeyPathProbe?
    /// The identity that the program was told before the insertion.
    final var identity: PersistentIdentifier?
    private final var registrar: ObservationRegistrar?

    init() {}

    /// The class whose properties these are.
    var modelType: ModelType { preconditionFailure("Each storage is a DefaultBackingData.") }

    // MARK: Observation

    public final var observationRegistrar: ObservationRegistrar {
        if let registrar { return registrar }
        let made = ObservationRegistrar()
        registrar = made
        return made
    }

    public final func access<M: PersistentModel, Member>(_ model: M, _ keyPath: KeyPath<M, Member>) {
        observationRegistrar.access(model, keyPath: keyPath)
    }

    /// A model without a registrar has no observers: a property is observed by being read.
    public final func withMutation<M: PersistentModel, Member, Result>(
        of model: M, _ keyPath: KeyPath<M, Member>, _ mutation: () throws -> Result
    ) rethrows -> Result {
        guard let registrar else { return try mutation() }
        return try registrar.withMutation(of: model, keyPath: keyPath, mutation)
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
        if values.count <= position { values.append(contentsOf: repeatElement(nil, count: position + 1 - values.count)) }
        values[position] = value
    }

    // MARK: Identity

    final func identifier(of type: any PersistentModel.Type) -> PersistentIdentifier {
        if let identity { return identity }
        if let object { return PersistentIdentifier(object.objectID) }
        let made = PersistentIdentifier(unsaved: type)
        identity = made
        return made
    }
}

/// Where a managed object has a property of its model.
struct PropertyPlace {
    let property: ModelProperty
    /// The index among the properties of the object's entity.
    let index: Int
    /// nil for a relationship.
    let attribute: AttributePlace?
    /// nil for an attribute, and for a relationship without an inverse.
    let inverse: String?
}
