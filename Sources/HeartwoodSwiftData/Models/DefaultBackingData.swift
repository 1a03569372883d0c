import Heartwood

/// The backing data of every model: the storage of one model class.
///
/// `@Model` gives each class one. It also serves as the `BackingData` of the interface, whose calls by key path find the position first; the
/// accessors of `@Model` use positions.
public final class DefaultBackingData<Model: PersistentModel>: ModelStorage, BackingData {
    public override init() { super.init() }

    public init(for modelType: Model.Type) { super.init() }

    public var _storage: ModelStorage? { self }

    override var modelType: ModelType { ModelType.of(Model.self) }

    public var persistentModelID: PersistentIdentifier? {
        get { identity ?? object.map(\.snapshotIdentifier) }
        set { if object == nil { identity = newValue } }
    }

    /// The name of the model's entity.
    public var metadata: Any { modelType.name }

    /// Takes over the values of other backing data, as a model's `init(backingData:)` does.
    public func adopt(_ backingData: some BackingData) {
        guard let other = backingData._storage, other !== self else { return }
        if let object = other.object, let home = other.home {
            // The places of one class serve its own storage alone.
            if type(of: other) == DefaultBackingData<Model>.self {
                share(other, object, home)
            } else {
                attach(object, home, home.entity(of: object).places(of: modelType))
            }
            return
        }
        probe = other.probe
        identity = other.identity
        if other.modelType === modelType { values = other.values }
    }

    /// The same values for a subclass's properties.
    public func _generateCurrentClassBackingData<CurrentClass: PersistentModel>() -> any BackingData<CurrentClass> {
        let made = DefaultBackingData<CurrentClass>()
        made.adopt(self)
        return made
    }

    /// The same values for a superclass's properties.
    public func _superClassBackingData<SuperClass: PersistentModel>(of type: any PersistentModel.Type) -> any BackingData<SuperClass> {
        let made = DefaultBackingData<SuperClass>()
        made.adopt(self)
        return made
    }

    // MARK: By key path

    @_disfavoredOverload
    public func getValue<Value: Decodable>(forKey keyPath: KeyPath<Model, Value>) -> Value {
        position(keyPath).map { value(at: $0) } ?? PropertyDefaults.neutral()
    }
    public func getValue<Value: PersistentModel>(forKey keyPath: KeyPath<Model, Value>) -> Value {
        position(keyPath).map { value(at: $0) } ?? PropertyDefaults.neutralModel()
    }
    public func getValue<Value: PersistentModel>(forKey keyPath: KeyPath<Model, Value?>) -> Value? { position(keyPath).flatMap { value(at: $0) } }
    public func getValue<Value: RelationshipCollection, OtherModel>(forKey keyPath: KeyPath<Model, Value>) -> Value
    where OtherModel == Value.PersistentElement { position(keyPath).map { value(at: $0) } ?? Value(_models: []) }
    public func getValue<Value: Decodable & RelationshipCollection, OtherModel>(forKey keyPath: KeyPath<Model, Value>) -> Value
    where OtherModel == Value.PersistentElement { position(keyPath).map { value(at: $0) } ?? Value(_models: []) }
    public func getTransformableValue<Value>(forKey keyPath: KeyPath<Model, Value>) -> Value {
        position(keyPath).map { transformableValue(at: $0) } ?? PropertyDefaults.neutral()
    }

    @_disfavoredOverload
    public func setValue<Value: Encodable>(forKey keyPath: KeyPath<Model, Value>, to newValue: Value) {
        if let position = position(keyPath) { set(newValue, at: position) }
    }
    public func setValue<Value: PersistentModel>(forKey keyPath: KeyPath<Model, Value>, to newValue: Value) {
        if let position = position(keyPath) { set(newValue, of: nil, at: position) }
    }
    public func setValue<Value: PersistentModel>(forKey keyPath: KeyPath<Model, Value?>, to newValue: Value?) {
        if let position = position(keyPath) { set(newValue, of: nil, at: position) }
    }
    public func setValue<Value: RelationshipCollection, OtherModel>(forKey keyPath: KeyPath<Model, Value>, to newValue: Value)
    where OtherModel == Value.PersistentElement { if let position = position(keyPath) { set(newValue, of: nil, at: position) } }
    public func setValue<Value: Encodable & RelationshipCollection, OtherModel>(forKey keyPath: KeyPath<Model, Value>, to newValue: Value)
    where OtherModel == Value.PersistentElement { if let position = position(keyPath) { set(newValue, of: nil, at: position) } }
    public func setTransformableValue<Value>(forKey keyPath: KeyPath<Model, Value>, to newValue: Value) {
        if let position = position(keyPath) { setTransformable(newValue, at: position) }
    }

    /// The position of a property of this class; nil for another key path.
    private func position(_ keyPath: AnyKeyPath) -> Int? {
        let type = modelType
        return type.declared(keyPath).flatMap { $0.level == type.level ? $0.position : nil }
    }
}
