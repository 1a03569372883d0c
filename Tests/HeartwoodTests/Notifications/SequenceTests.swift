import Foundation
import Heartwood
import Testing

@Suite struct SequenceTests {
    private func people(_ stack: TestStack) -> NSFetchRequest<Person> {
        let request = NSFetchRequest<Person>(entityName: "Person")
        request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true)]
        return request
    }

    private func add(_ age: Int, _ context: NSManagedObjectContext) async throws {
        try await context.perform {
            let person = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
            person.setValue(age, forKey: "age")
            try context.save()
        }
    }

    private func background(_ stack: TestStack) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = stack.coordinator
        return context
    }

    @Test func `the results of a request come now, and after each change`() async throws {
        let stack = try TestStack(.recordLog), context = background(stack)
        context.automaticallyMergesChangesFromParent = true
        try await add(2, context)
        let request = people(stack)
        var results = context.results(of: request).makeAsyncIterator()
        // What changes in the request afterwards does not count.
        request.predicate = NSPredicate(value: false)
        func ages() async throws -> [Int]? {
            nonisolated(unsafe) let found = try await results.next()
            return await context.perform { found?.map(\.age) }
        }
        #expect(try await ages() == [2])
        try await add(1, context)
        #expect(try await ages() == [1, 2])
        // Another context's save, and two changes that are one.
        let other = background(stack)
        try await add(3, other)
        #expect(try await ages() == [1, 2, 3])
    }

    @Test func `a cancelled loop ends`() async throws {
        let stack = try TestStack(.recordLog), context = background(stack), request = people(stack)
        let sequence = context.results(of: request)
        nonisolated(unsafe) let confined = sequence
        let task = Task {
            var count = 0
            for try await _ in confined { count += 1 }
            return count
        }
        task.cancel()
        #expect(try await task.value <= 1)
    }

    @Test func `results that no controller follows are refused`() async throws {
        let stack = try TestStack(.recordLog), context = background(stack)
        let request = NSFetchRequest<NSDictionary>(entityName: "Person")
        request.resultType = .dictionaryResultType
        var results = context.results(of: request).makeAsyncIterator()
        await #expect(throws: CocoaError.self) { _ = try await results.next() }
    }

    @Test func `a history goes on with each commit, and from a token`() async throws {
        let stack = try TestStack(.recordLog, options: [NSPersistentHistoryTrackingKey: true]), context = background(stack)
        try await add(1, context)
        try await add(2, context)
        var history = stack.coordinator.history().makeAsyncIterator()
        var numbers: [Int64?] = [try await history.next()?.transactionNumber, try await history.next()?.transactionNumber]
        let token = history.token
        try await add(3, context)
        numbers.append(try await history.next()?.transactionNumber)
        #expect(numbers == [1, 2, 3])
        var rest = stack.coordinator.history(after: token).makeAsyncIterator()
        #expect(try await rest.next()?.transactionNumber == 3)
        #expect(rest.token == history.token)
        // A commit of another coordinator.
        let other = try TestStack(.recordLog, at: stack.url, options: [NSPersistentHistoryTrackingKey: true])
        try await add(4, background(other))
        #expect(try await history.next()?.transactionNumber == 4)
    }

    @Test func `an expired token ends the loop with its error`() async throws {
        let stack = try TestStack(.recordLog, options: [NSPersistentHistoryTrackingKey: true]), context = background(stack)
        try await add(1, context)
        var history = stack.coordinator.history().makeAsyncIterator()
        _ = try await history.next()
        let token = history.token
        try await add(2, context)
        try await add(3, context)
        try await context.perform { _ = try context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: Date.distantFuture)) }
        var rest = stack.coordinator.history(after: token).makeAsyncIterator()
        await #expect { _ = try await rest.next() } throws: { ($0 as NSError).code == NSPersistentHistoryTokenExpiredError }
    }

    @Test func `commits to a store come without an option of the store`() async throws {
        let stack = try TestStack(.recordLog), context = background(stack)
        var changes = stack.coordinator.remoteChanges.makeAsyncIterator()
        try await add(1, context)
        try await add(2, context)
        let own = await changes.next()
        #expect(own?.storeIdentifier == stack.coordinator.persistentStores.first?.identifier)
        #expect(own?.storeURL == stack.coordinator.persistentStores.first?.url)
        #expect(own?.historyToken == nil)
        let other = try TestStack(.recordLog, at: stack.url)
        try await add(3, background(other))
        #expect(await changes.next() != nil)
    }
}
