import Foundation
import Heartwood
@_exported import Observation

/// A class whose objects a store keeps. `@Model` makes a class conform.
///
/// The values of a model live in the model until a context takes it in, and in a managed object after that.
/// Source: https://developer.apple.com/documentation/swiftdata/persistentmodel
public protocol PersistentModel: AnyObject, Observable, Hashable, Identifiable, SendableMetatype {
    /// The model at the root of the class's inheritance.
    associatedtype Root: PersistentModel = Self

    /// Makes a model that has the values of the backing data.
    init(backingData: any BackingData<Self>)
    var persistentBackingData: any BackingData<Self> { get set }
    /// The persisted properties of the class and of its superclasses, in their order in the source, then indexes and constraints.
    static var schemaMetadata: [Schema.PropertyMetadata] { get }
    /// The storage of each class from the root model to the object's own class. `@Model` writes it.
    func _$storages() -> [ModelStorage]
}

extension PersistentModel {
    /// The storage of a conformance that is written by hand: that of its backing data.
    public func _$storages() -> [ModelStorage] { [persistentBackingData._storage].compactMap(\.self) }

    public static func createBackingData<P: PersistentModel>() -> some BackingData<P> { DefaultBackingData<P>() }

    /// The identity of the model in its store. It is temporary until the model is saved, and then another.
    public var persistentModelID: PersistentIdentifier { rootStorage?.identifier(of: Self.self) ?? PersistentIdentifier(unsaved: Self.self) }

    public var id: PersistentIdentifier { persistentModelID }

    /// The context of the model; nil before its insertion, and after its deletion was saved.
    public var modelContext: ModelContext? { rootStorage?.object?.modelContext }

    /// Whether the model differs from its store.
    public var hasChanges: Bool { rootStorage.map { $0.object?.hasChanges ?? true } ?? false }

    /// Whether the model is deleted, and the deletion is not yet saved.
    public var isDeleted: Bool { rootStorage?.object?.isDeleted ?? false }

    public static func == (a: Self, b: Self) -> Bool { a === b }

    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

    var rootStorage: ModelStorage? { persistentBackingData._storage }
}
