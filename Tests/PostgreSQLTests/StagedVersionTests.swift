import Foundation
import Heartwood
import HeartwoodPostgreSQLTestSupport
import Testing

/// A store goes through the stages of a migration, each in a transaction of its own.
@Suite(.enabled(if: PostgreSQLTestServer.isPresent, "There is no PostgreSQL server."))
struct StagedVersionTests {
    /// Authors with a birthday in the second version, which the third one requires.
    private static func model(_ version: Int) -> NSManagedObjectModel {
        let model = ServerModel.make()
        guard version > 1 else { return model }
        let born = ServerModel.attribute("born", .integer32AttributeType)
        born.isOptional = version < 3
        model.entitiesByName["Author"]?.properties.append(born)
        return model
    }

    private static func reference(_ version: Int) -> NSManagedObjectModelReference {
        NSManagedObjectModelReference(model: model(version), versionChecksum: model(version).versionChecksum)
    }

    private struct Refusal: Error {}

    private static func authors(_ context: NSManagedObjectContext, _ body: (NSManagedObject) -> Void) throws {
        try context.performAndWait {
            for author in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Author")) { body(author) }
            try context.save()
        }
    }

    private static func lines(_ stack: ServerStack) throws -> [String] {
        var lines: [String] = []
        try authors(stack.newContext()) { lines.append("\($0.value(forKey: "name") ?? "-") \($0.value(forKey: "born") ?? "-")") }
        return lines.sorted()
    }

    @Test
    func `Stages run in order with their handlers, and one that a handler refuses is ended by the next opening`() throws {
        let stack = try ServerStack(Self.model(1))
        try stack.context.performAndWait {
            for name in ["Jane", "Mary"] {
                NSEntityDescription.insertNewObject(forEntityName: "Author", into: stack.context).setValue(name, forKey: "name")
            }
            try stack.context.save()
        }
        var order: [String] = []
        let stage = NSCustomMigrationStage(migratingFrom: Self.reference(2), to: Self.reference(3))
        stage.willMigrateHandler = { manager, _ in
            order.append("will")
            try Self.authors(try #require(manager.container).newBackgroundContext()) { $0.setValue(1775, forKey: "born") }
        }
        stage.didMigrateHandler = { manager, _ in
            order.append("did")
            guard order.count > 2 else { throw Refusal() }
            try Self.authors(try #require(manager.container).newBackgroundContext()) { author in
                author.setValue("\(author.value(forKey: "name") ?? "")!", forKey: "name")
            }
        }
        let options: [String: Any] = [
            NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
            NSPersistentStoreStagedMigrationManagerOptionKey: NSStagedMigrationManager([
                NSLightweightMigrationStage([Self.model(1).versionChecksum]), stage,
            ]),
        ]
        #expect(throws: Refusal.self) { _ = try ServerStack(Self.model(3), at: stack.url, options: options) }
        for _ in 0..<2 {
            let new = NSPersistentStoreCoordinator(managedObjectModel: Self.model(3))
            let store = try new.addPersistentStore(ofType: NSPostgreSQLStoreType, configurationName: nil, at: stack.url, options: options)
            try new.remove(store)
            #expect(order == ["will", "did", "did"])
        }
        #expect(try Self.lines(ServerStack(Self.model(3), at: stack.url)) == ["Jane! 1775", "Mary! 1775"])
    }
}
