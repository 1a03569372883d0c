import Foundation
import Synchronization
import Testing

@testable import Heartwood

/// Coordinators on several threads over one model, as tests that run side by side have them.
@Suite struct SharedModelTests {
    private struct Model: @unchecked Sendable {
        // Unchecked: a model may be given to coordinators on any thread.
        let model = TestStack.model()
    }

    @Test
    func `A model is whole for each of the threads that give it to their coordinators at the same time`() {
        let faults = Mutex<[String]>([])
        for _ in 0..<40 {
            let shared = Model()
            DispatchQueue.concurrentPerform(iterations: 4) { _ in
                do {
                    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: shared.model)
                    let entity = shared.model.entitiesByName["Person"]
                    let count = entity.map { $0.properties.count == $0.propertyIndexByName.count && !$0.properties.isEmpty }
                    guard count == true, shared.model.entities.allSatisfy(\.isImmutable) else { throw CocoaError(.featureUnsupported) }
                    try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
                    let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
                    context.persistentStoreCoordinator = coordinator
                    let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
                    request.predicate = NSPredicate(format: "age > 100 AND group.title == 'North'")
                    _ = try context.fetch(request)
                } catch {
                    faults.withLock { $0.append("\(error)") }
                }
            }
        }
        #expect(faults.withLock { $0 } == [])
    }
}
