import Foundation
import Testing

@testable import Heartwood

/// A model in short notation, a line for each entity:
///
///     Person < Being: name:string age:int32!=1 size:double~length group>Group/people tags>>Tag/people tasks>>>Task/owner
///
/// `!` is required, `=1` a default value, `~length` a renaming identifier; `>` is to one, `>>` to many, `>>>` ordered to many, `/people` is the
/// inverse. An entity's name may be followed by `~Old`, and starts with `*` if it is abstract.
struct Sketch: ExpressibleByStringLiteral, CustomStringConvertible {
    let text: String

    init(stringLiteral text: String) { self.text = text }
    init(_ text: String) { self.text = text }

    var description: String { text }

    private static let types: [String: NSAttributeType] = [
        "string": .stringAttributeType, "int16": .integer16AttributeType, "int32": .integer32AttributeType, "int64": .integer64AttributeType,
        "double": .doubleAttributeType, "float": .floatAttributeType, "bool": .booleanAttributeType, "date": .dateAttributeType,
        "data": .binaryDataAttributeType, "decimal": .decimalAttributeType, "uuid": .UUIDAttributeType, "any": .transformableAttributeType,
    ]

    private struct Entity {
        let description = NSEntityDescription()
        var parent: String?
        var properties: [String] = []
    }

    var model: NSManagedObjectModel {
        var entities: [(name: String, entity: Entity)] = []
        for line in text.split(separator: "\n") where line.contains(":") {
            let colon = line.firstIndex(of: ":")!
            let head = line[..<colon].split(separator: "<").map { $0.trimmingCharacters(in: .whitespaces) }
            var entity = Entity()
            var name = head[0]
            if name.hasPrefix("*") {
                entity.description.isAbstract = true
                name.removeFirst()
            }
            let parts = name.split(separator: "~").map(String.init)
            entity.description.name = parts[0]
            if parts.count > 1 { entity.description.renamingIdentifier = parts[1] }
            entity.parent = head.count > 1 ? head[1] : nil
            entity.properties = line[line.index(after: colon)...].split(separator: " ").map(String.init)
            entities.append((parts[0], entity))
        }
        let byName = Dictionary(uniqueKeysWithValues: entities.map { ($0.name, $0.entity.description) })
        for (_, entity) in entities {
            if let parent = entity.parent { byName[parent]!.subentities.append(entity.description) }
        }
        var inverses: [(NSRelationshipDescription, String)] = []
        for (_, entity) in entities {
            entity.description.properties = entity.properties.map { text in
                let (property, inverse) = Self.property(text, byName)
                if let relationship = property as? NSRelationshipDescription, let inverse { inverses.append((relationship, inverse)) }
                return property
            }
        }
        for (relationship, name) in inverses {
            relationship.inverseRelationship = relationship.destinationEntity?.relationshipsByName[name]
        }
        let model = NSManagedObjectModel()
        model.entities = entities.map(\.entity.description)
        return model
    }

    private static func property(_ text: String, _ entities: [String: NSEntityDescription]) -> (NSPropertyDescription, inverse: String?) {
        var rest = Substring(text)
        func cut(_ mark: Character) -> String? {
            guard let at = rest.lastIndex(of: mark) else { return nil }
            defer { rest = rest[..<at] }
            return String(rest[rest.index(after: at)...])
        }
        let old = cut("~"), given = text.contains(":") ? cut("=") : nil
        let isRequired = rest.hasSuffix("!")
        if isRequired { rest.removeLast() }
        var inverse: String?
        let property: NSPropertyDescription
        if let colon = rest.firstIndex(of: ":") {
            let attribute = NSAttributeDescription(), type = types[String(rest[rest.index(after: colon)...])]!
            attribute.attributeType = type
            attribute.name = String(rest[..<colon])
            attribute.defaultValue = given.map { value in
                switch type {
                case .stringAttributeType: value
                case .booleanAttributeType: NSNumber(value: value == "true")
                case .doubleAttributeType, .floatAttributeType: NSNumber(value: Double(value)!)
                default: NSNumber(value: Int64(value)!)
                }
            }
            property = attribute
        } else {
            inverse = cut("/")
            let arrows = rest.filter { $0 == ">" }.count, name = rest.prefix { $0 != ">" }
            let relationship = NSRelationshipDescription()
            relationship.name = String(name)
            relationship.destinationEntity = entities[String(rest.drop { $0 != ">" }.drop { $0 == ">" })]!
            relationship.maxCount = arrows == 1 ? 1 : 0
            relationship.isOrdered = arrows == 3
            property = relationship
        }
        property.isOptional = !isRequired
        property.renamingIdentifier = old
        return (property, inverse)
    }
}

/// A store that migrates from one version of its model to the next.
final class Chain {
    let scratch: ScratchDirectory
    let kind: StoreKind
    var url: URL { scratch["store"] }

    init(_ kind: StoreKind = .recordLog) throws {
        self.kind = kind
        scratch = try ScratchDirectory()
    }

    static var automatic: [String: Any] { [
        NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true, NSRecordLogDurabilityOption: "none",
    ] }

    /// Opens the store, and closes it after `body`.
    @discardableResult
    func with<Result>(
        _ model: NSManagedObjectModel, options: [AnyHashable: Any]? = automatic, _ body: (NSManagedObjectContext) throws -> Result
    ) throws -> Result {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(ofType: kind.type, configurationName: nil, at: url, options: options)
        defer { for store in coordinator.persistentStores { try? coordinator.remove(store) } }
        let context = coordinator.newContext()
        let result = try body(context)
        if context.hasChanges { try context.save() }
        return result
    }

    @discardableResult
    func with<Result>(
        _ sketch: Sketch, options: [AnyHashable: Any]? = automatic, _ body: (NSManagedObjectContext) throws -> Result
    ) throws -> Result { try with(sketch.model, options: options, body) }

    func lines(_ model: NSManagedObjectModel, options: [AnyHashable: Any]? = automatic) throws -> [String] {
        try with(model, options: options) { try $0.lines() }
    }

    func lines(_ sketch: Sketch, options: [AnyHashable: Any]? = automatic) throws -> [String] { try lines(sketch.model, options: options) }

    func metadata() throws -> [String: Any] {
        try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: kind.type, at: url)
    }
}

extension NSManagedObjectContext {
    @discardableResult
    func make(_ entity: String, _ values: [String: Any?] = [:]) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: self)
        for (key, value) in values { object.setValue(value, forKey: key) }
        return object
    }

    /// Every object as a line, with the names of its relationships' objects; only ordered relationships keep an order.
    func lines() throws -> [String] {
        func label(_ object: NSManagedObject?) -> String {
            guard let object else { return "-" }
            return object.entity.attributesByName["name"] == nil ? object.entity.name! : object.value(forKey: "name") as? String ?? "nil"
        }
        var lines: [String] = []
        for entity in persistentStoreCoordinator!.managedObjectModel.entities where !entity.isAbstract {
            let request = NSFetchRequest<NSManagedObject>(entityName: entity.name!)
            request.includesSubentities = false
            for object in try fetch(request) {
                let values = entity.properties.sorted { $0.name < $1.name }.map { property -> String in
                    guard let relationship = property as? NSRelationshipDescription else {
                        return "\(property.name)=\(object.value(forKey: property.name).map { "\($0)" } ?? "nil")"
                    }
                    guard relationship.isToMany else {
                        return "\(property.name)=\(label(object.value(forKey: property.name) as? NSManagedObject))"
                    }
                    if relationship.isOrdered {
                        return "\(property.name)=\(object.mutableOrderedSetValue(forKey: property.name).array.map { label($0 as? NSManagedObject) })"
                    }
                    let members = object.mutableSetValue(forKey: property.name).allObjects.map { label($0 as? NSManagedObject) }
                    return "\(property.name)=\(members.sorted())"
                }
                lines.append("\(entity.name!): \(values.joined(separator: " "))")
            }
        }
        return lines.sorted()
    }
}
