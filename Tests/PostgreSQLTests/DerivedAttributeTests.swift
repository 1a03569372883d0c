import Foundation
import Heartwood
import HeartwoodPostgreSQL
import HeartwoodPostgreSQLTestSupport
import Testing

/// Derived attributes where others save at the same time, and when a store moves or gets another version. What a save and a batch derive, the
/// behaviour tests ask of every kind of store.
@Suite(.enabled(if: PostgreSQLTestServer.isPresent, "There is no PostgreSQL server."))
struct DerivedAttributeTests {
    private static func derived(_ name: String, _ type: NSAttributeType, _ format: String) -> NSDerivedAttributeDescription {
        let attribute = NSDerivedAttributeDescription()
        (attribute.name, attribute.attributeType) = (name, type)
        attribute.derivationExpression = NSExpression(format: format)
        return attribute
    }

    /// Authors who know the number of their books and pages, books that know their author's name, and shelves that know their number of books.
    private static func model() -> NSManagedObjectModel {
        let model = ServerModel.make()
        model.entitiesByName["Author"]?.properties += [
            derived("bookCount", .integer32AttributeType, "books.@count"), derived("pages", .integer64AttributeType, "books.@sum.pages"),
            derived("folded", .stringAttributeType, "canonical:(name)"),
        ]
        model.entitiesByName["Book"]?.properties.append(derived("authorName", .stringAttributeType, "author.name"))
        model.entitiesByName["Shelf"]?.properties.append(derived("size", .integer16AttributeType, "content.@count"))
        return model
    }

    private static func fill(_ context: NSManagedObjectContext, authors: Int = 1, books: Int = 3) throws {
        try context.performAndWait {
            let shelf = NSEntityDescription.insertNewObject(forEntityName: "Shelf", into: context)
            var content: [NSManagedObject] = []
            for number in 0..<authors {
                let author = NSEntityDescription.insertNewObject(forEntityName: "Author", into: context)
                author.setValue("Áuthor \(number)", forKey: "name")
                for book in 0..<books {
                    let made = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
                    made.setValuesForKeys(["id": 100 * number + book, "pages": 10, "author": author])
                    content.append(made)
                }
            }
            shelf.setValue(NSOrderedSet(array: content), forKey: "content")
            try context.save()
        }
    }

    private static func lines(_ context: NSManagedObjectContext) throws -> [String] {
        try context.performAndWait {
            func all(_ entity: String) throws -> [NSManagedObject] { try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity)) }
            func text(_ object: NSManagedObject, _ keys: String...) -> String {
                keys.map { "\(object.value(forKeyPath: $0) ?? "-")" }.joined(separator: " ")
            }
            return try (all("Author").map { text($0, "folded", "bookCount", "pages") } + all("Book").map { text($0, "id", "authorName") }
                + all("Shelf").map { text($0, "size") }).sorted()
        }
    }

    /// What the attributes have to be, computed from the objects.
    private static func expected(_ context: NSManagedObjectContext) throws -> [String] {
        try context.performAndWait {
            func all(_ entity: String) throws -> [NSManagedObject] { try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity)) }
            func set(_ object: NSManagedObject, _ key: String) -> [NSManagedObject] {
                let members = object.value(forKey: key)
                return ((members as? NSOrderedSet)?.array ?? (members as? NSSet)?.allObjects ?? []) as? [NSManagedObject] ?? []
            }
            let authors = try all("Author").map { author in
                let books = set(author, "books"), pages = books.reduce(0) { $0 + ($1.value(forKey: "pages") as? Int ?? 0) }
                let name = (author.value(forKey: "name") as? String)?.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
                return "\(name ?? "-") \(books.count) \(pages)"
            }
            let books = try all("Book").map { "\($0.value(forKey: "id") ?? "-") \($0.value(forKeyPath: "author.name") ?? "-")" }
            return try (authors + books + all("Shelf").map { "\(set($0, "content").count)" }).sorted()
        }
    }

    @Test
    func `Counts, sums and copies are right behind saves of many threads`() throws {
        let seed = UInt64.random(in: 0..<1 << 32), stack = try ServerStack(Self.model())
        // Each thread makes a context of its own; a coordinator is for any thread.
        nonisolated(unsafe) let others = try [ServerStack(Self.model(), at: stack.url), ServerStack(Self.model(), at: stack.url)]
        try Self.fill(stack.context, authors: 2)
        let refused = Refusals()
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            var random = seed &+ UInt64(thread)
            func pick(_ count: Int) -> Int {
                random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return Int((random >> 33) % UInt64(max(1, count)))
            }
            let context = others[thread % 2].newContext()
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            for turn in 0..<12 {
                do {
                    try context.performAndWait {
                        context.reset()
                        let authors = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Author"))
                        let books = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book"))
                        let author = authors[pick(authors.count)], book = books[pick(books.count)]
                        switch pick(4) {
                        case 0:
                            let new = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
                            new.setValuesForKeys(["id": 10_000 * (thread + 1) + turn, "pages": 1, "author": author])
                        case 1: book.setValue(author, forKey: "author")
                        case 2: author.setValue("Náme \(thread) \(turn)", forKey: "name")
                        default: book.setValue(pick(100), forKey: "pages")
                        }
                        try context.save()
                    }
                } catch { refused.add(error) }
            }
        }
        let context = stack.newContext()
        #expect(refused.list.isEmpty, "seed \(seed): \(refused.list)")
        #expect(try Self.lines(context) == Self.expected(context), "seed \(seed)")
    }

    @Test
    func `A store with derived attributes goes into a database and out again, and a verification finds a value that others wrote`() throws {
        let model = Self.model(), log = FileManager.default.temporaryDirectory.appendingPathComponent("heartwood-derived-\(UUID().uuidString)")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(ofType: NSRecordLogStoreType, configurationName: nil, at: log)
        defer {
            try? coordinator.remove(store)
            try? FileManager.default.removeItem(at: log)
        }
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try Self.fill(context, authors: 2)
        let url = try ServerStack.newURL(), transfer = try StoreTransfer(url)
        _ = try transfer.load(store, of: coordinator)
        let stack = try ServerStack(model, at: url)
        #expect(try Self.lines(stack.context) == Self.lines(context))
        #expect(try transfer.examine().isSound)
        try stack.sql("UPDATE \"\(stack.schema)\".\"Author\" SET pages = 7")
        #expect(try !transfer.examine().isSound)
    }

    @Test
    func `A migration computes the derived attributes that the new version adds`() throws {
        let stack = try ServerStack(ServerModel.make())
        try Self.fill(stack.context)
        let options = [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true]
        let new = try ServerStack(Self.model(), at: stack.url, options: options), context = new.newContext()
        #expect(try Self.lines(context) == Self.expected(context))
        #expect(try Self.lines(context).contains("author 0 3 30"))
    }
}

/// The errors of several threads.
private final class Refusals: @unchecked Sendable {
    // Unchecked: the lock guards them.
    private let lock = NSLock()
    private var stored: [String] = []

    var list: [String] { lock.withLock { stored } }

    func add(_ error: any Error) { lock.withLock { stored.append("\(error)") } }
}
