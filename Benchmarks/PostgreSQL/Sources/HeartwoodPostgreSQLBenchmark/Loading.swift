import Foundation
import Heartwood

/// A record log whose rows go into a new schema.
enum Loading {
    /// - Returns: the time of the copy, in microseconds.
    static func run(_ rows: Int, to url: URL) throws -> Double {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("heartwood-load-\(UUID().uuidString)")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Shop.model())
        let log = try coordinator.addPersistentStore(ofType: NSRecordLogStoreType, configurationName: nil, at: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let context = Workloads.newContext(coordinator)
        try context.performAndWait {
            for start in stride(from: 0, to: rows, by: 50_000) {
                for number in start..<min(rows, start + 50_000) { Workloads.make("Fresh", number, [], context) }
                try context.save()
                context.reset()
            }
        }
        let clock = ContinuousClock(), begun = clock.now
        try coordinator.migratePersistentStore(log, to: url, withType: NSPostgreSQLStoreType)
        let time = (clock.now - begun) / .microseconds(1)
        for store in coordinator.persistentStores { try coordinator.remove(store) }
        try coordinator.destroyPersistentStore(at: url, ofType: NSPostgreSQLStoreType)
        return time
    }
}
