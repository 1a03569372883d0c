import Foundation
import Synchronization

/// What is known of a model class: its properties by position, by name and by key path. It is made once for each class.
final class ModelType: @unchecked Sendable {
    // Unchecked: immutable after `init`; key paths and types are immutable.

    let type: any PersistentModel.Type
    /// The entity's name, which is the class's own.
    let name: String
    /// The class above, if it is a model too.
    let parent: ModelType?
    /// The number of model classes above.
    let level: Int
    /// The persisted properties of this class alone. A property's place is the position that the class's accessors use.
    let own: [ModelProperty]
    /// Those of the classes above first.
    let properties: [ModelProperty]
    let byName: [String: ModelProperty]
    /// What `#Index` and `#Unique` in this class alone say.
    let indexes: [[AnyKeyPath]]
    let constraints: [[AnyKeyPath]]
    private let byKeyPath: [AnyKeyPath: ModelProperty]
    /// The properties that other key paths read, such as inherited ones; see `KeyPathProbe`.
    let readings = PropertyPaths()

    private static let known = Mutex<[ObjectIdentifier: ModelType]>([:])
    private static let named = Mutex<[String: [ModelType]]>([:])

    /// The classes of a name that the program has used so far, in that order.
    static func all(named name: String) -> [ModelType] { named.withLock { $0[name] ?? [] } }

    static func of(_ type: any PersistentModel.Type) -> ModelType {
        let key = ObjectIdentifier(type)
        if let found = known.withLock({ $0[key] }) { return found }
        // Outside of the lock: the metadata runs code of the program.
        let made = ModelType(type)
        return known.withLock { all in
            if let found = all[key] { return found }
            all[key] = made
            named.withLock { $0[made.name, default: []].append(made) }
            return made
        }
    }

    private init(_ type: any PersistentModel.Type) {
        self.type = type
        name = Schema.entityName(of: type)
        parent = (_getSuperclass(type) as? any PersistentModel.Type).map(ModelType.of)
        level = parent.map { $0.level + 1 } ?? 0
        let metadata = type.schemaMetadata.dropFirst(parent?.metadataCount ?? 0)
        metadataCount = (parent?.metadataCount ?? 0) + metadata.count
        var own: [ModelProperty] = []
        var indexes: [[AnyKeyPath]] = [], constraints: [[AnyKeyPath]] = []
        for entry in metadata {
            if let index = entry.metadata as? any KeyPathGroups {
                if index.isUnique { constraints += index.keyPathGroups } else { indexes += index.keyPathGroups }
            } else {
                own.append(ModelProperty(entry, position: own.count, level: level))
            }
        }
        self.own = own
        self.indexes = indexes
        self.constraints = constraints
        properties = (parent?.properties ?? []) + own
        byName = Dictionary(properties.map { ($0.name, $0) }) { $1 }
        byKeyPath = Dictionary(properties.map { ($0.keyPath, $0) }) { $1 }
    }

    /// The number of entries of the class's metadata, its superclasses' included.
    private let metadataCount: Int

    /// Whether a getter of a model without values would have nothing to return.
    var isFragile: Bool { properties.contains { $0.needsFallback && $0.fallback == nil } }

    /// The property that the key path declares; nil for another key path, which may still read one.
    func declared(_ keyPath: AnyKeyPath) -> ModelProperty? { byKeyPath[keyPath] }
}

/// `Schema.Index` and `Schema.Unique`, of any model.
protocol KeyPathGroups {
    var keyPathGroups: [[AnyKeyPath]] { get }
    var isUnique: Bool { get }
}
