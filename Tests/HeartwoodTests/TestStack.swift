import Foundation
import HeartwoodOutsideStore
import RecordLog

@testable import Heartwood

final class Person: NSManagedObject {
    var name: String? {
        get { value(forKey: "name") as? String }
        set { setValue(newValue, forKey: "name") }
    }

    var age: Int {
        get { value(forKey: "age") as? Int ?? 0 }
        set { setValue(newValue, forKey: "age") }
    }

    var group: NSManagedObject? {
        get { value(forKey: "group") as? NSManagedObject }
        set { setValue(newValue, forKey: "group") }
    }

    var insertions = 0
    var fetches = 0

    override func awakeFromInsert() { insertions += 1 }
    override func awakeFromFetch() { fetches += 1 }
}

/// A coordinator with one store of the test model, and a context.
final class TestStack {
    let kind: StoreKind
    let url: URL
    let coordinator: NSPersistentStoreCoordinator
    let context: NSManagedObjectContext

    init(
        _ kind: StoreKind, model: NSManagedObjectModel = TestStack.model(), at url: URL? = nil, options: [String: Any] = [:]
    ) throws {
        self.kind = kind
        self.url = url ?? kind.newURL
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(
            ofType: kind.type, configurationName: nil, at: self.url,
            options: options.merging([NSRecordLogDurabilityOption: "none"]) { first, _ in first })
        context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
    }

    deinit {
        for store in coordinator.persistentStores { try? coordinator.remove(store) }
        try? FileManager.default.removeItem(at: url)
        if kind == .outside { TableServer.drop(url) }
        kind.remove(at: url)
    }

    /// Another context on the same coordinator.
    func newContext() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    /// A new context that lives as long as the stack.
    func anew() -> NSManagedObjectContext {
        readers.append(newContext())
        return readers[readers.count - 1]
    }

    private var readers: [NSManagedObjectContext] = []

    var persistentStore: NSPersistentStore { coordinator.persistentStores[0] }
    /// The record log with the rows.
    var store: RecordLogStore { coordinator.persistentStores[0].rows! }
    /// What its log has read and written; 0 for a store without one.
    var rowReads: UInt64 { persistentStore.rows?.log?.statistics.rowReads ?? 0 }
    var bytesAppended: UInt64 { persistentStore.rows?.log?.statistics.bytesAppended ?? 0 }
    /// The number of the newest commit; nil for a store that counts none.
    var commit: UInt64? { get throws { try persistentStore.seam.newestView().commit } }

    @discardableResult
    func insert(_ entity: String, _ values: [String: Any], into context: NSManagedObjectContext? = nil) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context ?? self.context)
        for (key, value) in values { object.setValue(value, forKey: key) }
        return object
    }

    func fetch(_ entity: String, _ format: String? = nil, _ arguments: [Any] = [], sort: [NSSortDescriptor] = [], in context: NSManagedObjectContext? = nil) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = format.map { NSPredicate(format: $0, argumentArray: arguments) }
        request.sortDescriptors = sort
        return try (context ?? self.context).fetch(request)
    }

    /// The names of a fetch's objects, in its order.
    func names(_ format: String? = nil, _ arguments: Any..., sort: [NSSortDescriptor] = [
        NSSortDescriptor(key: "name", ascending: true)]) throws -> [String] {
        try fetch("Person", format, arguments, sort: sort).map { $0.value(forKey: "name") as? String ?? "-" }
    }

    // MARK: Model

    static func attribute(_ name: String, _ type: NSAttributeType, optional: Bool = true, default value: Any? = nil) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = optional
        attribute.defaultValue = value
        return attribute
    }

    static func relationship(_ name: String, to entity: NSEntityDescription, toMany: Bool, ordered: Bool = false, rule: NSDeleteRule = .nullifyDeleteRule) -> NSRelationshipDescription {
        let relationship = NSRelationshipDescription()
        relationship.name = name
        relationship.destinationEntity = entity
        relationship.maxCount = toMany ? 0 : 1
        relationship.isOrdered = ordered
        relationship.deleteRule = rule
        return relationship
    }

    static func connect(_ a: NSRelationshipDescription, _ b: NSRelationshipDescription) {
        a.inverseRelationship = b
        b.inverseRelationship = a
    }

    static func index(_ name: String, _ properties: [NSPropertyDescription]) -> NSFetchIndexDescription {
        NSFetchIndexDescription(name: name, elements: properties.map { NSFetchIndexElementDescription(property: $0, collationType: .binary) })
    }

    /// An index over properties by name, ascending or not, and over expressions by format.
    static func index(
        _ name: String, _ keys: [(String, Bool)], among properties: [String: NSPropertyDescription], where format: String? = nil
    ) -> NSFetchIndexDescription {
        let index = NSFetchIndexDescription(name: name, elements: keys.map { key, isAscending in
            let computed = NSExpressionDescription()
            if properties[key] == nil { computed.expression = NSExpression(format: key) }
            let element = NSFetchIndexElementDescription(property: properties[key] ?? computed, collationType: .binary)
            element.isAscending = isAscending
            return element
        })
        index.partialIndexPredicate = format.map { NSPredicate(format: $0) }
        return index
    }

    /// Persons in groups (one to many), with tags (many to many), a partner (one to one), a list of tasks (ordered, cascading), and an entity that
    /// inherits.
    static func model() -> NSManagedObjectModel {
        let person = NSEntityDescription(), group = NSEntityDescription(), tag = NSEntityDescription()
        let task = NSEntityDescription(), employee = NSEntityDescription(), everything = NSEntityDescription()
        person.name = "Person"
        person.managedObjectClassName = NSStringFromClass(Person.self)
        group.name = "Group"
        tag.name = "Tag"
        task.name = "Task"
        employee.name = "Employee"
        employee.managedObjectClassName = NSStringFromClass(Person.self)
        everything.name = "Everything"
        let name = attribute("name", .stringAttributeType), age = attribute("age", .integer32AttributeType, default: 1)
        let email = attribute("email", .stringAttributeType), birthday = attribute("birthday", .dateAttributeType)
        let toGroup = relationship("group", to: group, toMany: false), people = relationship("people", to: person, toMany: true)
        let tags = relationship("tags", to: tag, toMany: true), tagged = relationship("people", to: person, toMany: true)
        let partner = relationship("partner", to: person, toMany: false)
        let tasks = relationship("tasks", to: task, toMany: true, ordered: true, rule: .cascadeDeleteRule)
        let owner = relationship("owner", to: person, toMany: false)
        connect(toGroup, people)
        connect(tags, tagged)
        connect(tasks, owner)
        partner.inverseRelationship = partner
        person.properties = [name, age, email, birthday, toGroup, tags, partner, tasks]
        person.uniquenessConstraints = [["email"]]
        person.indexes = [index("byAge", [age]), index("byName", [name, age])]
        group.properties = [attribute("title", .stringAttributeType, optional: false), people]
        tag.properties = [attribute("label", .stringAttributeType), tagged]
        task.properties = [attribute("title", .stringAttributeType), owner]
        employee.properties = [attribute("salary", .decimalAttributeType)]
        person.subentities = [employee]
        everything.properties = [
            attribute("int16", .integer16AttributeType), attribute("int32", .integer32AttributeType),
            attribute("int64", .integer64AttributeType), attribute("double", .doubleAttributeType),
            attribute("float", .floatAttributeType), attribute("decimal", .decimalAttributeType),
            attribute("string", .stringAttributeType), attribute("bool", .booleanAttributeType),
            attribute("date", .dateAttributeType), attribute("data", .binaryDataAttributeType),
            attribute("uuid", .UUIDAttributeType), attribute("uri", .URIAttributeType),
            attribute("transformable", .transformableAttributeType),
        ]
        let model = NSManagedObjectModel()
        model.entities = [person, group, tag, task, employee, everything]
        return model
    }
}
