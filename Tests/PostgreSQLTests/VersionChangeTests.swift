import Foundation
import Heartwood
import HeartwoodPostgreSQLClient
import HeartwoodPostgreSQLTestSupport
import Testing

/// A store whose model gets another version, while others have it open.
@Suite(.enabled(if: PostgreSQLTestServer.isPresent, "There is no PostgreSQL server."))
struct VersionChangeTests {
    private static var migrating: [String: Any] {
        [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true]
    }


    /// The model with a change.
    private static func changed(_ change: (NSManagedObjectModel) -> Void) -> NSManagedObjectModel {
        let model = ServerModel.make()
        change(model)
        return model
    }

    private static func withBirthday() -> NSManagedObjectModel {
        changed { $0.entitiesByName["Author"]?.properties.append(ServerModel.attribute("born", .dateAttributeType)) }
    }

    /// Titles become names, pages get another type, authors are gone, and a language is required.
    private static func withNames() -> NSManagedObjectModel {
        changed { model in
            guard let book = model.entitiesByName["Book"], let title = book.attributesByName["title"], let pages = book.attributesByName["pages"] else { return }
            let language = ServerModel.attribute("language", .stringAttributeType)
            (language.isOptional, language.defaultValue) = (false, "en")
            (title.name, title.renamingIdentifier, pages.attributeType) = ("name", "title", .integer64AttributeType)
            book.properties = book.properties.filter { $0.name != "author" } + [language]
            model.entities = model.entities.filter { $0.name != "Author" }
        }
    }

    private func fill(_ stack: ServerStack) throws {
        try stack.context.performAndWait {
            let shelf = NSEntityDescription.insertNewObject(forEntityName: "Shelf", into: stack.context)
            let author = NSEntityDescription.insertNewObject(forEntityName: "Author", into: stack.context)
            author.setValue("Jane Austen", forKey: "name")
            let books = ["Emma", "Persuasion", "Lady Susan"].enumerated().map { number, title in
                let book = NSEntityDescription.insertNewObject(forEntityName: number == 2 ? "Novel" : "Book", into: stack.context)
                book.setValuesForKeys(["id": number, "title": title, "pages": 100 * number, "author": author])
                return book
            }
            shelf.setValue(NSOrderedSet(array: books.reversed()), forKey: "content")
            try stack.context.save()
        }
    }

    private static func lines(_ stack: ServerStack, _ keys: [String]) throws -> [String] {
        let context = stack.newContext(), request = NSFetchRequest<NSManagedObject>(entityName: "Book")
        request.sortDescriptors = [NSSortDescriptor(key: "id", ascending: true)]
        return try context.performAndWait {
            try context.fetch(request).map { book in keys.map { "\(book.value(forKeyPath: $0) ?? "-")" }.joined(separator: " ") }
        }
    }

    private static func ids(_ stack: ServerStack) throws -> Set<URL> {
        let context = stack.newContext()
        return try context.performAndWait {
            Set(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book")).map { $0.objectID.uriRepresentation() })
        }
    }

    @Test
    func `Names, types, required values and entities change, and objects keep their IDs, order and values`() throws {
        let stack = try ServerStack(ServerModel.make())
        try fill(stack)
        let ids = try Self.ids(stack)
        let new = try ServerStack(Self.withNames(), at: stack.url, options: Self.migrating)
        #expect(try Self.lines(new, ["name", "pages", "language"]) == ["Emma 0 en", "Persuasion 100 en", "Lady Susan 200 en"])
        #expect(try Self.ids(new) == ids)
        let context = new.newContext()
        try context.performAndWait {
            let shelf = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Shelf")).first)
            let names = (shelf.value(forKey: "content") as? NSOrderedSet)?.compactMap { ($0 as? NSManagedObject)?.value(forKey: "name") as? String }
            #expect(names == ["Lady Susan", "Persuasion", "Emma"])
            // The constraint is still there, and so are the numbers of new rows.
            NSEntityDescription.insertNewObject(forEntityName: "Book", into: context).setValuesForKeys(["id": 1, "name": "Twice", "language": "en"])
            let error = #expect(throws: NSError.self) { try context.save() }
            #expect(error?.code == NSManagedObjectConstraintMergeError)
        }
        #expect(try stack.sql("SELECT 1 FROM pg_tables WHERE schemaname = '\(stack.schema)' AND tablename = 'Author'").count == 0)
        #expect(try stack.sql("SELECT 1 FROM pg_tables WHERE schemaname = '\(stack.schema)' AND tablename LIKE 'heartwood_old%'").count == 0)
    }

    @Test
    func `A store with the former version reads and writes nothing any more, and says why`() throws {
        let stack = try ServerStack(ServerModel.make())
        try fill(stack)
        let book = try stack.context.performAndWait {
            let book = try #require(try stack.context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book")).first)
            book.setValue(7, forKey: "pages")
            return book
        }
        let new = try ServerStack(Self.withBirthday(), at: stack.url, options: Self.migrating)
        stack.context.performAndWait {
            for number in 0..<2 {
                let error = #expect(throws: NSError.self) { try stack.context.save() }
                #expect(error?.code == NSPersistentStoreIncompatibleVersionHashError && error?.localizedDescription.contains("version") == true)
                // The second time with a new object alone, which needs no check of rows.
                guard number == 0 else { continue }
                stack.context.refresh(book, mergeChanges: false)
                stack.context.reset()
                _ = NSEntityDescription.insertNewObject(forEntityName: "Author", into: stack.context)
            }
            stack.context.reset()
            let error = #expect(throws: NSError.self) { try stack.context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book")) }
            #expect(error?.code == NSPersistentStoreIncompatibleVersionHashError)
            #expect(throws: NSError.self) { try stack.context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Author")) }
        }
        #expect(try Self.lines(new, ["title", "pages"]) == ["Emma 0", "Persuasion 100", "Lady Susan 200"])
    }

    @Test
    func `Of several programs one migrates, and the others find it done`() throws {
        let stack = try ServerStack(ServerModel.make()), url = stack.url
        try fill(stack)
        let errors = Errors()
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            do {
                let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.withBirthday())
                let store = try coordinator.addPersistentStore(
                    ofType: NSPostgreSQLStoreType, configurationName: nil, at: url, options: Self.migrating)
                try coordinator.remove(store)
            } catch { errors.add(error) }
        }
        #expect(errors.list.isEmpty, "\(errors.list)")
        let version = try stack.sql("SELECT convert_from(value, 'UTF8') FROM \"\(stack.schema)\".heartwood_store WHERE key = 'version'").text(0, 0)
        #expect(version == "2")
    }

    @Test
    func `A migration that finds equal values of a new constraint leaves the store as it was`() throws {
        let stack = try ServerStack(ServerModel.make())
        try fill(stack)
        let context = stack.newContext()
        try context.performAndWait {
            NSEntityDescription.insertNewObject(forEntityName: "Book", into: context).setValue("Emma", forKey: "title")
            try context.save()
        }
        let model = Self.changed { $0.entitiesByName["Book"]?.uniquenessConstraints = [["title"]] }
        let error = #expect(throws: NSError.self) { _ = try ServerStack(model, at: stack.url, options: Self.migrating) }
        #expect(error?.code == NSMigrationConstraintViolationError)
        #expect(try Self.lines(stack, ["title"]).count == 4)
        try context.performAndWait {
            NSEntityDescription.insertNewObject(forEntityName: "Book", into: context).setValue("Sanditon", forKey: "title")
            try context.save()
        }
    }

    @Test
    func `A mapping model copies objects into new tables, which take the place of the old ones`() throws {
        let stack = try ServerStack(ServerModel.make()), model = Self.withBirthday(), old = ServerModel.make()
        try fill(stack)
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: model)
        let title = mapping.entityMappings?.first { $0.destinationEntityName == "Book" }?.attributeMappings?.first { $0.name == "title" }
        title?.valueExpression = NSExpression(format: "uppercase:($source.title)")
        let target = try ServerStack.newURL()
        try NSMigrationManager(sourceModel: old, destinationModel: model).migrateStore(
            from: stack.url, sourceType: NSPostgreSQLStoreType, options: nil, with: mapping, toDestinationURL: target,
            destinationType: NSPostgreSQLStoreType, destinationOptions: nil)
        let new = try ServerStack(model, at: target)
        let lines = try Self.lines(new, ["title", "author.name"]).sorted()
        #expect(lines == ["EMMA Jane Austen", "Lady Susan Jane Austen", "PERSUASION Jane Austen"], "the mapping of Novel has its own expressions")
        #expect(try Self.lines(stack, ["title"]).contains("Emma"), "the source stays")
    }

    @Test
    func `Relationships that become each other's inverses are copied as objects, in place of the old tables`() throws {
        let old = Self.changed { model in
            let friends = ServerModel.relationship("friends", to: model.entitiesByName["Author"]!, toMany: true)
            let fans = ServerModel.relationship("fans", to: model.entitiesByName["Author"]!, toMany: true)
            model.entitiesByName["Author"]?.properties += [friends, fans]
        }
        let new = Self.changed { model in
            let friends = ServerModel.relationship("friends", to: model.entitiesByName["Author"]!, toMany: true)
            let fans = ServerModel.relationship("fans", to: model.entitiesByName["Author"]!, toMany: true)
            ServerModel.connect(friends, fans)
            model.entitiesByName["Author"]?.properties += [friends, fans]
        }
        let stack = try ServerStack(old)
        try fill(stack)
        let migrated = try ServerStack(new, at: stack.url, options: Self.migrating)
        #expect(try Self.lines(migrated, ["title", "author.name"]).count == 3)
        #expect(try stack.sql("SELECT 1 FROM pg_namespace WHERE nspname = '\(stack.schema)_migrating'").count == 0)
        let context = stack.newContext()
        context.performAndWait {
            let error = #expect(throws: NSError.self) { try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book")) }
            #expect(error?.code == NSPersistentStoreIncompatibleVersionHashError)
        }
    }
}

/// Errors of several threads.
private final class Errors: @unchecked Sendable {
    // Unchecked: the lock guards the list.
    private let lock = NSLock()
    private var stored: [any Error] = []

    var list: [any Error] { lock.withLock { stored } }

    func add(_ error: any Error) { lock.withLock { stored.append(error) } }
}
