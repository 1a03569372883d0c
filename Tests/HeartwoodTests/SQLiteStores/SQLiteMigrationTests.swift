import Foundation
import Testing

@testable import Heartwood

/// `migratePersistentStore` to the type of Core Data's stores.
@Suite struct SQLiteMigrationTests {
    private static func fill(_ stack: TestStack) throws -> [NSManagedObject] {
        let group = stack.insert("Group", ["title": "g"])
        let persons = (0..<3).map { stack.insert($0 == 1 ? "Employee" : "Person", ["name": "p\($0)", "group": group, "email": "e\($0)"]) }
        let tasks = (0..<3).map { stack.insert("Task", ["title": "t\($0)"]) }
        persons[0].setValue(NSOrderedSet(array: tasks.reversed()), forKey: "tasks")
        try stack.context.save()
        return [group] + persons + tasks
    }

    private static func title(_ object: NSManagedObject) -> String {
        object.value(forKey: object.entity.attributesByName["name"] != nil ? "name" : "title") as? String ?? ""
    }

    @Test(arguments: StoreKind.allCases)
    func `The store is added in place of the old one, and the notification maps each object's ID`(kind: StoreKind) throws {
        let stack = try TestStack(kind), objects = try Self.fill(stack), titles = objects.map(Self.title)
        let old = stack.persistentStore, oldIdentifier = old.identifier, model = stack.coordinator.managedObjectModel
        try CoreDataStoreFiles.withFolder { folder in
            let file = folder.appendingPathComponent("Migrated.sqlite")
            let ids = try MigratedObjects.of(stack.coordinator) { try stack.coordinator.migratePersistentStore(old, to: file, type: .sqlite) }
            #expect(stack.coordinator.persistentStores.count == 1 && stack.persistentStore.type == NSSQLiteStoreType)
            #expect(stack.persistentStore.identifier != oldIdentifier && stack.persistentStore.isReadOnly)
            #expect(ids.count == objects.count)
            let context = stack.newContext()
            for (object, title) in zip(objects, titles) {
                let name = try #require(ids["\(object.entity.name ?? "")/\(object.objectID.key.row)"])
                let uri = try #require(URL(string: "x-coredata://\(stack.persistentStore.identifier ?? "")/\(name.replacing("/", with: "/p"))"))
                let id = try #require(stack.coordinator.managedObjectID(forURIRepresentation: uri))
                let found = try context.existingObject(with: id)
                #expect(Self.title(found) == title)
            }
            let tasks = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")).first { Self.title($0) == "p0" })
            let list = (tasks.value(forKey: "tasks") as? NSOrderedSet)?.array.compactMap { ($0 as? NSManagedObject).map(Self.title) }
            #expect(list == ["t2", "t1", "t0"])
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["Migrated.sqlite"])
            #expect(model.entities.count == stack.coordinator.managedObjectModel.entities.count)
            try stack.coordinator.remove(stack.persistentStore)
        }
    }

    @Test
    func `A file at the URL is refused, and the old store stays`() throws {
        let stack = try TestStack(.recordLog)
        _ = try Self.fill(stack)
        try CoreDataStoreFiles.withFolder { folder in
            let file = folder.appendingPathComponent("Taken.sqlite")
            try Data("x".utf8).write(to: file)
            #expect(throws: (any Error).self) { try stack.coordinator.migratePersistentStore(stack.persistentStore, to: file, type: .sqlite) }
            #expect(stack.persistentStore.type == NSRecordLogStoreType)
            #expect(try Data(contentsOf: file) == Data("x".utf8))
        }
    }
}
