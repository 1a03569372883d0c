import Foundation
import Testing

@testable import Heartwood

/// Consecutive look-ups by a uniqueness constraint, which reuse the plan of the first one.
@Suite struct CachedLookupPlanTests {
    private func stack(_ kind: StoreKind = .recordLog) throws -> TestStack {
        let stack = try TestStack(kind)
        for number in 0..<20 { stack.insert("Employee", ["email": "e\(number)@x", "age": number]) }
        try stack.context.save()
        return stack
    }

    private func request(_ email: String) -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Employee")
        request.predicate = NSPredicate(format: "email == %@", email)
        return request
    }

    private func age(_ email: String, _ context: NSManagedObjectContext) throws -> Int? {
        try context.fetch(request(email)).first?.value(forKey: "age") as? Int
    }

    @Test(arguments: StoreKind.recordLogs)
    func `The second look-up uses the plan of the first`(kind: StoreKind) throws {
        let stack = try stack(kind)
        let context = stack.anew()
        #expect(try age("e3@x", context) == 3)
        let cachedPlan = try #require(context.queries.cachedPlan)
        for number in 0..<20 { #expect(try age("e\(number)@x", context) == number) }
        #expect(try age("nobody@x", context) == nil)
        #expect(context.queries.cachedPlan === cachedPlan)
        #expect(context.lastQuery.rowsVisited == 0 && context.lastQuery.access == [.index("unique:email")])
        #expect(try age("e5@x", context) == 5)
        #expect(context.lastQuery.rowsVisited == 1 && context.lastQuery.rowsMatched == 1)
    }

    @Test
    func `Every form of the question is recognized`() throws {
        let stack = try stack()
        let context = stack.anew()
        _ = try age("e3@x", context)
        let cachedPlan = try #require(context.queries.cachedPlan)
        let parsed = request("")
        parsed.predicate = NSPredicate(format: "email == 'e7@x'")
        #expect(try context.fetch(parsed).first?.value(forKey: "age") as? Int == 7)
        parsed.predicate = NSComparisonPredicate(
            leftExpression: NSExpression(forKeyPath: "email"), rightExpression: NSExpression(forConstantValue: "e8@x"), modifier: .direct,
            type: .equalTo, options: [])
        #expect(try context.fetch(parsed).first?.value(forKey: "age") as? Int == 8)
        #expect(context.queries.cachedPlan === cachedPlan)
        // Texts that Swift calls equal are different values.
        #expect(try context.fetch(request("e\u{301}")).isEmpty)
        parsed.predicate = NSPredicate(format: "email == %@", 7)
        #expect(try context.fetch(parsed).isEmpty)
        parsed.predicate = NSPredicate(format: "age == %@", 7 as NSNumber)
        #expect(try context.fetch(parsed).count == 1)
        parsed.predicate = NSPredicate(format: "mail == %@", "e7@x")
        #expect(throws: NSError.self) { try context.fetch(parsed) }
    }

    @Test(arguments: StoreKind.planning)
    func `Saves of another context are seen`(kind: StoreKind) throws {
        let stack = try stack(kind)
        let context = stack.anew(), writer = stack.anew()
        for round in 0..<5 {
            #expect(try age("e3@x", context) == 3 + round)
            let object = try #require(try writer.fetch(request("e3@x")).first)
            object.setValue(4 + round, forKey: "age")
            object.setValue(round % 2 == 0 ? "e3@x" : "moved@x", forKey: "email")
            try writer.save()
            if round % 2 == 1 {
                #expect(try context.fetch(request("e3@x")).isEmpty)
                object.setValue("e3@x", forKey: "email")
                try writer.save()
            }
            context.refreshAllObjects()
        }
    }

    @Test
    func `Saves of another handle are seen and announced`() throws {
        let stack = try TestStack(.recordLog, options: [NSRecordLogDurabilityOption: "full"])
        stack.insert("Employee", ["email": "e3@x", "age": 3])
        try stack.context.save()
        let other = try TestStack(
            .recordLog, at: stack.url, options: [NSPersistentStoreRemoteChangeNotificationPostOptionKey: true, NSRecordLogDurabilityOption: "full"])
        let context = other.anew()
        #expect(try age("e3@x", context) == 3)
        let heard = Heard([.NSPersistentStoreRemoteChange], of: other.coordinator)
        stack.insert("Employee", ["email": "new@x", "age": 77])
        try stack.context.save()
        #expect(try age("new@x", context) == 77)
        #expect(try age("e3@x", context) == 3)
        // The store's own thread may have seen the commit first, and then posts beside this one.
        #expect(heard.wait())
        #expect(heard.names == [.NSPersistentStoreRemoteChange])
    }

    @Test
    func `Unsaved changes are part of the answer`() throws {
        let stack = try stack()
        let context = stack.anew()
        let object = try #require(try context.fetch(request("e3@x")).first)
        object.setValue("changed@x", forKey: "email")
        #expect(try context.fetch(request("e3@x")).isEmpty)
        #expect(try context.fetch(request("changed@x")).first === object)
        context.rollback()
        #expect(try context.fetch(request("e3@x")).first === object)
    }

    @Test
    func `A pinned context stays with its commit`() throws {
        let stack = try stack()
        let context = stack.anew()
        #expect(try age("e3@x", context) == 3)
        try context.setQueryGenerationFrom(.current)
        stack.insert("Employee", ["email": "late@x", "age": 1])
        try stack.context.save()
        #expect(try context.fetch(request("late@x")).isEmpty)
        #expect(try age("e4@x", context) == 4)
        try context.setQueryGenerationFrom(nil)
        #expect(try age("late@x", context) == 1)
    }

    @Test
    func `An added store is asked too`() throws {
        let stack = try stack()
        let context = stack.anew()
        #expect(try age("e3@x", context) == 3)
        let second = try TestStack(.recordLog)
        second.insert("Employee", ["email": "elsewhere@x", "age": 90])
        try second.context.save()
        try second.coordinator.remove(second.persistentStore)
        let added = try stack.coordinator.addPersistentStore(ofType: NSRecordLogStoreType, configurationName: nil, at: second.url)
        #expect(try age("elsewhere@x", context) == 90)
        try stack.coordinator.remove(added)
        #expect(try context.fetch(request("elsewhere@x")).isEmpty)
        #expect(try age("e4@x", context) == 4)
    }

    @Test
    func `A removed store is no longer asked`() throws {
        let stack = try stack()
        let context = stack.anew()
        #expect(try age("e3@x", context) == 3)
        try stack.coordinator.remove(stack.persistentStore)
        #expect((try? context.fetch(request("e4@x")))?.isEmpty ?? true)
        try stack.coordinator.addPersistentStore(ofType: NSRecordLogStoreType, configurationName: nil, at: stack.url)
        #expect(try age("e4@x", context) == 4)
    }

    @Test
    func `A context keeps no commit after a reset`() throws {
        let stack = try stack()
        let context = stack.anew()
        #expect(try age("e3@x", context) == 3)
        context.reset()
        #expect(context.queries.cachedPlan == nil)
        // The statistics of the last fetch are still known.
        #expect(context.lastQuery.rowsVisited == 1)
        #expect(try age("e3@x", context) == 3)
    }

    @Test
    func `An object of another class is refused`() throws {
        let stack = try stack()
        let context = stack.anew()
        #expect(try age("e3@x", context) == 3)
        let wrong = NSFetchRequest<Person>(entityName: "Employee")
        wrong.predicate = NSPredicate(format: "email == %@", "e3@x")
        guard try context.fetch(request("e3@x")).first is Person else {
            #expect(throws: NSError.self) { try context.fetch(wrong) }
            return
        }
        #expect(try context.fetch(wrong).count == 1)
    }
}
