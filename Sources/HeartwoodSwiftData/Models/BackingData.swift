/// The values of a model by key paths.
///
/// Source: https://developer.apple.com/documentation/swiftdata/backingdata
public protocol BackingData<Model> {
    associatedtype Model: PersistentModel

    init(for modelType: Model.Type)
    /// nil before the model is in a context.
    var persistentModelID: PersistentIdentifier? { get set }
    var metadata: Any { get }
    /// The backing data itself where it is a model's storage, and nil where the program has made its own.
    var _storage: ModelStorage? { get }

    @_disfavoredOverload
    func getValue<Value: Decodable>(forKey keyPath: KeyPath<Model, Value>) -> Value
    func getValue<Value: PersistentModel>(forKey keyPath: KeyPath<Model, Value>) -> Value
    func getValue<Value: PersistentModel>(forKey keyPath: KeyPath<Model, Value?>) -> Value?
    func getValue<Value: RelationshipCollection, OtherModel>(forKey keyPath: KeyPath<Model, Value>) -> Value
    where OtherModel == Value.PersistentElement
    func getValue<Value: Decodable & RelationshipCollection, OtherModel>(forKey keyPath: KeyPath<Model, Value>) -> Value
    where OtherModel == Value.PersistentElement
    func getTransformableValue<Value>(forKey keyPath: KeyPath<Model, Value>) -> Value

    @_disfavoredOverload
    func setValue<Value: Encodable>(forKey keyPath: KeyPath<Model, Value>, to newValue: Value)
    func setValue<Value: PersistentModel>(forKey keyPath: KeyPath<Model, Value>, to newValue: Value)
    func setValue<Value: PersistentModel>(forKey keyPath: KeyPath<Model, Value?>, to newValue: Value?)
    func setValue<Value: RelationshipCollection, OtherModel>(forKey keyPath: KeyPath<Model, Value>, to newValue: Value)
    where OtherModel == Value.PersistentElement
    func setValue<Value: Encodable & RelationshipCollection, OtherModel>(forKey keyPath: KeyPath<Model, Value>, to newValue: Value)
    where OtherModel == Value.PersistentElement
    func setTransformableValue<Value>(forKey keyPath: KeyPath<Model, Value>, to newValue: Value)
}

extension BackingData {
    public var _storage: ModelStorage? { nil }
}

/// What a to-many relationship may be declared as: an array of models, or an optional of one.
///
/// Source: https://developer.apple.com/documentation/swiftdata/relationshipcollection
public protocol RelationshipCollection {
    associatedtype PersistentElement: PersistentModel

    init(_models: [PersistentElement])
    /// nil for no collection at all.
    var _models: [PersistentElement]? { get }
}

extension Array: RelationshipCollection where Element: PersistentModel {
    public typealias PersistentElement = Element

    public init(_models models: [Element]) { self = models }
    public var _models: [Element]? { self }
}

extension Optional: RelationshipCollection where Wrapped: RelationshipCollection & Sequence, Wrapped.Element: PersistentModel {
    public typealias PersistentElement = Wrapped.PersistentElement

    public init(_models models: [Wrapped.PersistentElement]) { self = Wrapped(_models: models) }
    public var _models: [Wrapped.PersistentElement]? { self?._models }
}
