import Foundation
import Heartwood
import HeartwoodTestSupport

/// Edits a graph in one context.
package final class GraphHand {
    package let context: NSManagedObjectContext
    /// Objects by number, which stay registered while they are here.
    package private(set) var objects: [Int: NSManagedObject] = [:]

    package init(_ context: NSManagedObjectContext) {
        self.context = context
    }

    /// A coordinator over a store of `GraphModel`.
    package static func coordinator(_ type: String, at url: URL?, tracksHistory: Bool = false) throws -> NSPersistentStoreCoordinator {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: GraphModel.make())
        var options: [String: Any] = [NSRecordLogDurabilityOption: "none"]
        // A store with a history keeps recording, whatever the options are.
        if tracksHistory { options[NSPersistentHistoryTrackingKey] = true }
        try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url, options: options)
        return coordinator
    }

    package static func context(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    /// Fetches all objects.
    package func load() throws {
        var found: [Int: NSManagedObject] = [:]
        for kind in GraphKind.allCases {
            for object in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: kind.rawValue)) { found[object.number] = object }
        }
        objects = found
    }

    package func forget(_ number: Int) { objects[number] = nil }

    package func keep(_ object: NSManagedObject) { objects[object.number] = object }

    private func object(_ number: Int) throws -> NSManagedObject {
        guard let object = objects[number] else { throw GraphProblem("there is no \(number)") }
        return object
    }

    package func run(_ edit: GraphEdit) throws {
        switch edit {
        case .insert(let number, let kind):
            let object = NSEntityDescription.insertNewObject(forEntityName: kind.rawValue, into: context)
            object.setValue(number, forKey: "number")
            objects[number] = object
        case .values(let number, let values):
            let object = try object(number)
            for (name, value) in values.sorted(by: { $0.key < $1.key }) { object.setValue(value?.asAttribute, forKey: name) }
        case .group(let person, let group, let isFromGroup):
            let person = try object(person)
            guard isFromGroup else { return person.setValue(try group.map(object), forKey: "group") }
            if let group {
                try object(group).mutableSetValue(forKey: "people").add(person)
            } else if let old = person.value(forKey: "group") as? NSManagedObject {
                old.mutableSetValue(forKey: "people").remove(person)
            }
        case .tag(let person, let tag, let isIn, let isFromTag):
            let (owner, member, key) = isFromTag ? (tag, person, "people") : (person, tag, "tags")
            let set = try object(owner).mutableSetValue(forKey: key)
            if isIn { set.add(try object(member)) } else { set.remove(try object(member)) }
        case .owner(let task, let person): try object(task).setValue(try person.map(object), forKey: "owner")
        case .tasks(let person, let tasks): try object(person).setValue(NSOrderedSet(array: tasks.map(object)), forKey: "tasks")
        case .book(let person, let book, let isIn, isFromBook: true):
            let set = try object(book).mutableSetValue(forKey: "readers")
            if isIn { set.add(try object(person)) } else { set.remove(try object(person)) }
        case .book(let person, let book, let isIn, isFromBook: false):
            let set = try object(person).mutableOrderedSetValue(forKey: "books")
            if isIn { set.add(try object(book)) } else { set.remove(try object(book)) }
        case .books(let person, let books): try object(person).setValue(NSOrderedSet(array: books.map(object)), forKey: "books")
        case .delete(let number): context.delete(try object(number))
        }
    }

    /// The context's view of an object; nil if it has none with this number.
    package func sight(_ number: Int) -> GraphSight? {
        guard let object = objects[number], let kind = object.entity.name.flatMap(GraphKind.init) else { return nil }
        var row = GraphRow(kind)
        row.values = object.sampleValues(kind)
        switch kind {
        case .person:
            row.group = object.destination("group")
            row.tags = Set(object.members("tags"))
            row.tasks = object.members("tasks")
            row.books = object.members("books")
            return GraphSight(row: row, sources: [])
        case .group, .tag: return GraphSight(row: row, sources: Set(object.members("people")))
        case .task: return GraphSight(row: row, sources: object.destination("owner").map { [$0] } ?? [])
        case .book: return GraphSight(row: row, sources: Set(object.members("readers")))
        }
    }
}

package struct GraphProblem: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}

extension NSManagedObject {
    package var number: Int { value(forKey: "number") as? Int ?? 0 }

    /// The object's attributes except the number.
    package func sampleValues(_ kind: GraphKind) -> [String: SampleValue] {
        var values: [String: SampleValue] = [:]
        for (name, type) in kind.attributes {
            guard let value = value(forKey: name) else { continue }
            switch type {
            case .text: values[name] = (value as? String).map(SampleValue.text)
            case .integer: values[name] = (value as? Int).map { .integer(Int64($0)) }
            case .double: values[name] = (value as? Double).map(SampleValue.double)
            default: values[name] = (value as? Data).map { .bytes(Array($0)) }
            }
        }
        return values
    }

    package func destination(_ key: String) -> Int? { (value(forKey: key) as? NSManagedObject)?.number }

    fileprivate func members(_ key: String) -> [Int] {
        switch value(forKey: key) {
        case let set as NSOrderedSet: set.compactMap { ($0 as? NSManagedObject)?.number }
        case let set as NSSet: set.compactMap { ($0 as? NSManagedObject)?.number }
        default: []
        }
    }
}

extension SampleValue {
    /// The value in an attribute's form.
    fileprivate var asAttribute: Any {
        switch self {
        case .flag(let value): value
        case .integer(let value): Int(value)
        case .double(let bits): Double(bitPattern: bits)
        case .uuid: self
        case .text(let value): value
        case .bytes(let value): Data(value)
        }
    }
}
