import Heartwood

/// Makes models of one class, one after the other.
///
/// 1. The class's `init(backingData:)` copies what it is given, so one carrier serves all models, unless a class written by hand keeps it.
/// 2. `backingData` owns the only reference to the carrier. It is made once, and the carrier is handled as a storage: the class is generic, and each
///    use of its name would search for its metadata.
struct ModelMaker<Model: PersistentModel> {
    private let home: ModelObjectContext
    private let type = ModelType.of(Model.self)
    private var carrier: Unmanaged<ModelStorage>
    private var backingData: any BackingData<Model>
    /// The entity of the class itself, and its places.
    private var entity: NSEntityDescription?
    private var places = ClassPlaces.none
    /// The same entity, if an object may have no readable value for a property that must have one.
    private var fragile: MappedEntity?

    init(_ home: ModelObjectContext) {
        self.home = home
        let made = DefaultBackingData<Model>()
        carrier = .passUnretained(made)
        backingData = made
    }

    /// The model of an object: the one that the program holds, or a new one; nil where it is of another class.
    /// - Throws: `SwiftDataError.modelValidationFailure` where the store has no readable value for a property that must have one.
    mutating func model(of object: ModelObject) throws -> Model? { try model(of: object, nil) }

    /// - Parameter isHeld: whether the object holds a new model; the caller lists it then. nil if that is to be done here.
    mutating func model(of object: ModelObject, _ isHeld: Bool?) throws -> Model? {
        if let known: Model? = object.known() { return known }
        guard object.entity === entity || learnEntity(of: object) else {
            if let property = home.entity(of: object).unreadable(object) { throw SwiftDataError.unreadable(property, of: object) }
            return home.model(of: object) as? Model
        }
        if let property = fragile?.unreadable(object) { throw SwiftDataError.unreadable(property, of: object) }
        carrier._withUnsafeGuaranteedRef { $0.attach(object, home, places) }
        let model = Model(backingData: backingData)
        switch isHeld {
        case true: object.hold(model)
        case false: object.refer(to: model)
        case nil: home.register(model, of: object)
        }
        if !ModelStorage.isOnlyReference(&carrier) { self = ModelMaker(home) }
        return model
    }

    private mutating func learnEntity(of object: ModelObject) -> Bool {
        let found = home.entity(of: object)
        guard found.type === type else { return false }
        entity = found.entity
        places = found.places(of: type)
        fragile = found.isFragile ? found : nil
        return true
    }
}
