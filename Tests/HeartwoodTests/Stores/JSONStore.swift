import Foundation
import Heartwood

/// All objects in one JSON file.
final class JSONStore: NSAtomicStore, @unchecked Sendable {
    struct Contents: Codable {
        /// A property list.
        var metadata: Data
        var objects: [Object]
    }

    struct Object: Codable {
        var entity: String
        var id: String
        var attributes: [String: Value] = [:]
        /// The IDs of destinations with their entities: "Person/1234".
        var relationships: [String: [String]] = [:]
    }

    enum Value: Codable {
        case text(String), integer(Int64), number(Double), flag(Bool), date(Date), data(Data), archive(Data)

        init?(_ value: Any, _ attribute: NSAttributeDescription) throws {
            switch attribute.attributeType {
            case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
                self = .integer((value as? NSNumber)?.int64Value ?? 0)
            case .doubleAttributeType, .floatAttributeType: self = .number((value as? NSNumber)?.doubleValue ?? 0)
            case .booleanAttributeType: self = .flag((value as? NSNumber)?.boolValue ?? false)
            case .dateAttributeType: self = .date(value as? Date ?? .distantPast)
            case .binaryDataAttributeType: self = .data(value as? Data ?? Data())
            case .stringAttributeType, .UUIDAttributeType, .URIAttributeType, .decimalAttributeType: self = .text("\(value)")
            case .transformableAttributeType, .undefinedAttributeType:
                guard let data = try attribute.transformedData(for: value) else { return nil }
                self = .archive(data)
            default: return nil
            }
        }

        func object(of attribute: NSAttributeDescription) -> Any? {
            switch self {
            case .integer(let number): number
            case .number(let number): number
            case .flag(let flag): flag
            case .date(let date): date
            case .data(let data): data
            case .archive(let data): attribute.value(fromTransformedData: data)
            case .text(let text):
                switch attribute.attributeType {
                case .UUIDAttributeType: UUID(uuidString: text)
                case .URIAttributeType: URL(string: text)
                case .decimalAttributeType: NSDecimalNumber(string: text)
                default: text
                }
            }
        }
    }

    override var type: String { "JSON" }

    private static func read(_ url: URL?) throws -> (contents: Contents, metadata: [String: Any])? {
        guard let url, let data = try? Data(contentsOf: url), !data.isEmpty else { return nil }
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        let contents = try decoder.decode(Contents.self, from: data)
        return (contents, try PropertyListSerialization.propertyList(from: contents.metadata, format: nil) as? [String: Any] ?? [:])
    }

    override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
        guard let found = try read(url) else { throw CocoaError(.fileNoSuchFile) }
        return found.metadata
    }

    override func loadMetadata() throws {
        if let found = try Self.read(url) { metadata = found.metadata }
    }

    override func load() throws {
        guard let (contents, _) = try Self.read(url) else { return }
        let entities = persistentStoreCoordinator?.managedObjectModel.entitiesByName ?? [:]
        func id(_ entity: String, _ name: String) throws -> NSManagedObjectID {
            guard let entity = entities[entity], !entity.isAbstract else { throw CocoaError(.fileReadCorruptFile) }
            return objectID(for: entity, withReferenceObject: name)
        }
        var nodes: [String: NSAtomicStoreCacheNode] = [:]
        for object in contents.objects {
            let node = NSAtomicStoreCacheNode(objectID: try id(object.entity, object.id))
            for (name, value) in object.attributes {
                guard let attribute = attributes(of: node.objectID.entity)[name] else { throw CocoaError(.fileReadCorruptFile) }
                node.setValue(value.object(of: attribute), forKey: name)
            }
            for (name, destinations) in object.relationships {
                let ids = try destinations.map { destination in
                    let parts = destination.split(separator: "/", maxSplits: 1).map(String.init)
                    return try id(parts.first ?? "", parts.last ?? "")
                }
                let isToMany = node.objectID.entity.relationshipsByName[name]?.isToMany ?? false
                node.setValue(isToMany ? ids : ids.first ?? NSNull(), forKey: name)
            }
            guard nodes.updateValue(node, forKey: object.entity + "/" + object.id) == nil else { throw CocoaError(.fileReadCorruptFile) }
        }
        addCacheNodes(Set(nodes.values))
    }

    override func save() throws {
        guard let url else { return }
        let encoder = JSONEncoder()
        encoder.nonConformingFloatEncodingStrategy = .convertToString(positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        let contents = try Contents(
            metadata: PropertyListSerialization.data(fromPropertyList: metadata ?? [:], format: .xml, options: 0),
            objects: cacheNodes().map(object(of:)))
        try encoder.encode(contents).write(to: url, options: .atomic)
    }

    /// The elements of composite attributes have their paths as names.
    private func attributes(of entity: NSEntityDescription) -> [String: NSAttributeDescription] {
        var result: [String: NSAttributeDescription] = [:]
        func add(_ attribute: NSAttributeDescription, _ path: String) {
            guard let composite = attribute as? NSCompositeAttributeDescription else { return result[path] = attribute }
            for element in composite.elements { add(element, path + "." + element.name) }
        }
        for (name, attribute) in entity.attributesByName { add(attribute, name) }
        return result
    }

    private func object(of node: NSAtomicStoreCacheNode) throws -> Object {
        let entity = node.objectID.entity
        var object = Object(entity: entity.name ?? "", id: "\(referenceObject(for: node.objectID))")
        for (name, attribute) in attributes(of: entity) {
            if let value = node.value(forKey: name) { object.attributes[name] = try Value(value, attribute) }
        }
        for (name, relationship) in entity.relationshipsByName {
            let value = node.value(forKey: name)
            let destinations: [Any] = switch value {
            case let set as Set<NSAtomicStoreCacheNode>: Array(set)
            case let list as NSOrderedSet: list.array
            case let list as [Any]: list
            case let one?: relationship.isToMany ? [] : [one]
            case nil: []
            }
            object.relationships[name] = destinations.compactMap { destination in
                let id = (destination as? NSAtomicStoreCacheNode)?.objectID ?? destination as? NSManagedObjectID
                return id.map { "\($0.entity.name ?? "")/\(referenceObject(for: $0))" }
            }
        }
        return object
    }
}
