import Foundation
import Synchronization
import Testing

@testable import Heartwood

/// Contexts of several queues at once; the thread sanitizer runs these tests too.
@Suite struct ConcurrentContextTests {
    private static let writers = 6, rounds = 12, people = 8

    private func context(
        _ stack: TestStack, _ type: NSManagedObjectContextConcurrencyType = .privateQueueConcurrencyType
    ) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: type)
        context.persistentStoreCoordinator = stack.coordinator
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        return context
    }

    /// Each writer has persons of its own, and they share one group and one of the persons.
    private func write(
        _ stack: TestStack, _ contexts: [NSManagedObjectContext], shared: NSManagedObjectID, group: NSManagedObjectID
    ) async throws {
        try await withThrowingTaskGroup { tasks in
            for (number, context) in contexts.enumerated() {
                tasks.addTask { [coordinator = stack.coordinator] in
                    let entity = coordinator.managedObjectModel.entitiesByName["Person"]!
                    for round in 0..<Self.rounds {
                        try await context.perform {
                            for index in 0..<Self.people {
                                let person = Person(entity: entity, insertInto: context)
                                person.setValue("\(number)-\(round)-\(index)", forKey: "name")
                                person.setValue(round, forKey: "age")
                                person.setValue(context.object(with: group), forKey: "group")
                            }
                            context.object(with: shared).setValue(number * Self.rounds + round, forKey: "age")
                            try context.save()
                        }
                    }
                }
            }
            try await tasks.waitForAll()
        }
    }

    /// Not the JSON file, which each save writes as a whole: the binary store tests the same code for rows.
    @Test(arguments: StoreKind.allCases.filter { $0 != .atomic }, [true, false])
    func `Many contexts save and the main queue's context merges them`(kind: StoreKind, mergesByItself: Bool) async throws {
        let stack = try TestStack(kind)
        let group = stack.insert("Group", ["title": "all"]), shared = stack.insert("Person", ["name": "shared"])
        try stack.context.save()
        let groupID = group.objectID, sharedID = shared.objectID
        let main = context(stack, .mainQueueConcurrencyType)
        let contexts = (0..<Self.writers).map { _ in context(stack) }
        var tokens: [any NSObjectProtocol] = []
        if mergesByItself {
            main.automaticallyMergesChangesFromParent = true
        } else {
            // As in code for Core Data: the notification crosses to the other queue with its objects.
            for context in contexts {
                tokens.append(NotificationCenter.default.addObserver(
                    forName: .NSManagedObjectContextDidSave, object: context, queue: nil
                ) { notification in
                    let sent = Confined(value: notification)
                    main.perform { main.mergeChanges(fromContextDidSave: sent.value) }
                })
            }
        }
        defer { for token in tokens { NotificationCenter.default.removeObserver(token) } }
        await main.perform {
            #expect(main.object(with: sharedID).value(forKey: "name") as? String == "shared")
            #expect((main.object(with: groupID).value(forKey: "people") as? NSSet)?.count == 0)
        }
        async let reading: Void = read(main, groupID)
        try await write(stack, contexts, shared: sharedID, group: groupID)
        try await reading
        let wanted = Self.writers * Self.rounds * Self.people
        await main.perform(schedule: .enqueued) {
            let newest = main.object(with: sharedID).value(forKey: "age") as? Int
            #expect(newest.map { $0 % Self.rounds } == Self.rounds - 1, "the last save of some writer")
            #expect((main.object(with: groupID).value(forKey: "people") as? NSSet)?.count == wanted)
            #expect(main.identities.checkInvariants())
        }
        #expect(try stack.fetch("Person", in: stack.newContext()).count == wanted + 1)
    }

    /// Iterates over the graph while others save.
    private func read(_ main: NSManagedObjectContext, _ group: NSManagedObjectID) async throws {
        for _ in 0..<Self.rounds {
            try await main.perform {
                let people = main.object(with: group).value(forKey: "people") as? NSSet
                for case let person as NSManagedObject in people?.allObjects ?? [] { _ = person.value(forKey: "name") }
                let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
                request.predicate = NSPredicate(format: "age > 3")
                request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
                for person in try main.fetch(request) { _ = person.value(forKey: "age") }
            }
        }
    }

    private final class Tally: Sendable {
        let conflicts = Atomic<Int>(0), failures = Mutex<[String]>([])
    }

    /// Each context changes an attribute of a person of its own, and adds one to one that all share. With full durability their saves share syncs.
    @Test
    func `Contexts whose saves share syncs lose no change and see each other's conflicts`() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("heartwood-syncs-\(UUID().uuidString).heartwood")
        let stack = try TestStack(.recordLog, at: url, options: [NSRecordLogDurabilityOption: "full"])
        let own = (0..<Self.writers).map { stack.insert("Person", ["name": "\($0)"]) }
        let shared = stack.insert("Person", ["name": "shared", "age": 0])
        try stack.context.save()
        let ids = ([shared] + own).map(\.objectID), ends = DispatchGroup(), tally = Tally()
        for number in 0..<Self.writers {
            ends.enter()
            Thread.detachNewThread { [coordinator = stack.coordinator] in
                defer { ends.leave() }
                let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
                context.persistentStoreCoordinator = coordinator
                context.performAndWait {
                    for round in 1...Self.rounds {
                        do {
                            let conflicts = try Self.change(context, ids[number + 1], to: round, shared: ids[0])
                            tally.conflicts.add(conflicts, ordering: .relaxed)
                        } catch {
                            tally.failures.withLock { $0.append("\(error)") }
                        }
                    }
                }
            }
        }
        ends.wait()
        #expect(tally.failures.withLock { $0 } == [])
        let reopened = try TestStack(.recordLog, at: url)
        withExtendedLifetime(stack) {}
        func age(_ id: NSManagedObjectID) -> Int? {
            reopened.coordinator.managedObjectID(forURIRepresentation: id.uriRepresentation()).flatMap {
                reopened.context.object(with: $0).value(forKey: "age") as? Int
            }
        }
        #expect(age(ids[0]) == Self.writers * Self.rounds, "as if one save came after the other")
        for id in ids[1...] { #expect(age(id) == Self.rounds) }
    }

    /// Saves again after each conflict, with the newest values.
    /// - Returns: the number of conflicts.
    private static func change(_ context: NSManagedObjectContext, _ own: NSManagedObjectID, to age: Int, shared: NSManagedObjectID) throws -> Int {
        for conflicts in 0..<1000 {
            context.object(with: own).setValue(age, forKey: "age")
            let common = context.object(with: shared)
            common.setValue((common.value(forKey: "age") as? Int ?? 0) + 1, forKey: "age")
            do {
                try context.save()
                return conflicts
            } catch let error as NSError where error.code == NSManagedObjectMergeError {
                context.rollback()
                context.refreshAllObjects()
            }
        }
        return 1000
    }

    @Test(arguments: StoreKind.allCases)
    func `Many tasks share one context`(kind: StoreKind) async throws {
        let stack = try TestStack(kind)
        let context = context(stack)
        let entity = try #require(stack.coordinator.managedObjectModel.entitiesByName["Tag"])
        final class Saved: Sendable {
            let ids = Mutex<[NSManagedObjectID]>([])
        }
        let saved = Saved()
        try await withThrowingTaskGroup { tasks in
            for number in 0..<40 {
                tasks.addTask {
                    let id = try await context.perform(schedule: number % 2 == 0 ? .immediate : .enqueued) {
                        let tag = NSManagedObject(entity: entity, insertInto: context)
                        tag.setValue("\(number)", forKey: "label")
                        try context.save()
                        return tag.objectID
                    }
                    saved.ids.withLock { $0.append(id) }
                    let label = await context.perform { context.object(with: id).value(forKey: "label") as? String }
                    #expect(label == "\(number)")
                }
            }
            try await tasks.waitForAll()
        }
        #expect(Set(saved.ids.withLock { $0 }).count == 40)
        #expect(context.performAndWait { context.identities.count <= 40 })
    }
}
