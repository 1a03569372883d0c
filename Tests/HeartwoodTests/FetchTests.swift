import Foundation
import HeartwoodTestSupport
import RecordLog
import Testing

@testable import Heartwood

@Suite struct FetchTests {
    private func filled(_ kind: StoreKind, _ random: inout SeededGenerator, count: Int = 200) throws -> TestStack {
        let stack = try TestStack(kind)
        let groups = (0..<4).map { stack.insert("Group", ["title": "g\($0)"]) }
        let tags = (0..<5).map { stack.insert("Tag", ["label": "t\($0)"]) }
        for number in 0..<count {
            let person = stack.insert(number % 7 == 0 ? "Employee" : "Person", ["age": Int.random(in: 0..<20, using: &random)])
            if Int.random(in: 0..<4, using: &random) > 0 {
                person.setValue(
                    ["ann", "bob", "Ann", "Zoë", "zoe", kind == .postgreSQL ? "b b" : "b\u{0}b", ""].randomElement(using: &random)! + "\(Int.random(in: 0..<3, using: &random))",
                    forKey: "name")
            }
            if number % 3 == 0 { person.setValue("e\(number)@example.org", forKey: "email") }
            if Bool.random(using: &random) {
                person.setValue(Date(timeIntervalSinceReferenceDate: Double(Int.random(in: -50..<50, using: &random))), forKey: "birthday")
            }
            if number % 5 != 0 { person.setValue(groups.randomElement(using: &random)!, forKey: "group") }
            person.setValue(Set(tags.filter { _ in Int.random(in: 0..<3, using: &random) == 0 }), forKey: "tags")
        }
        try stack.context.save()
        return stack
    }

    private static let formats = [
        "age = 7", "age != 7", "age < 3", "age >= 18 AND age <= 19", "age BETWEEN {4, 6}", "age IN {1, 3, 5}", "age > 4.5", "age = 4.5",
        "name = 'ann1'", "name != 'ann1'", "name = nil", "name != nil", "name BEGINSWITH 'b'", "name CONTAINS[cd] 'ZOE'", "name > 'b'",
        "name < 'b'",
        "name LIKE '*1'", "name IN {'ann0', 'bob2'}", "name = 'ann1' AND age > 5", "name = 'bob0' OR age = 3", "NOT (age < 15)",
        "email = 'e30@example.org'",
        "email BEGINSWITH 'e3'", "birthday > %@", "birthday = nil AND age > 10", "group.title = 'g1'", "group = nil", "group != nil AND age = 2",
        "group.title != 'g1'", "ANY tags.label = 't2'", "ALL tags.label = 't2'", "NONE tags.label = 't1'", "tags.@count > 2", "tags.@count = 0",
        "age = 3 AND name BEGINSWITH 'a' AND group.title IN {'g0', 'g2'}", "TRUEPREDICATE", "FALSEPREDICATE",
    ]

    private static let sorts: [[(String, Bool)]] = [
        [], [("age", true)], [("age", false)], [("name", true), ("age", true)], [("name", false), ("age", false)],
        [("birthday", true), ("name", true)],
        [("group.title", false), ("age", true)],
    ]

    private static let longSeeds = ProcessInfo.processInfo.environment["HEARTWOOD_FETCH_SEEDS"].flatMap(UInt64.init)

    /// An index, a scan, pending changes, and memory give the same objects in the same order. Each seed takes a third of the orders for each
    /// predicate, three seeds all of them; in the long form each takes all.
    @Test(arguments: StoreKind.recordLogs, 1...(FetchTests.longSeeds ?? 2))
    func `All ways of fetching give the same`(kind: StoreKind, seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let stack = try filled(kind, &random, count: 120)
        if seed % 3 == 2 { try stack.store.log!.checkpoint() }
        let entity = try #require(stack.coordinator.managedObjectModel.entitiesByName["Person"])
        for hasChanges in [false, true] {
            if hasChanges {
                for person in try stack.fetch("Person") where Int.random(in: 0..<6, using: &random) == 0 {
                    if Bool.random(using: &random) { person.setValue(Int.random(in: 0..<20, using: &random), forKey: "age") } else { stack.context.delete(person) }
                }
                for _ in 0..<10 { stack.insert("Person", ["age": Int.random(in: 0..<20, using: &random), "name": "new"]) }
            }
            let all = try stack.fetch("Person")
            for (number, format) in Self.formats.enumerated() {
                let arguments: [Any] = format.contains("%@") ? [Date(timeIntervalSinceReferenceDate: 3)] : []
                let node = try PredicateParser.parse(format, arguments: arguments)
                let expected = try all.filter { try node.evaluate($0) }
                #expect(try count(stack, format, arguments) == expected.count, "seed \(seed), \(format)")
                for (position, sort) in Self.sorts.enumerated() where Self.longSeeds != nil || (number + position) % 3 == Int(seed % 3) {
                    let descriptors = sort.map { NSSortDescriptor(key: $0.0, ascending: $0.1) }
                    let found = try stack.fetch("Person", format, arguments, sort: descriptors)
                    #expect(
                        Set(found) == Set(expected),
                        "seed \(seed), \(format): \(found.count) and \(expected.count), \(stack.context.lastQueryDescription)")
                    #expect(found.count == expected.count)
                    let keys = try descriptors.map { try SortKey($0, entity: entity) }
                    let isOrdered = zip(found, found.dropFirst()).allSatisfy { a, b in
                        keys.lazy.map { $0.compare(a, b) }.first { $0 != .orderedSame } != .orderedDescending
                    }
                    #expect(isOrdered, "seed \(seed), \(format) by \(sort)")
                }
            }
        }
    }

    private func count(_ stack: TestStack, _ format: String, _ arguments: [Any]) throws -> Int {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        request.predicate = NSPredicate(format: format, argumentArray: arguments)
        return try stack.context.count(for: request)
    }

    @Test(arguments: StoreKind.allCases)
    func `Limit and offset take a window of the order`(kind: StoreKind) throws {
        var random = SeededGenerator(seed: 9)
        let stack = try filled(kind, &random)
        for sorts in [[NSSortDescriptor(key: "age", ascending: false)], [NSSortDescriptor(key: "group.title", ascending: true)], []] {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
            request.sortDescriptors = sorts
            let all = try stack.context.fetch(request)
            request.fetchOffset = 13
            request.fetchLimit = 10
            #expect(try stack.context.fetch(request) == Array(all[13..<23]))
            #expect(try stack.context.count(for: request) == 10)
            request.fetchOffset = 195
            #expect(try stack.context.fetch(request) == Array(all[195...]))
            request.fetchOffset = 1000
            #expect(try stack.context.fetch(request).isEmpty)
        }
    }

    @Test(arguments: StoreKind.planning)
    func `An index is used where it helps`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        for number in 0..<1000 { stack.insert("Person", ["name": "p\(number)", "age": number, "email": "e\(number)"]) }
        try stack.context.save()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        request.includesSubentities = false
        func run(_ format: String?, _ sort: [NSSortDescriptor] = [], limit: Int = 0) throws -> QueryStatistics {
            request.predicate = format.map { NSPredicate(format: $0) }
            request.sortDescriptors = sort
            request.fetchLimit = limit
            _ = try stack.context.fetch(request)
            return stack.context.lastQuery
        }
        #expect(try run("email = 'e500'").access == [.index("unique:email")])
        #expect(stack.context.lastQuery.rowsVisited == 1)
        #expect(try run("age BETWEEN {100, 109}").rowsVisited == 10)
        #expect(try run("name = 'p7' AND age = 7").rowsVisited == 1)
        #expect(try run("name BEGINSWITH 'p99'").rowsVisited == 11)
        #expect(try run("age IN {3, 5, 7}").rowsVisited == 3)
        #expect(try run("age > 10", [NSSortDescriptor(key: "age", ascending: false)], limit: 20).rowsVisited == 20)
        #expect(stack.context.lastQuery.isOrderedByIndex)
        #expect(try run(nil, [NSSortDescriptor(key: "age", ascending: true)], limit: 5).rowsVisited == 5)
        #expect(try run("name CONTAINS '50'").access == [.scan])
        #expect(stack.context.lastQuery.rowsVisited == 1000)
    }

    @Test(arguments: StoreKind.allCases)
    func `A fetch that cannot be served says why`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        func message(_ body: () throws -> Void) -> String {
            (#expect(throws: (any Error).self, performing: body) as? NSError)?.localizedDescription ?? ""
        }
        #expect(message { _ = try stack.fetch("Nobody") }.contains("no entity named \"Nobody\""))
        #expect(message { _ = try stack.fetch("Person", sort: [NSSortDescriptor(key: "shoe", ascending: true)]) }.contains("shoe"))
        #expect(message { _ = try stack.fetch("Person", sort: [NSSortDescriptor(key: "tags", ascending: true)]) }.contains("tags"))
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        request.predicate = NSPredicate(block: { _, _ in true })
        #expect(message { _ = try stack.context.fetch(request) }.contains("block"))
    }

    @MainActor @Test
    func `Typical uses of Core Data compile as written`() throws {
        let stack = try TestStack(.inMemory)
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = stack.coordinator
        let entity = NSEntityDescription.entity(forEntityName: "Person", in: context)!
        let object = Person(entity: entity, insertInto: context)
        let date = Date()
        object.setValue(date, forKey: "birthday")
        try context.save()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        request.predicate = NSPredicate(format: "birthday = %@", date as any CVarArg)
        #expect(try context.fetch(request).count == 1)
        let existential = NSFetchRequest<any NSFetchRequestResult>(entityName: "Person")
        #expect(try context.fetch(existential) as? [NSManagedObject] != nil)
        let people = try stack.newContext().fetch(Person.fetchRequest())
        #expect(people.count == 1)
        let typed: [Person] = try stack.newContext().fetch(NSFetchRequest<Person>(entityName: "Person"))
        let ofClass: NSFetchRequest<Person> = Person.fetchRequest(), untyped: NSFetchRequest<any NSFetchRequestResult> = Person.fetchRequest()
        #expect(["Person", "Employee"].contains(ofClass.entityName) && untyped.entityName == ofClass.entityName)
        #expect(typed.first?.age == 1)
    }
}
