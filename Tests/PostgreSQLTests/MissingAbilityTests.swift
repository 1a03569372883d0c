import Foundation
import Heartwood
import HeartwoodPostgreSQL
import HeartwoodPostgreSQLTestSupport
import Testing

/// What the store does not do yet is refused by an error, and nothing has changed then; or it does less, as the guide says.
@Suite(.enabled(if: PostgreSQLTestServer.isPresent, "There is no PostgreSQL server."))
struct MissingAbilityTests {
    private func insertBook(_ stack: ServerStack, in context: NSManagedObjectContext? = nil) {
        let context = context ?? stack.context
        NSEntityDescription.insertNewObject(forEntityName: "Book", into: context).setValue("Emma", forKey: "title")
    }

    private func count(_ stack: ServerStack) throws -> Int {
        let context = stack.newContext()
        return try context.performAndWait { try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Book")) }
    }

    @Test
    func `A store of another version of the model is refused, also where the migration would be inferred`() throws {
        let stack = try ServerStack(ServerModel.make()), changed = ServerModel.make()
        changed.entitiesByName["Author"]?.properties.append(ServerModel.attribute("born", .dateAttributeType))
        let options: [[String: Any]] = [
            [:], [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true],
        ]
        for options in options {
            let error = #expect(throws: NSError.self) {
                try NSPersistentStoreCoordinator(managedObjectModel: changed).addPersistentStore(
                    ofType: NSPostgreSQLStoreType, configurationName: nil, at: stack.url, options: options)
            }
            #expect(error?.domain == NSCocoaErrorDomain && (134000...134999).contains(error?.code ?? 0), "\(String(describing: error))")
            if options.isEmpty { #expect(error?.code == NSPersistentStoreIncompatibleVersionHashError) }
        }
        try stack.context.performAndWait {
            insertBook(stack)
            try stack.context.save()
        }
        #expect(try count(stack) == 1)
    }

    @Test
    func `Derived attributes are refused when the store is added`() throws {
        let model = ServerModel.make(), derived = NSDerivedAttributeDescription()
        (derived.name, derived.attributeType) = ("folded", .stringAttributeType)
        derived.derivationExpression = NSExpression(format: "canonical:(title)")
        model.entitiesByName["Book"]?.properties.append(derived)
        let error = #expect(throws: NSError.self) { _ = try ServerStack(model) }
        #expect(error?.domain == NSCocoaErrorDomain)
    }

    @Test
    func `A context that asks for the newest state of the store goes on to read what is newest`() throws {
        let stack = try ServerStack(ServerModel.make()), other = stack.newContext()
        try stack.context.performAndWait { try stack.context.setQueryGenerationFrom(.current) }
        try other.performAndWait {
            insertBook(stack, in: other)
            try other.save()
        }
        let found = try stack.context.performAndWait { try stack.context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Book")) }
        #expect(found == 1)
    }

    @Test
    func `A store is not replaced by a copy`() throws {
        let stack = try ServerStack(ServerModel.make()), url = try ServerStack.newURL()
        let error = #expect(throws: NSError.self) {
            try stack.coordinator.replacePersistentStore(
                at: stack.url, destinationOptions: nil, withPersistentStoreFrom: url, sourceOptions: nil, ofType: NSPostgreSQLStoreType)
        }
        #expect(error?.domain == NSCocoaErrorDomain)
        #expect(try count(stack) == 0)
    }

    @Test
    func `Two such stores save one after the other`() throws {
        let model = ServerModel.make(), urls = try [ServerStack.newURL(), ServerStack.newURL()]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let stores = try urls.map { try coordinator.addPersistentStore(ofType: NSPostgreSQLStoreType, configurationName: nil, at: $0) }
        defer {
            for (store, url) in zip(stores, urls) {
                try? coordinator.remove(store)
                try? coordinator.destroyPersistentStore(at: url, ofType: NSPostgreSQLStoreType)
            }
        }
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            for store in stores {
                context.assign(NSEntityDescription.insertNewObject(forEntityName: "Shelf", into: context), to: store)
            }
            try context.save()
            context.reset()
            let found = try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Shelf"))
            #expect(found == 2)
        }
    }
}
