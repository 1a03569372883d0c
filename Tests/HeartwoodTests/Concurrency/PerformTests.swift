import Dispatch
import Foundation
import Synchronization
import Testing

@testable import Heartwood

/// Runs `body` on a thread of its own, which may wait without limit.
func onThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
    await withCheckedContinuation { continuation in
        Thread.detachNewThread { continuation.resume(returning: body()) }
    }
}

@Suite struct PerformTests {
    struct Refusal: Error, Equatable {
        let number: Int
    }

    private func context(
        _ stack: TestStack, _ type: NSManagedObjectContextConcurrencyType = .privateQueueConcurrencyType
    ) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: type)
        context.persistentStoreCoordinator = stack.coordinator
        return context
    }

    @Test(arguments: StoreKind.allCases)
    func `The results and errors of a block come back`(kind: StoreKind) async throws {
        let stack = try TestStack(kind)
        let context = context(stack)
        // Without `try`: a call with a block that cannot throw cannot throw.
        #expect(context.performAndWait { context.hasChanges } == false)
        #expect(await context.perform { context.hasChanges } == false)
        #expect(await context.perform(schedule: .enqueued) { 7 } == 7)
        #expect(throws: Refusal(number: 1)) { try context.performAndWait { throw Refusal(number: 1) } }
        await #expect(throws: Refusal(number: 2)) { try await context.perform { throw Refusal(number: 2) } }
        let saved = try await context.perform {
            stack.insert("Person", ["name": "a"], into: context)
            try context.save()
            return try stack.fetch("Person", in: context).map { $0.value(forKey: "name") as? String }
        }
        #expect(saved == ["a"])
        func wrapped<T>(_ block: () throws -> T) rethrows -> T { try context.performAndWait(block) }
        #expect(wrapped { 1 } == 1)
    }

    /// Uses its context once more when nothing holds it.
    private final class Leaver: Sendable {
        let context: NSManagedObjectContext, left: DispatchSemaphore

        init(_ context: NSManagedObjectContext, _ left: DispatchSemaphore) {
            self.context = context
            self.left = left
        }

        deinit {
            context.performAndWait { context.refreshAllObjects() }
            left.signal()
        }
    }

    @Test
    func `What only a block holds may wait for the block's queue as it is deallocated`() async throws {
        let stack = try TestStack(.inMemory)
        let context = context(stack)
        let isLeft = await onThread {
            let gate = DispatchSemaphore(value: 0), left = DispatchSemaphore(value: 0)
            do {
                let leaver = Leaver(context, left)
                context.perform {
                    gate.wait()
                    withExtendedLifetime(leaver) {}
                }
            }
            gate.signal()
            return left.wait(timeout: .now() + 20) == .success
        }
        #expect(isLeft)
    }

    @Test
    func `What a block holds is gone when its caller goes on`() async throws {
        let context = context(try TestStack(.inMemory))
        for _ in 0..<200 {
            let left = DispatchSemaphore(value: 0)
            func useLeaver() async {
                let leaver = Leaver(context, left)
                await context.perform { withExtendedLifetime(leaver) {} }
            }
            func hasLeft() -> Bool { left.wait(timeout: .now()) == .success }
            await useLeaver()
            #expect(hasLeft())
        }
    }

    @Test
    func `A chain of contexts may wait for itself`() async throws {
        let stack = try TestStack(.inMemory)
        let a = context(stack), b = context(stack)
        let isRight = await onThread {
            let order = a.performAndWait {
                var order = ["a"]
                b.performAndWait {
                    order.append("b")
                    a.performAndWait {
                        order.append("a again")
                        b.performAndWait { order.append("b again") }
                    }
                }
                return order
            }
            return order == ["a", "b", "a again", "b again"]
        }
        #expect(isRight)
    }

    @Test
    func `A context keeps others out until the chain is done`() async throws {
        let stack = try TestStack(.inMemory)
        let a = context(stack), b = context(stack)
        final class Room: Sendable {
            let isTaken = Atomic<Bool>(false), overlaps = Atomic<Int>(0)

            func visit() {
                if isTaken.exchange(true, ordering: .sequentiallyConsistent) { overlaps.add(1, ordering: .relaxed) }
                isTaken.store(false, ordering: .sequentiallyConsistent)
            }
        }
        let room = Room()
        await withTaskGroup { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<50 {
                        await a.perform {
                            b.performAndWait {
                                a.performAndWait { room.visit() }
                            }
                        }
                    }
                }
            }
        }
        #expect(room.overlaps.load(ordering: .relaxed) == 0)
    }

    /// Off Apple's platforms the main actor's thread is not the main thread once a program has an asynchronous main function. A main-queue context
    /// that checked only the thread waited for the queue that it was on.
    @MainActor @Test
    func `The main queue's context runs at once on the main actor`() throws {
        let stack = try TestStack(.inMemory)
        let main = context(stack, .mainQueueConcurrencyType), other = context(stack)
        #expect(main.performAndWait { other.performAndWait { main.performAndWait { 1 } } } == 1)
        #expect(other.performAndWait { main.performAndWait { other.performAndWait { 2 } } } == 2)
    }

    /// Swift ends the process if a closure of the main actor runs elsewhere; these blocks must not be isolated to it.
    @MainActor @Test
    func `Blocks written on the main actor may run elsewhere`() async throws {
        let stack = try TestStack(.inMemory)
        let context = context(stack), coordinator = stack.coordinator
        let container = NSPersistentContainer(name: "Main", managedObjectModel: TestStack.model())
        #expect(await context.perform { [1, 2].map { $0 + 1 } } == [2, 3])
        #expect(await coordinator.perform { [1, 2].map { $0 + 1 } } == [2, 3])
        #expect(await container.performBackgroundTask { _ in [1, 2].map { $0 + 1 } } == [2, 3])
        #expect(context.performAndWait { [1, 2].map { $0 + 1 } } == [2, 3])
        var list = [1, 2]
        context.performAndWait { list = list.map { $0 + 1 } }
        #expect(list == [2, 3])
    }

    @Test
    func `A thread may wait for the main queue, and the main queue for the thread`() async throws {
        let stack = try TestStack(.inMemory)
        let main = context(stack, .mainQueueConcurrencyType), other = context(stack)
        let value: Int = await onThread {
            other.performAndWait {
                main.performAndWait {
                    MainActor.preconditionIsolated()
                    return other.performAndWait { () -> Int in main.performAndWait { 3 } }
                }
            }
        }
        #expect(value == 3)
        #expect(await main.perform { MainActor.assumeIsolated { 4 } } == 4)
    }

    @Test
    func `A context can be made with the modern spelling`() {
        #expect(NSManagedObjectContext(.mainQueue).concurrencyType == .mainQueueConcurrencyType)
        #expect(NSManagedObjectContext(.privateQueue).concurrencyType == .privateQueueConcurrencyType)
        #expect(NSManagedObjectContext(.confinement).concurrencyType == .confinementConcurrencyType)
    }

    @Test
    func `Blocks run in the order in which they were scheduled`() async throws {
        let stack = try TestStack(.inMemory)
        let context = context(stack)
        final class Seen: Sendable {
            let numbers = Mutex<[Int]>([])
        }
        let seen = Seen()
        // In an asynchronous function `perform` is the one that waits, so a synchronous function calls the other one.
        func enqueue() {
            for number in 0..<100 { context.perform { seen.numbers.withLock { $0.append(number) } } }
        }
        enqueue()
        await context.perform(schedule: .enqueued) {}
        #expect(seen.numbers.withLock { $0 } == Array(0..<100))
    }

    @Test(arguments: StoreKind.allCases)
    func `A container runs background tasks`(kind: StoreKind) async throws {
        let container = NSPersistentContainer(name: "Background", managedObjectModel: TestStack.model())
        let url = kind.newURL
        let description = NSPersistentStoreDescription(url: url)
        description.type = kind.type
        container.persistentStoreDescriptions = [description]
        container.loadPersistentStores { _, error in #expect(error == nil) }
        defer {
            try? FileManager.default.removeItem(at: url)
            kind.remove(at: url)
        }
        let count = await container.performBackgroundTask { context in
            _ = Person(context: context)
            return context.insertedObjects.count
        }
        #expect(count == 1)
        await #expect(throws: Refusal(number: 3)) {
            try await container.performBackgroundTask { _ in throw Refusal(number: 3) }
        }
        let type = await withCheckedContinuation { continuation in
            container.performBackgroundTask { continuation.resume(returning: $0.concurrencyType) }
        }
        #expect(type == .privateQueueConcurrencyType)
        try container.persistentStoreCoordinator.persistentStores.forEach(container.persistentStoreCoordinator.remove)
    }

    @Test
    func `A coordinator runs blocks in turn too`() async throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestStack.model())
        #expect(coordinator.performAndWait { coordinator.performAndWait { coordinator.persistentStores.count } } == 0)
        #expect(await coordinator.perform { 1 } == 1)
        #expect(throws: Refusal(number: 4)) { try coordinator.performAndWait { throw Refusal(number: 4) } }
        await withCheckedContinuation { continuation in coordinator.perform { continuation.resume() } }
    }

    @Test
    func `The end of perform releases objects that have no references`() async throws {
        let stack = try TestStack(.inMemory)
        for number in 0..<1500 { stack.insert("Tag", ["label": "\(number)"]) }
        try stack.context.save()
        let context = context(stack)
        let count = try await context.perform {
            _ = try stack.fetch("Tag", in: context)
            return context.identities.count
        }
        #expect(count == 1500)
        #expect(context.performAndWait { context.identities.count } == 0)
    }
}
