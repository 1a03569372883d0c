import Foundation
import Heartwood

/// A store in memory of the counters whose accessors are measured.
enum CounterContext {
    /// - Parameter fill: inserts the counters.
    /// - Returns: a context that has saved them and holds none.
    static func make(_ fill: (NSManagedObjectContext) -> Void) throws -> NSManagedObjectContext {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Accessors/Counters.xcdatamodeld")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try NSManagedObjectModel.load(contentsOf: file))
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        fill(context)
        try context.save()
        context.reset()
        return context
    }
}
