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
    func `A store of another version of the model is refused without the options of a migration`() throws {
        let stack = try ServerStack(ServerModel.make()), changed = ServerModel.make()
        changed.entitiesByName["Author"]?.properties.append(ServerModel.attribute("born", .dateAttributeType))
        let error = #expect(throws: NSError.self) { _ = try ServerStack(changed, at: stack.url) }
        #expect(error?.code == NSPersistentStoreIncompatibleVersionHashError)
        try stack.context.performAndWait {
            insertBook(stack)
            try stack.context.save()
        }
        #expect(try count(stack) == 1)
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
}
