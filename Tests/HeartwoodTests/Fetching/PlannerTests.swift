import Foundation
import RecordLog
import Testing

@testable import Heartwood

/// The planner's choice of access paths, and their costs.
@Suite struct PlannerTests {
    /// Number n has the age n % 100, the name "p" and n % 10, group n % 5; each tenth is an employee, each 50th has two tags.
    private func filled(_ kind: StoreKind, count: Int = 1000) throws -> TestStack {
        let stack = try TestStack(kind)
        let groups = (0..<5).map { stack.insert("Group", ["title": "g\($0)"]) }
        let tags = (0..<3).map { stack.insert("Tag", ["label": "t\($0)"]) }
        for number in 0..<count {
            let person = stack.insert(
                number % 10 == 0 ? "Employee" : "Person", ["age": number % 100, "name": "p\(number % 10)", "email": "e\(number)"])
            person.setValue(groups[number % 5], forKey: "group")
            if number % 50 == 1 { person.setValue(Set(tags.prefix(2)), forKey: "tags") }
        }
        try stack.context.save()
        try stack.store.log!.checkpoint()
        return stack
    }

    private func request(_ format: String?, _ sort: [(String, Bool)] = [], limit: Int = 0, family: Bool = true, _ arguments: [Any] = []) -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        request.predicate = format.map { NSPredicate(format: $0, argumentArray: arguments) }
        request.sortDescriptors = sort.map { NSSortDescriptor(key: $0.0, ascending: $0.1) }
        request.fetchLimit = limit
        request.includesSubentities = family
        return request
    }

    @Test(arguments: StoreKind.planning)
    func `A disjunction of indexed parts visits each row once`(kind: StoreKind) throws {
        let stack = try filled(kind)
        let plan = try stack.context.explain(request("age = 7 OR email = 'e7' OR email = 'e8'", family: false))
        #expect(plan.parts[0].access == .union([.index("index:byAge"), .index("unique:email")]))
        #expect(plan.rowsVisited == 11 && plan.rowsMatched == 11)
        // The ranges of one index are joined, and it still gives the order.
        let ranges = try stack.context.explain(request("age < 3 OR age BETWEEN {2, 5} OR age > 97", [("age", false)], limit: 25, family: false))
        #expect(ranges.parts[0] == FetchPlan.Part(entityName: "Person", access: .index("index:byAge"), rangeCount: 2, isOrderedByIndex: true))
        #expect(ranges.rowsVisited == 25 && !ranges.isSorted)
        // A part without an index needs a scan.
        #expect(try stack.context.explain(request("age = 7 OR birthday = nil", family: false)).parts[0].access == .scan)
    }

    @Test(arguments: StoreKind.planning)
    func `An index gives the order after equal columns and over a family`(kind: StoreKind) throws {
        let stack = try filled(kind)
        for sort in [[("age", true)], [("age", false)], [("name", true), ("age", false)], [("age", true), ("name", false)]] {
            let plan = try stack.context.explain(request("name = 'p3'", sort, limit: 7, family: false))
            #expect(plan.parts[0].access == .index("index:byName") && plan.parts[0].isOrderedByIndex && plan.rowsVisited == 7, "\(sort)")
        }
        let both = try stack.context.explain(request(nil, [("age", false)], limit: 30))
        #expect(both.parts.map(\.isOrderedByIndex) == [true, true] && both.rowsVisited == 30)
        let unordered = try stack.context.explain(request(nil, [("birthday", true)], limit: 5))
        #expect(unordered.isSorted && unordered.rowsVisited == 1000)
    }

    /// Equal rows come by their numbers, so that pages fit together whichever access path found each.
    @Test(arguments: StoreKind.planning)
    func `All access paths give one order`(kind: StoreKind) throws {
        let stack = try filled(kind, count: 300)
        for (format, sort) in [
            (nil, [("age", false)]), ("age > 5", [("name", false)]), ("age > 5 AND age < 90", [("age", true)]),
            ("name IN {'p1', 'p3', 'p0'}", [("name", true)])] as [(String?, [(String, Bool)])]
        {
            let byIndex = try stack.context.fetch(request(format, sort))
            let byScan = try QueryTuning.with(QueryTuning(access: .scan)) { try stack.context.fetch(request(format, sort)) }
            #expect(byIndex == byScan, "\(format ?? "") by \(sort)")
            for limit in [1, 7, 100] { #expect(try stack.context.fetch(request(format, sort, limit: limit)) == Array(byScan.prefix(limit))) }
        }
    }

    @Test(arguments: StoreKind.planning)
    func `Counts come from the index only`(kind: StoreKind) throws {
        let stack = try filled(kind)
        func counted(_ format: String) throws -> (count: Int, visited: Int, entries: Int) {
            let reads = stack.rowReads
            let count = try stack.context.count(for: request(format))
            let last = stack.context.lastQuery
            #expect(stack.rowReads == reads + UInt64(last.rowsVisited), "\(format)")
            return (count, last.rowsVisited, last.entriesCounted)
        }
        #expect(try counted("age >= 90") == (100, 0, 100))
        #expect(try counted("age IN {1, 2, 3}") == (30, 0, 30))
        #expect(try counted("name BEGINSWITH 'p1'") == (100, 0, 100))
        #expect(try counted("name = 'p1' AND age > 50") == (50, 0, 50))
        #expect(try counted("age < 5 OR age > 95") == (90, 0, 90))
        #expect(try counted("email != nil") == (1000, 0, 1000))
        #expect(try counted("age >= 90 AND birthday = nil").count == 100)
        #expect(try counted("tags.@count > 0").count == 20)
        // Newer entries and deleted ones count.
        stack.insert("Person", ["age": 95])
        for person in try stack.fetch("Person", "age = 99") { stack.context.delete(person) }
        try stack.context.save()
        #expect(try counted("age >= 90") == (91, 0, 91))
        #expect(try counted("age = 99") == (0, 0, 0))
    }

    @Test(arguments: StoreKind.recordLogs)
    func `A relationship is followed from its small end`(kind: StoreKind) throws {
        let stack = try filled(kind)
        let group = try stack.fetch("Group", "title = 'g1'")[0], tag = try stack.fetch("Tag", "label = 't1'")[0]
        func plan(_ format: String, _ arguments: [Any] = [], matched: Int, visited: Int) throws -> FetchPlan {
            let plan = try stack.context.explain(request(format, family: false, arguments))
            #expect(plan.rowsMatched == matched, "\(format)")
            #expect(plan.rowsVisited <= visited, "\(format): \(plan)")
            return plan
        }
        let join = try plan("group.title = 'g1'", matched: 200, visited: 205)
        #expect(join.lookups == [FetchPlan.Lookup(entityName: "Group", access: .scan)])
        #expect(join.parts[0].access == .index("reference:group"))
        #expect(try plan("group = %@", [group], matched: 200, visited: 200).parts[0].access == .index("reference:group"))
        #expect(try plan("group IN %@ AND age = 1", [[group]], matched: 10, visited: 10).parts[0].access == .index("index:byAge"))
        #expect(try plan("ANY tags.label = 't1'", matched: 20, visited: 23).parts[0].access == .rows)
        #expect(try plan("ANY tags = %@", [tag], matched: 20, visited: 20).parts[0].access == .rows)
        _ = try plan("SUBQUERY(tags, $t, $t.label = 't0').@count > 0", matched: 20, visited: 23)
        _ = try plan("tags.@count = 2", matched: 20, visited: 20)
        #expect(try plan("SELF IN %@", [Array(try stack.fetch("Person").prefix(3))], matched: 3, visited: 3).parts[0].access == .rows)
        // Starting at an object's row is cheap, so no semi-join is used.
        #expect(try plan("email = 'e1' AND group.title = 'g1'", matched: 1, visited: 6).parts[0].access == .index("unique:email"))
        #expect(try stack.context.explain(request("ANY tags.label = 't2'", family: false)).rowsMatched == 0)
        let groups = NSFetchRequest<NSManagedObject>(entityName: "Group")
        groups.predicate = NSPredicate(format: "ANY people.email = 'e7'")
        let found = try stack.context.explain(groups)
        #expect(found.rowsMatched == 1 && found.rowsVisited == 2, "\(found)")
    }

    @Test(arguments: StoreKind.recordLogs)
    func `Scans on several cores give the same as on one`(kind: StoreKind) throws {
        let stack = try filled(kind, count: 5000)
        let wide = QueryTuning(cores: 3, rowsForCores: 100, access: .scan)
        for (format, sort, limit) in [
            ("name CONTAINS '3' AND age > 10", [], 0), ("name CONTAINS '3'", [("birthday", true), ("age", false)], 0),
            ("age > 10", [("email", true)], 12),
            (nil, [("email", false)], 2000),
        ] as [(String?, [(String, Bool)], Int)] {
            let narrow = try QueryTuning.with(QueryTuning(cores: 1, access: .scan)) { try stack.context.fetch(request(format, sort, limit: limit)) }
            try QueryTuning.with(wide) { () throws in
                #expect(try stack.context.fetch(request(format, sort, limit: limit)) == narrow)
                #expect(stack.context.lastQuery.cores == 3 && stack.context.lastQuery.rowsVisited == 5000)
                guard limit == 0, format != nil else { return }
                #expect(try stack.context.count(for: request(format)) == narrow.count)
            }
        }
    }

    @Test(arguments: StoreKind.recordLogs)
    func `A scan of several windows gives its rows in order`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let insertion = NSBatchInsertRequest(
            entityName: "Person", objects: (0..<20_000).map { ["age": $0 % 100, "name": "p\($0 % 10)", "email": "e\($0)"] })
        _ = try stack.context.execute(insertion)
        // A page of the primary index without a row, and one with few.
        let gap = NSFetchRequest<any NSFetchRequestResult>(entityName: "Person")
        gap.predicate = NSPredicate(format: "age > 1 OR name = 'p0'")
        gap.fetchOffset = 4000
        gap.fetchLimit = 9000
        _ = try stack.context.execute(NSBatchDeleteRequest(fetchRequest: gap))
        try stack.store.log!.checkpoint()
        let asked = request("name CONTAINS '1' OR age > 95", family: false)
        let narrow = try QueryTuning.with(QueryTuning(cores: 1, access: .scan)) { try stack.context.fetch(asked) }
        try QueryTuning.with(QueryTuning(cores: 2, rowsForCores: 100, pagesPerWindow: 1, access: .scan)) { () throws in
            #expect(try stack.context.fetch(asked) == narrow && stack.context.lastQuery.cores == 2)
            #expect(stack.context.lastQuery.rowsVisited == 11_000 && narrow.count > 1000)
            let update = NSBatchUpdateRequest(entityName: "Person")
            (update.predicate, update.propertiesToUpdate, update.resultType) = (asked.predicate, ["name": "x"], .updatedObjectIDsResultType)
            let updated = try (stack.context.execute(update) as? NSBatchUpdateResult)?.result as? [NSManagedObjectID]
            #expect(updated == narrow.map(\.objectID))
        }
    }

    @Test
    func `A plan describes its work in words`() throws {
        let stack = try filled(.inMemory)
        let text = try stack.context.explain(request("group.title = 'g1'", [("birthday", true)], family: false)).description
        #expect(text == "Group first: scan\nPerson: index reference:group\nsorted\n205 rows visited, 200 matched")
        stack.insert("Person", ["age": 7])
        let pending = try stack.context.explain(request("age = 7"))
        #expect(pending.isInMemory && pending.rowsMatched == 11 && pending.parts[0].access == .index("index:byAge"))
    }

    @Test(arguments: StoreKind.planning)
    func `An order by an unknown property is refused by name`(kind: StoreKind) throws {
        let stack = try filled(kind, count: 10)
        for (key, part) in [("tags", "tags"), ("group.people", "people"), ("group.shoe", "shoe"), ("name.length", "name"), ("shoe", "shoe")] {
            let error = #expect(throws: (any Error).self) { try stack.context.fetch(request(nil, [(key, true)])) }
            #expect((error as? NSError)?.localizedDescription.contains("\"\(key)\": \(part)") ?? false, "\(key)")
        }
    }
}
