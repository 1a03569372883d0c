import Foundation
import Testing

@testable import Heartwood

@Suite struct PrefetchTests {
    /// Ten groups of ten persons, each with two tasks and two of five tags.
    private func filled(_ kind: StoreKind) throws -> TestStack {
        let stack = try TestStack(kind)
        let tags = (0..<5).map { stack.insert("Tag", ["label": "t\($0)"]) }
        for number in 0..<10 {
            let group = stack.insert("Group", ["title": "g\(number)"])
            for index in 0..<10 {
                let person = stack.insert("Person", ["name": "p\(number)\(index)", "group": group, "age": number * 10 + index])
                person.setValue(Set([tags[index % 5], tags[(index + 1) % 5]]), forKey: "tags")
                person.setValue(NSOrderedSet(array: (0..<2).map { stack.insert("Task", ["title": "\($0)"]) }), forKey: "tasks")
            }
        }
        try stack.context.save()
        return stack
    }

    private func request(_ entity: String, _ paths: [String], batch: Int = 0, sort: String? = nil) -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.relationshipKeyPathsForPrefetching = paths
        request.fetchBatchSize = batch
        request.sortDescriptors = sort.map { [NSSortDescriptor(key: $0, ascending: true)] }
        return request
    }

    @Test(arguments: StoreKind.planning)
    func `Prefetched relationships read nothing more`(kind: StoreKind) throws {
        let stack = try filled(kind)
        let context = stack.newContext()
        let members = MembersRead(by: context)
        let reads = stack.rowReads
        let people = try context.fetch(request("Person", ["group", "tasks", "tags"]))
        let during = stack.rowReads - reads
        #expect(during == 100 + 10 + 200 + 5, "each row once: \(during)")
        #expect(people.allSatisfy(\.isFault) && context.identities.all.allSatisfy(\.isFault), "no fault fires")
        let after = stack.rowReads
        var groups: Set<String> = []
        for person in people {
            groups.insert(person.value(forKeyPath: "group.title") as? String ?? "-")
            let tasks = (person.value(forKey: "tasks") as? NSOrderedSet)?.array as? [NSManagedObject]
            #expect(tasks?.map { $0.value(forKey: "title") as? String } == ["0", "1"])
            #expect((person.value(forKeyPath: "tags.label") as? NSSet)?.count == 2)
        }
        #expect(groups.count == 10 && stack.rowReads == after && members.read == 0)
    }

    @Test(arguments: StoreKind.planning)
    func `Prefetching follows long paths; without it a fetch reads one by one`(kind: StoreKind) throws {
        let stack = try filled(kind)
        let context = stack.newContext()
        let members = MembersRead(by: context)
        let groups = try context.fetch(request("Group", ["people.tasks.owner"]))
        let after = stack.rowReads
        func look(_ groups: [NSManagedObject]) -> Int {
            groups.reduce(0) { $0 + ((($1.value(forKeyPath: "people.tasks")) as? NSSet)?.count ?? 0) }
        }
        #expect(look(groups) == 100 && stack.rowReads == after && members.read == 0)
        let other = stack.newContext()
        let plainMembers = MembersRead(by: other)
        let plain = try other.fetch(request("Group", []))
        let before = stack.rowReads
        #expect(look(plain) == 100 && stack.rowReads > before && plainMembers.read == 300)
        #expect(throws: NSError.self) { try other.fetch(request("Group", ["title"])) }
        #expect(throws: NSError.self) { try other.fetch(request("Group", ["people.nobody"])) }
    }

    @Test(arguments: StoreKind.planning)
    func `A few owners among many are looked up`(kind: StoreKind) throws {
        let stack = try filled(kind)
        let context = stack.newContext()
        let members = MembersRead(by: context)
        let some = request("Person", ["tasks", "tags"])
        some.predicate = NSPredicate(format: "name IN {'p00', 'p55', 'p56', 'p99'}")
        for person in try context.fetch(some) {
            #expect((person.value(forKey: "tasks") as? NSOrderedSet)?.count == 2 && (person.value(forKey: "tags") as? NSSet)?.count == 2)
        }
        #expect(members.read == 0)
    }

    @Test(arguments: StoreKind.planning)
    func `A batch is prefetched when one of its objects is read`(kind: StoreKind) throws {
        let stack = try filled(kind)
        let context = stack.newContext()
        let members = MembersRead(by: context)
        let reads = stack.rowReads
        let people = try context.fetch(request("Person", ["tasks", "group"], batch: 10, sort: "age"))
        #expect(stack.rowReads - reads == 100 + 20 + 1, "the rows, and what the first ten lead to")
        #expect(people.count == 100 && context.identities.count == 100 + 20 + 1)
        let before = stack.rowReads
        #expect((people[55].value(forKey: "tasks") as? NSOrderedSet)?.count == 2)
        #expect(stack.rowReads - before == 20 + 1, "the sixth batch")
        for person in people[50..<60] {
            #expect((person.value(forKeyPath: "group.title") as? String) == "g5")
            #expect((person.value(forKey: "tasks") as? NSOrderedSet)?.count == 2)
        }
        #expect(stack.rowReads - before == 20 + 1 && members.read == 0)
        for person in people { _ = person.value(forKey: "name") }
        #expect(context.queries.laterBatches.isEmpty && stack.rowReads - reads == 100 + 200 + 10)
    }

    @Test(arguments: StoreKind.planning)
    func `Without faults, objects are read a batch at a time`(kind: StoreKind) throws {
        let stack = try filled(kind)
        let wanted = request("Person", [], batch: 30, sort: "age")
        wanted.returnsObjectsAsFaults = false
        let context = stack.newContext()
        let people = try context.fetch(wanted)
        #expect(people.prefix(30).allSatisfy { !$0.isFault } && people.dropFirst(30).allSatisfy(\.isFault))
        #expect((people[99] as? Person)?.name == "p99")
        #expect(people.suffix(10).allSatisfy { !$0.isFault } && people[30..<90].allSatisfy(\.isFault))
        #expect((people[99] as? Person)?.fetches == 1)
        context.reset()
        #expect(context.queries.laterBatches.isEmpty)
    }

    @Test(arguments: StoreKind.planning)
    func `Children prefetch through their parents`(kind: StoreKind) throws {
        let stack = try filled(kind)
        let child = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        child.parent = stack.newContext()
        let members = MembersRead(by: child)
        let people = try child.fetch(request("Person", ["group", "tasks"]))
        let after = stack.rowReads
        for person in people {
            #expect(person.value(forKeyPath: "group.title") != nil && (person.value(forKey: "tasks") as? NSOrderedSet)?.count == 2)
        }
        #expect(stack.rowReads == after && members.read == 0)
    }

    @Test(arguments: StoreKind.planning)
    func `The context's changes stay on top of prefetched rows`(kind: StoreKind) throws {
        let stack = try filled(kind)
        let context = stack.newContext()
        let person = try #require(try stack.fetch("Person", "name == 'p00'", in: context).first)
        let other = try #require(try stack.fetch("Group", "title == 'g9'", in: context).first)
        person.setValue(other, forKey: "group")
        let task = stack.insert("Task", ["title": "new"], into: context)
        task.setValue(person, forKey: "owner")
        let people = try context.fetch(request("Person", ["group", "tasks", "group.people"], sort: "age"))
        #expect(people.first === person && person.value(forKey: "group") as? NSManagedObject === other)
        #expect((person.value(forKey: "tasks") as? NSOrderedSet)?.count == 3 && (other.value(forKey: "people") as? NSSet)?.count == 11)
        try context.save()
        #expect(try stack.fetch("Person", "group.title == 'g9'", in: stack.anew()).count == 11)
    }

    @Test(arguments: StoreKind.batching)
    func `Refetched objects are refreshed when the request asks for it`(kind: StoreKind) throws {
        let stack = try filled(kind)
        let people = try stack.fetch("Person", "age < 2", sort: [NSSortDescriptor(key: "age", ascending: true)])
        #expect(people.map { $0.value(forKey: "name") as? String } == ["p00", "p01"])
        people[1].setValue(Date(timeIntervalSinceReferenceDate: 1), forKey: "birthday")
        _ = try stack.updateBatch("Person", "age < 2", ["name": "new"])
        let again = NSFetchRequest<NSManagedObject>(entityName: "Person")
        again.predicate = NSPredicate(format: "age < 2")
        #expect(try Set(stack.context.fetch(again)) == Set(people) && people[0].value(forKey: "name") as? String == "p00")
        again.shouldRefreshRefetchedObjects = true
        #expect(try stack.context.fetch(again).count == 2)
        #expect(people.map { $0.value(forKey: "name") as? String } == ["new", "new"])
        #expect(people[1].value(forKey: "birthday") as? Date == Date(timeIntervalSinceReferenceDate: 1) && people[1].isUpdated)
        try stack.context.save()
    }

    @Test(arguments: StoreKind.planning)
    func `Objects may come without their rows`(kind: StoreKind) throws {
        let stack = try filled(kind)
        let wanted = request("Person", [])
        wanted.includesPropertyValues = false
        let people = try stack.newContext().fetch(wanted)
        #expect(people.allSatisfy { $0.isFault && $0.rowBody == nil })
        let context = stack.anew()
        let bare = try context.fetch(wanted)
        let before = stack.rowReads
        #expect(bare[0].value(forKey: "name") != nil && stack.rowReads == before + 1)
    }

    /// More destinations than a context keeps without references.
    @Test(arguments: StoreKind.planning)
    func `Many destinations are read once`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        for number in 0..<100 {
            let person = stack.insert("Person", ["name": "p\(number)"])
            person.setValue(NSOrderedSet(array: (0..<30).map { stack.insert("Task", ["title": "\($0)"]) }), forKey: "tasks")
        }
        try stack.context.save()
        let context = stack.newContext()
        let members = MembersRead(by: context)
        let reads = stack.rowReads
        let people = try context.fetch(request("Person", ["tasks"]))
        #expect(stack.rowReads - reads == 3100, "each row once")
        for person in people {
            let tasks = (person.value(forKey: "tasks") as? NSOrderedSet)?.array as? [NSManagedObject]
            #expect(tasks?.map { $0.value(forKey: "title") as? String } == (0..<30).map { "\($0)" })
        }
        #expect(stack.rowReads - reads == 3100 && members.read == 0)
    }
}
