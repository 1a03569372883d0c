import Foundation
import Heartwood

/// Items of every attribute type in a family of two, with each kind of relationship.
enum TransferModel {
    static let types: [(name: String, type: NSAttributeType)] = [
        ("flag", .booleanAttributeType), ("small", .integer16AttributeType), ("middle", .integer32AttributeType), ("long", .integer64AttributeType),
        ("single", .floatAttributeType), ("double", .doubleAttributeType), ("date", .dateAttributeType), ("decimal", .decimalAttributeType),
        ("text", .stringAttributeType), ("data", .binaryDataAttributeType), ("key", .UUIDAttributeType), ("address", .URIAttributeType),
    ]

    static func make() -> NSManagedObjectModel {
        let item = NSEntityDescription(), special = NSEntityDescription(), tag = NSEntityDescription()
        (item.name, special.name, tag.name) = ("Item", "Special", "Tag")
        let large = ServerModel.attribute("large", .binaryDataAttributeType)
        large.allowsExternalBinaryDataStorage = true
        let parent = ServerModel.relationship("parent", to: item, toMany: false), children = ServerModel.relationship("children", to: item, toMany: true)
        let tags = ServerModel.relationship("tags", to: tag, toMany: true, ordered: true)
        let items = ServerModel.relationship("items", to: item, toMany: true, ordered: true)
        let friends = ServerModel.relationship("friends", to: item, toMany: true)
        ServerModel.connect(parent, children)
        ServerModel.connect(tags, items)
        friends.inverseRelationship = friends
        item.properties = types.map { ServerModel.attribute($0.name, $0.type) } + [large, parent, children, tags, friends]
        special.properties = [ServerModel.attribute("note", .stringAttributeType)]
        item.subentities = [special]
        tag.properties = [ServerModel.attribute("name", .stringAttributeType), items]
        tag.uniquenessConstraints = [["name"]]
        let model = NSManagedObjectModel()
        model.entities = [item, special, tag]
        return model
    }

    /// Makes items with values that differ, and relationships between them; some have none.
    static func fill(_ context: NSManagedObjectContext, items count: Int = 40) throws {
        try context.performAndWait {
            func make(_ entity: String) -> NSManagedObject { NSEntityDescription.insertNewObject(forEntityName: entity, into: context) }
            let tags = (0..<5).map { _ in make("Tag") }
            for (number, tag) in tags.enumerated() { tag.setValue("tag \(number)", forKey: "name") }
            var items: [NSManagedObject] = []
            for number in 0..<count {
                let item = make(number % 3 == 0 ? "Special" : "Item")
                items.append(item)
                if number % 5 != 4 { setValues(of: item, number) }
                if number > 0 { item.setValue(items[number / 2], forKey: "parent") }
                item.setValue(NSOrderedSet(array: [tags[number % 5], tags[(number + 2) % 5]]), forKey: "tags")
                if number % 4 == 1 { item.setValue(Set([items[number - 1]]), forKey: "friends") }
            }
            try context.save()
        }
    }

    private static func setValues(of item: NSManagedObject, _ number: Int) {
        let n = Double(number)
        let values: [String: Any] = [
            "flag": number % 2 == 0, "small": -number, "middle": number * 70_000, "long": Int64(number) << 40, "single": Float(n) / 3, "double": -n / 7,
            "date": Date(timeIntervalSinceReferenceDate: n * 1e6 + 0.1), "decimal": NSDecimalNumber(string: "-\(number).000\(number)"),
            "text": "Text “\(number)” ü\n", "data": Data(repeating: UInt8(number), count: number), "key": UUID(),
            "address": URL(string: "https://example.org/\(number)") as Any, "large": Data((0..<(number * 1000)).map { UInt8(truncatingIfNeeded: $0 &* 31) }),
        ]
        for (key, value) in values { item.setValue(value, forKey: key) }
    }
}

/// All that a store's objects have, as texts.
struct StoreContents: Equatable {
    /// By the object's name: the values by property.
    private(set) var objects: [String: [String: String]] = [:]

    /// - Parameter ids: whether objects are named by their IDs; otherwise the values of the attributes are compared, without relationships.
    init(_ coordinator: NSPersistentStoreCoordinator, ids: Bool = true) throws {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        objects = try context.performAndWait {
            var found: [String: [String: String]] = [:]
            for entity in coordinator.managedObjectModel.entities {
                let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
                request.includesSubentities = false
                for object in try context.fetch(request) {
                    let values = Self.values(object, ids: ids)
                    found[ids ? Self.name(object) : "\(entity.name ?? "") \(values.sorted { $0.key < $1.key })"] = values
                }
            }
            return found
        }
    }

    private static func name(_ object: NSManagedObject) -> String { object.objectID.uriRepresentation().pathComponents.suffix(2).joined(separator: "/") }

    private static func values(_ object: NSManagedObject, ids: Bool) -> [String: String] {
        var values: [String: String] = [:]
        for name in object.entity.attributesByName.keys {
            switch object.value(forKey: name) {
            case nil: break
            case let number as Double: values[name] = "\(number.bitPattern)"
            case let date as Date: values[name] = "\(date.timeIntervalSinceReferenceDate.bitPattern)"
            case let data as Data: values[name] = data.base64EncodedString()
            case let value?: values[name] = "\(value)"
            }
        }
        guard ids else { return values }
        for (name, relationship) in object.entity.relationshipsByName {
            switch object.value(forKey: name) {
            case let one as NSManagedObject: values[name] = Self.name(one)
            case let list as NSOrderedSet: values[name] = "\(list.array.compactMap { ($0 as? NSManagedObject).map(Self.name) })"
            case let set as Set<NSManagedObject>: values[name] = "\(set.map(Self.name).sorted())"
            default: if relationship.isToMany { values[name] = "[]" }
            }
        }
        return values
    }
}
