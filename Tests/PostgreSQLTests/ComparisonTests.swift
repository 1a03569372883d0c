import Foundation
import Heartwood
import HeartwoodPostgreSQLTestSupport
import Testing

/// The same objects in a record log and in a PostgreSQL store give the same answers.
@Suite(.enabled(if: PostgreSQLTestServer.isPresent, "There is no PostgreSQL server."))
struct ComparisonTests {
    private static let titles = ["Emma", "emma", "Émma", "", "Em", "Emmä", "Z", "Ωmega", "a_b", "50%", "\u{10FFFF}", "Persuasion"]

    /// Parts of predicates, each for a random value.
    private static let parts: [@Sendable (inout SeededNumbers) -> NSPredicate] = [
        { NSPredicate(format: "title \($0.one(of: ["==", "!=", "<", "<=", ">", ">="])) %@", $0.one(of: titles)) },
        { NSPredicate(format: "title \($0.one(of: ["BEGINSWITH", "CONTAINS", "ENDSWITH", "LIKE"])) %@", $0.one(of: titles)) },
        { NSPredicate(format: "title \($0.one(of: ["==[c]", "CONTAINS[cd]", "BEGINSWITH[d]"])) %@", $0.one(of: titles)) },
        { NSPredicate(format: "pages \($0.one(of: ["==", "!=", "<", ">="])) %d", $0.below(6)) },
        { NSPredicate(format: "pages BETWEEN {%d, %d}", $0.below(4), $0.below(6)) },
        { NSPredicate(format: "rating \($0.one(of: ["==", "!=", "<", ">"])) %f", Double($0.below(8)) / 2) },
        { NSPredicate(format: "pages < %f", Double($0.below(12)) / 2) },
        { NSPredicate(format: "price > %@", NSDecimalNumber(value: $0.below(5))) },
        { NSPredicate(format: "isRead == %d", $0.below(2)) },
        { _ in NSPredicate(format: "published == nil") },
        { NSPredicate(format: "published > %@", NSDate(timeIntervalSinceReferenceDate: Double($0.below(5)))) },
        { NSPredicate(format: "title IN %@", [$0.one(of: titles), $0.one(of: titles)]) },
        { NSPredicate(format: "author.name \($0.one(of: ["==", "!=", "<"])) %@", $0.one(of: titles)) },
        { _ in NSPredicate(format: "author == nil") },
        { NSPredicate(format: "ANY shelves.room == %@", $0.one(of: titles)) },
        { NSPredicate(format: "ALL shelves.room != %@", $0.one(of: titles)) },
        { NSPredicate(format: "shelves.@count \($0.one(of: ["==", ">", "<="])) %d", $0.below(3)) },
        { NSPredicate(format: "SUBQUERY(shelves, $s, $s.room == %@).@count > 0", $0.one(of: titles)) },
        { NSPredicate(format: "author.books.@count > %d", $0.below(6)) },
        { NSPredicate(format: "pages * 2 > %d", $0.below(12)) },
        { NSPredicate(format: "title MATCHES %@", "[A-E].*" + $0.one(of: ["", "a"])) },
    ]

    private static func predicate(_ numbers: inout SeededNumbers, depth: Int) -> NSPredicate {
        switch depth == 0 ? 9 : numbers.below(10) {
        case 0...2: NSCompoundPredicate(andPredicateWithSubpredicates: [predicate(&numbers, depth: depth - 1), predicate(&numbers, depth: depth - 1)])
        case 3, 4: NSCompoundPredicate(orPredicateWithSubpredicates: [predicate(&numbers, depth: depth - 1), predicate(&numbers, depth: depth - 1)])
        case 5, 6: NSCompoundPredicate(notPredicateWithSubpredicate: predicate(&numbers, depth: depth - 1))
        default: parts[numbers.below(parts.count)](&numbers)
        }
    }

    private static func fill(_ context: NSManagedObjectContext, _ numbers: inout SeededNumbers) throws {
        func insert(_ entity: String) -> NSManagedObject { NSEntityDescription.insertNewObject(forEntityName: entity, into: context) }
        let authors = (0..<4).map { _ in insert("Author") }, shelves = (0..<4).map { _ in insert("Shelf") }
        for author in authors.dropLast() { author.setValue(numbers.one(of: titles), forKey: "name") }
        for shelf in shelves { shelf.setValue(numbers.one(of: titles), forKey: "room") }
        for number in 0..<60 {
            let book = insert(numbers.below(3) == 0 ? "Novel" : "Book")
            book.setValue(number, forKey: "id")
            if numbers.below(5) > 0 { book.setValue(numbers.one(of: titles), forKey: "title") }
            if numbers.below(5) > 0 { book.setValue(numbers.below(6), forKey: "pages") }
            if numbers.below(5) > 0 { book.setValue(Double(numbers.below(8)) / 2, forKey: "rating") }
            if numbers.below(5) > 0 { book.setValue(NSDecimalNumber(value: Double(numbers.below(20)) / 4), forKey: "price") }
            if numbers.below(5) > 0 { book.setValue(Date(timeIntervalSinceReferenceDate: Double(numbers.below(5))), forKey: "published") }
            if numbers.below(5) > 0 { book.setValue(numbers.below(2) == 0, forKey: "isRead") }
            if numbers.below(4) > 0 { book.setValue(numbers.one(of: authors), forKey: "author") }
            book.setValue(Set((0..<numbers.below(3)).map { _ in numbers.one(of: shelves) }), forKey: "shelves")
        }
        try context.save()
    }

    private static func request(_ numbers: inout SeededNumbers) -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: numbers.below(4) == 0 ? "Novel" : "Book")
        request.predicate = predicate(&numbers, depth: 3)
        let keys = ["title", "pages", "rating", "price", "published", "isRead", "author.name", "id"]
        request.sortDescriptors = (0..<numbers.below(3)).map { _ in NSSortDescriptor(key: numbers.one(of: keys), ascending: numbers.below(2) == 0) }
        // Without an order a store may give any rows of a window.
        guard !(request.sortDescriptors ?? []).isEmpty else { return request }
        if numbers.below(3) == 0 { request.fetchLimit = 1 + numbers.below(10) }
        if numbers.below(3) == 0 { request.fetchOffset = numbers.below(10) }
        return request
    }

    @Test
    func `Random fetches find what a record log finds, in its order`() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        let model = ServerModel.make(), server = try ServerStack(model)
        let log = NSPersistentStoreCoordinator(managedObjectModel: model)
        try log.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let logContext = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        logContext.persistentStoreCoordinator = log
        for context in [logContext, server.context] {
            var numbers = SeededNumbers(seed: seed)
            try context.performAndWait { try Self.fill(context, &numbers) }
        }
        let rounds = ProcessInfo.processInfo.environment["HEARTWOOD_POSTGRESQL_FETCHES"].flatMap(Int.init) ?? 1_500
        for round in 0..<rounds {
            let answers = try [logContext, server.newContext()].map { context in
                var numbers = SeededNumbers(seed: seed &+ UInt64(round) &+ 1)
                let request = Self.request(&numbers)
                var ids = try context.performAndWait { try context.fetch(request).map { $0.value(forKey: "id") as? Int ?? -1 } }
                if (request.sortDescriptors ?? []).isEmpty { ids.sort() }
                let count = try context.performAndWait { try context.count(for: request) }
                return (ids, count, "\(request.predicate?.predicateFormat ?? "") by \(request.sortDescriptors ?? []) \(request.fetchOffset)+\(request.fetchLimit)")
            }
            #expect(answers[0].0 == answers[1].0, "seed \(seed), round \(round): \(answers[0].2)")
            #expect(answers[0].1 == answers[1].1, "count, seed \(seed), round \(round): \(answers[0].2)")
            if answers[0].0 != answers[1].0 { return }
        }
    }
}

/// Numbers that follow from a seed. Source: SplitMix64, https://prng.di.unimi.it/splitmix64.c
private struct SeededNumbers {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func below(_ bound: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return Int((mixed ^ mixed >> 31) % UInt64(bound))
    }

    mutating func one<Element>(of list: [Element]) -> Element { list[below(list.count)] }
}
