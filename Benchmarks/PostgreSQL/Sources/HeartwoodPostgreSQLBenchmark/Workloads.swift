import Foundation
import Heartwood
import Synchronization

/// The work that floor.c and peer.py do too, through managed objects.
struct Workloads {
    private let coordinator: NSPersistentStoreCoordinator
    private let context: NSManagedObjectContext
    private let authors: [NSManagedObjectID]

    init(_ coordinator: NSPersistentStoreCoordinator) throws {
        self.coordinator = coordinator
        let context = Self.newContext(coordinator)
        self.context = context
        authors = try context.performAndWait { try context.fetch(NSFetchRequest<Author>(entityName: "Author")).map(\.objectID) }
    }

    static func newContext(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        context.undoManager = nil
        return context
    }

    private func books(_ first: Int, _ count: Int, prefetched: Bool = false) throws -> [Book] {
        let request = NSFetchRequest<Book>(entityName: "Book")
        request.predicate = NSPredicate(format: "isbn >= %d AND isbn < %d", first, first + count)
        request.sortDescriptors = [NSSortDescriptor(key: "isbn", ascending: true)]
        if prefetched { request.relationshipKeyPathsForPrefetching = ["author"] }
        return try context.fetch(request)
    }

    private func sum(_ books: [Book]) -> Double { books.reduce(0) { $0 + Double($1.title?.utf8.count ?? 0) + $1.price } }

    /// Runs one round. The context forgets its objects before each.
    func run(_ name: String, _ round: Int) throws -> Double {
        try context.performAndWait {
            context.reset()
            switch name {
            case "point":
                let request = NSFetchRequest<Book>(entityName: "Book")
                request.predicate = NSPredicate(format: "isbn == %d", Int.random(in: 0..<Shop.books))
                return sum(try context.fetch(request))
            case "range": return sum(try books(Int.random(in: 0..<Shop.books - 100), 100))
            case "references", "references-prefetched":
                let found = try books(Int.random(in: 0..<Shop.books - 100), 100, prefetched: name != "references")
                return found.reduce(0) { $0 + Double($1.author?.name?.utf8.count ?? 0) }
            case "insert": return try insert("Fresh", round)
            case "insert-unique": return try insert("FreshUnique", round)
            case "change":
                let found = try books(round % (Shop.books / Shop.changes) * Shop.changes, Shop.changes)
                for book in found { book.price += 1 }
                try context.save()
                return Double(found.count)
            default: throw Failure(description: "there is no workload \(name)")
            }
        }
    }

    private func insert(_ entity: String, _ round: Int) throws -> Double {
        let authors = authors.compactMap { context.object(with: $0) as? Author }
        for number in round * Shop.newRows..<(round + 1) * Shop.newRows { Self.make(entity, number, authors, context) }
        try context.save()
        return Double(Shop.newRows)
    }

    static func make(_ entity: String, _ number: Int, _ authors: [Author], _ context: NSManagedObjectContext) {
        guard let book = NSEntityDescription.insertNewObject(forEntityName: entity, into: context) as? Book else { return }
        book.title = "Title of the book \(number)"
        book.isbn = Int64(number)
        book.price = Double(number) * 0.01
        book.published = Date(timeIntervalSinceReferenceDate: Double(number) * 1000)
        if !authors.isEmpty { book.author = authors[number % authors.count] }
    }

    /// Saves a second of 16 threads, one change each, of books that no other thread changes.
    func threads(_ seconds: Double) throws -> Int {
        let saves = Atomic<Int>(0), group = DispatchGroup(), ready = DispatchGroup(), start = DispatchSemaphore(value: 0)
        let clock = ContinuousClock(), end = Mutex(clock.now)
        for thread in 0..<Shop.threads {
            group.enter()
            ready.enter()
            Thread.detachNewThread { [coordinator] in
                defer { group.leave() }
                let context = Self.newContext(coordinator)
                context.performAndWait {
                    let request = NSFetchRequest<Book>(entityName: "Book")
                    request.predicate = NSPredicate(format: "isbn >= %d AND isbn < %d", thread * 5_000, thread * 5_000 + 1_000)
                    let books = (try? context.fetch(request)) ?? []
                    ready.leave()
                    start.wait()
                    let last = end.withLock { $0 }
                    while clock.now < last, let book = books.randomElement() {
                        book.price = Double.random(in: 0..<1000)
                        guard (try? context.save()) != nil else { return }
                        saves.add(1, ordering: .relaxed)
                    }
                }
            }
        }
        ready.wait()
        end.withLock { $0 = clock.now + .seconds(seconds) }
        for _ in 0..<Shop.threads { start.signal() }
        group.wait()
        return Int(Double(saves.load(ordering: .relaxed)) / seconds)
    }
}

struct Failure: Error, CustomStringConvertible { let description: String }
