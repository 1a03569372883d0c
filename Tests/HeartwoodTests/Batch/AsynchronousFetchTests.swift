import Foundation
import Synchronization
import Testing

@testable import Heartwood

@Suite struct AsynchronousFetchTests {
    private func filled(_ kind: StoreKind) throws -> (stack: TestStack, context: NSManagedObjectContext) {
        let stack = try TestStack(kind)
        for number in 0..<1000 { stack.insert("Person", ["name": "p\(number)", "age": number]) }
        try stack.context.save()
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = stack.coordinator
        return (stack, context)
    }

    /// Executes a fetch and waits for its end.
    /// - Returns: the objects' names or the error, whether the block ran on the queue, and the immediate result.
    private func run(
        _ context: NSManagedObjectContext, _ request: NSFetchRequest<NSManagedObject>, cancels: Bool = false, estimate: Int = 0
    ) throws -> (names: [String]?, code: Int?, isOnQueue: Bool, early: Int?) {
        let done = DispatchSemaphore(value: 0)
        let outcome = Mutex<(names: [String]?, code: Int?, isOnQueue: Bool)>((nil, nil, false))
        let asynchronous = NSAsynchronousFetchRequest(fetchRequest: request) { result in
            let names = result.finalResult.map { $0.map { $0.value(forKey: "name") as? String ?? "-" } }
            let code = (result.operationError as NSError?)?.code
            let isOnQueue = result.managedObjectContext.confinement.queue?.isCurrent == true
            outcome.withLock { $0 = (names, code, isOnQueue) }
            done.signal()
        }
        asynchronous.estimatedResultCount = estimate
        let early = try context.performAndWait {
            let result = try #require(try context.execute(asynchronous) as? NSAsynchronousFetchResult<NSManagedObject>)
            if cancels { result.cancel() }
            return result.finalResult?.count
        }
        #expect(done.wait(timeout: .now() + 60) == .success)
        let (names, code, isOnQueue) = outcome.withLock { $0 }
        return (names, code, isOnQueue, early)
    }

    private func request() -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        request.predicate = NSPredicate(format: "age >= 990")
        request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: false)]
        return request
    }

    @Test(arguments: StoreKind.allCases)
    func `The result arrives later on the context's queue`(kind: StoreKind) throws {
        let (stack, context) = try filled(kind)
        let found = try run(context, request(), estimate: 10)
        #expect(found.names == (990..<1000).reversed().map { "p\($0)" } && found.code == nil && found.isOnQueue && found.early == nil)
        #expect(stack.coordinator.persistentStores.count == 1)
    }

    @Test(arguments: StoreKind.allCases)
    func `The result includes the context's unsaved changes`(kind: StoreKind) throws {
        let (stack, context) = try filled(kind)
        context.performAndWait { _ = stack.insert("Person", ["name": "mine", "age": 2000], into: context) }
        let found = try run(context, request())
        #expect(found.names?.first == "mine" && found.names?.count == 11 && found.isOnQueue)
    }

    @Test(arguments: StoreKind.allCases)
    func `A cancelled fetch ends with an error`(kind: StoreKind) throws {
        let (stack, context) = try filled(kind)
        for hasChanges in [false, true] {
            if hasChanges { context.performAndWait { _ = stack.insert("Person", ["name": "mine"], into: context) } }
            let found = try run(context, request(), cancels: true)
            #expect(found.names == nil && found.code == CocoaError.Code.userCancelled.rawValue && found.isOnQueue)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `Asynchronous fetch requests are executed like others`(kind: StoreKind) throws {
        let (stack, _) = try filled(kind)
        let result = try stack.context.execute(request()) as? NSAsynchronousFetchResult<NSManagedObject>
        #expect(result?.finalResult?.count == 10)
        #expect((try stack.coordinator.execute(request(), with: stack.context) as? [NSManagedObject])?.count == 10)
        #expect(throws: NSError.self) { try stack.context.execute(NSAsynchronousFetchRequest(fetchRequest: request())) }
    }

    /// More objects than a context keeps without references.
    @Test(arguments: StoreKind.batching)
    func `A long result is complete`(kind: StoreKind) throws {
        let (stack, context) = try filled(kind)
        try stack.insertBatch((1000..<5000).map { ["name": "p\($0)", "age": $0] })
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true)]
        #expect(try run(context, request).names == (0..<5000).map { "p\($0)" })
    }
}
