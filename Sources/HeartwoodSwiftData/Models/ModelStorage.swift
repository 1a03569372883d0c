import Foundation
@_spi(GeneratedCode) import Heartwood

/// The values that one model class of a model's class and its superclasses declares.
///
/// 1. Before the insertion, and after a deletion was saved, the values are here, by position.
/// 2. In a context they are in the managed object, which all storages of a model share; `values` is empty then.
/// 3. A storage is used where its model is: models are not Sendable.
/// 4. `places` belongs to the context's mapped model, which lives as long as the context. No reference is counted: a fetch would count one for each
///    model. It is nil without an object.
/// 5. `objectReference` and `registrar` own references, which a read of a value does not count once more: an object stays until the model has its
///    values back or another object stands for it, a registrar until the storage goes. A read calls no code of the program but that of its own store.
open class ModelStorage {
    @exclusivity(unchecked) final var values: [LooseValue] = []
    @exclusivity(unchecked) private(set) final var objectReference: Unmanaged<ModelObject>?
    /// The context of the object.
    @exclusivity(unchecked) private(set) final var home: ModelObjectContext?
    @exclusivity(unchecked) private final var places: Unmanaged<ClassPlaces>?
    /// What few storages have.
    private final var rare: RareState?
    @exclusivity(unchecked) private final var registrar: Unmanaged<RegistrarBox>?

    /// A registrar is a structure of another library. Reading it from a constant copies no reference.
    private final class RegistrarBox {
        let registrar = ObservationRegistrar()
    }

    private final class RareState {
        var probe: KeyPathProbe?
        var identity: PersistentIdentifier?
    }

    init() {}

    deinit {
        objectReference?.release()
        registrar?.release()
    }

    final var object: ModelObject? { objectReference?.takeUnretainedValue() }

    /// The class whose properties these are.
    var modelType: ModelType { preconditionFailure("Each storage is a DefaultBackingData.") }

    /// Moves the values to a managed object.
    /// - Parameter places: those of the storage's class, of the context's mapped model.
    final func attach(_ object: ModelObject, _ home: ModelObjectContext, _ places: ClassPlaces) {
        attach(object, home, .passUnretained(places))
    }

    @inline(__always)
    private final func attach(_ object: ModelObject, _ home: ModelObjectContext, _ places: Unmanaged<ClassPlaces>?) {
        let former = objectReference
        objectReference = .passRetained(object)
        former?.release()
        // Most objects after another one are of its context.
        if self.home !== home { self.home = home }
        self.places = places
        if !values.isEmpty { values = [] }
    }

    /// Lets another storage of the same class have the same object.
    @inline(__always)
    final func share(_ other: ModelStorage, _ object: ModelObject, _ home: ModelObjectContext) { attach(object, home, other.places) }

    /// Whether nobody else has a storage that the caller refers to by the only reference.
    static func isOnlyReference(_ storage: inout Unmanaged<ModelStorage>) -> Bool {
        withUnsafeMutablePointer(to: &storage) {
            // The bits of an owned reference.
            $0.withMemoryRebound(to: ModelStorage.self, capacity: 1) { isKnownUniquelyReferenced(&$0.pointee) }
        }
    }

    /// Takes the values back.
    final func detach(_ values: [LooseValue]) {
        let former = objectReference
        objectReference = nil
        home = nil
        places = nil
        self.values = values
        former?.release()
    }

    /// The index of a property in the object's entity; nil where the entity lacks it, or without an object.
    @inline(__always)
    final func index(_ position: Int) -> Int? { places?._withUnsafeGuaranteedRef { $0.index(position) } }

    /// The places of all properties of the class in the object's entity.
    final var allPlaces: [PropertyPlace] { places?._withUnsafeGuaranteedRef { $0.all } ?? [] }

    final func place(_ position: Int) -> PropertyPlace? { index(position).flatMap { _ in places?._withUnsafeGuaranteedRef { $0.all[position] } } }

    // MARK: Observation

    public final var observationRegistrar: ObservationRegistrar { box._withUnsafeGuaranteedRef { $0.registrar } }

    private final var box: Unmanaged<RegistrarBox> {
        @inline(__always) get { registrar ?? makeRegistrar() }
    }

    @inline(never)
    private final func makeRegistrar() -> Unmanaged<RegistrarBox> {
        let made = Unmanaged.passRetained(RegistrarBox())
        registrar = made
        return made
    }

    @inline(__always)
    public final func access<M: PersistentModel, Member>(_ model: M, _ keyPath: KeyPath<M, Member>) {
        box._withUnsafeGuaranteedRef { $0.registrar.access(model, keyPath: keyPath) }
    }

    /// A model without a registrar has no observers: a property is observed by being read.
    public final func withMutation<M: PersistentModel, Member, Result>(
        of model: M, _ keyPath: KeyPath<M, Member>, _ mutation: () throws -> Result
    ) rethrows -> Result {
        guard let registrar else { return try mutation() }
        return try registrar._withUnsafeGuaranteedRef { try $0.registrar.withMutation(of: model, keyPath: keyPath, mutation) }
    }

    final var isObserved: Bool { registrar != nil }

    // MARK: Values of no context

    /// The value at a position; `.unset` if none was set.
    final func loose(_ position: Int) -> LooseValue { position < values.count ? values[position] : .unset }

    final func setLoose(_ value: LooseValue, at position: Int) {
        if values.count <= position { makeRoom(for: position) }
        values[position] = value
    }

    /// For several properties at once: an initializer sets one after the other.
    private final func makeRoom(for position: Int) {
        let count = max(position + 1, Self.valuesMin)
        if values.isEmpty {
            values = [LooseValue](repeating: .unset, count: count)
        } else {
            while values.count < count { values.append(.unset) }
        }
    }

    private static let valuesMin = 8

    // MARK: Rare state

    /// Records reads in place of answering them, to find out which property a key path reads.
    final var probe: KeyPathProbe? {
        get { rare?.probe }
        set { if rare != nil || newValue != nil { ownRareState().probe = newValue } }
    }

    /// The identity that the program was told before the insertion.
    final var identity: PersistentIdentifier? {
        get { rare?.identity }
        set { if rare != nil || newValue != nil { ownRareState().identity = newValue } }
    }

    private final func ownRareState() -> RareState {
        if let rare { return rare }
        let made = RareState()
        rare = made
        return made
    }

    final func identifier(of type: any PersistentModel.Type) -> PersistentIdentifier {
        if let identity { return identity }
        if let object { return PersistentIdentifier(object.objectID) }
        let made = PersistentIdentifier(unsaved: type)
        identity = made
        return made
    }
}
