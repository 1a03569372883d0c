import Foundation
import RecordLog

@testable import Heartwood

/// A store in a file that is written, and coordinators that show its past.
final class PastStore {
    let stack: TestStack

    init(_ model: NSManagedObjectModel = TestStack.model(), options: [String: Any] = [:]) throws {
        stack = try TestStack(.recordLog, model: model, options: options)
    }

    /// The number of the newest commit.
    var commit: UInt64 { stack.persistentStore.commitNumber ?? 0 }

    /// - Returns: the number of the commit.
    func save() throws -> UInt64 {
        try stack.context.save()
        return commit
    }

    /// A context over the store as of a commit or a date.
    func open(
        _ past: Any, _ model: NSManagedObjectModel = TestStack.model(), _ options: [String: Any] = [:]
    ) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(
            ofType: NSRecordLogStoreType, configurationName: nil, at: stack.url,
            options: options.merging([NSRecordLogAsOfOption: past]) { first, _ in first })
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }
}

extension NSManagedObjectContext {
    var store: NSPersistentStore? { persistentStoreCoordinator?.persistentStores.first }

    /// The names of a fetch's persons, in the order of the names.
    func persons(_ format: String? = nil) throws -> [String] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        request.predicate = format.map { NSPredicate(format: $0) }
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        return try fetch(request).map { $0.value(forKey: "name") as? String ?? "-" }
    }

    func person(_ name: String) throws -> NSManagedObject? {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        request.predicate = NSPredicate(format: "name == %@", name)
        return try fetch(request).first
    }
}
