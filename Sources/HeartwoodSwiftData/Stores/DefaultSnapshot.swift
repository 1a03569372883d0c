import Foundation
import Heartwood

/// The values of a model of any class: attributes as the model has them, relationships as identifiers.
///
/// It is encoded with a key for each property. To decode one, the program must have used the model's class, for instance in a schema.
/// Source: https://developer.apple.com/documentation/swiftdata/defaultsnapshot
public struct DefaultSnapshot: DataStoreSnapshot, @unchecked Sendable {
    // Unchecked: immutable. Attributes are values, or what a value transformer takes, which nothing changes in place.

    public let persistentIdentifier: PersistentIdentifier
    /// By property: an attribute's value, the identifier of a to-one relationship, or an array of them. A property that is nil has no entry.
    let values: [String: Any]

    init(persistentIdentifier: PersistentIdentifier, values: [String: Any]) {
        self.persistentIdentifier = persistentIdentifier
        self.values = values
    }

    public init(from backingData: any BackingData, relatedBackingDatas: inout [PersistentIdentifier: any BackingData]) {
        persistentIdentifier = Self.identifier(of: backingData)
        values = (backingData as? ModelStorage)?.snapshotValues ?? [:]
    }

    private static func identifier<Data: BackingData>(of data: Data) -> PersistentIdentifier {
        data.persistentModelID ?? PersistentIdentifier(unsaved: Data.Model.self)
    }

    public func copy(
        persistentIdentifier: PersistentIdentifier, remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier]? = [:]
    ) -> DefaultSnapshot {
        guard let remapped = remappedIdentifiers, !remapped.isEmpty else {
            return DefaultSnapshot(persistentIdentifier: persistentIdentifier, values: values)
        }
        let values = values.mapValues { value in
            switch value {
            case let identifier as PersistentIdentifier: remapped[identifier] ?? identifier as Any
            case let identifiers as [PersistentIdentifier]: identifiers.map { remapped[$0] ?? $0 } as Any
            default: value
            }
        }
        return DefaultSnapshot(persistentIdentifier: persistentIdentifier, values: values)
    }
}

// MARK: Coding

extension DefaultSnapshot {
    /// - Throws: `DecodingError` for a class that the program does not know, for a value of another type, and for no value where the class has
    ///   neither a default nor an optional.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: DataStoreSnapshotCodingKey.self)
        let identifier = try container.decode(PersistentIdentifier.self, forKey: .persistentIdentifier)
        let types = SnapshotClasses.types(of: identifier)
        guard !types.isEmpty else {
            throw DecodingError.dataCorruptedError(
                forKey: .persistentIdentifier, in: container,
                debugDescription: "The program knows no model class \(identifier.entityName). Make the schema before its snapshots are decoded.")
        }
        var failure: (any Error)?
        for type in types {
            do {
                self.init(persistentIdentifier: identifier, values: try Self.values(of: type, in: container))
                return
            } catch {
                failure = failure ?? error
            }
        }
        throw failure ?? CocoaError(.coderReadCorrupt)
    }

    private static func values(
        of type: ModelType, in container: KeyedDecodingContainer<DataStoreSnapshotCodingKey>
    ) throws -> [String: Any] {
        var values: [String: Any] = [:]
        for property in type.properties where !property.isTransient {
            let key = DataStoreSnapshotCodingKey.modeledProperty(property.name)
            guard container.contains(key) else {
                values[property.name] = try SnapshotDefaults.value(of: property, at: [key])
                continue
            }
            guard try !container.decodeNil(forKey: key) else {
                guard property.mayBeNil else { throw SnapshotDefaults.missing(property, at: [key]) }
                continue
            }
            values[property.name] = try value(of: property, key, in: container)
        }
        return values
    }

    private static func value(
        of property: ModelProperty, _ key: DataStoreSnapshotCodingKey, in container: KeyedDecodingContainer<DataStoreSnapshotCodingKey>
    ) throws -> Any? {
        func decoded<Value: Decodable>(_ type: Value.Type) throws -> Any { try container.decode(type, forKey: key) }
        switch property.kind {
        case .toOne: return try container.decode(PersistentIdentifier.self, forKey: key)
        case .toMany: return try container.decode([PersistentIdentifier].self, forKey: key)
        case .unfit: return nil
        case .attribute:
            if let transformed = property.transformedAttribute {
                return transformed.value(fromTransformedData: try container.decode(Data.self, forKey: key))
            }
            return try (property.valueType as? any Decodable.Type).map { try decoded($0) }
        }
    }

    /// - Throws: `EncodingError` for a model that is not saved, or refers to one: copy the snapshot with lasting identifiers first.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: DataStoreSnapshotCodingKey.self)
        try container.encode(persistentIdentifier, forKey: .persistentIdentifier)
        let type = SnapshotClasses.types(of: persistentIdentifier).first
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            let key = DataStoreSnapshotCodingKey.modeledProperty(name)
            if let transformed = type?.byName[name]?.transformedAttribute {
                if let data = try transformed.transformedData(for: value) { try container.encode(data, forKey: key) }
            } else if let encodable = value as? any Encodable {
                try container.encode(encodable, forKey: key)
            } else {
                throw EncodingError.invalidValue(value, .init(codingPath: [key], debugDescription: "The value is not Encodable."))
            }
        }
        for property in type?.properties ?? [] where values[property.name] == nil && !property.isTransient {
            try container.encodeNil(forKey: .modeledProperty(property.name))
        }
    }
}
