import Foundation

@testable import Heartwood
@testable import HeartwoodSQLite

/// Reads everything of an SQLite store through the stack, as a program does that knows nothing of its damage.
enum StoreExercise {
    /// - Parameter model: the store's; nil for the one that the store itself tells.
    /// - Returns: the errors that reading met. Each but an error of opening leaves the rest readable.
    static func errors(at file: URL, model: NSManagedObjectModel?) -> [NSError] {
        let attempts = Attempts()
        attempts.run { _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: file) }
        attempts.run {
            let found = try model ?? CoreDataStoreModel.find(storeAt: file.path).model
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: found)
            let store = try coordinator.addPersistentStore(type: .sqlite, configuration: nil, at: file)
            let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            for entity in found.entities { readAll(entity, in: context, attempts) }
            attempts.run { try readHistory(in: context) }
            try coordinator.remove(store)
        }
        return attempts.errors
    }

    private final class Attempts {
        private(set) var errors: [NSError] = []

        func run(_ body: () throws -> Void) {
            do { try body() } catch { errors.append(error as NSError) }
        }
    }

    private static func readAll(_ entity: NSEntityDescription, in context: NSManagedObjectContext, _ attempts: Attempts) {
        attempts.run {
            let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
            _ = try context.count(for: request)
            for object in try context.fetch(request) {
                for property in object.entity.properties {
                    attempts.run { try read(property.name, of: object, in: context) }
                }
            }
        }
        for (name, attribute) in entity.attributesByName where !attribute.isTransient {
            attempts.run {
                let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
                // A damaged model has names that no format takes. A program cannot ask for those.
                guard let predicate = try? NSPredicate(parsing: "%K != nil", argumentArray: [name]) else { return }
                request.predicate = predicate
                request.sortDescriptors = attribute.attributeType == .stringAttributeType ? [NSSortDescriptor(key: name, ascending: true)] : []
                _ = try context.fetch(request)
            }
        }
    }

    /// A getter cannot throw, so the context remembers its error.
    private static func read(_ name: String, of object: NSManagedObject, in context: NSManagedObjectContext) throws {
        let value = object.value(forKey: name)
        for member in (value as? NSSet)?.allObjects ?? (value as? NSOrderedSet)?.array ?? [value as Any] {
            if let member = member as? NSManagedObject { member.willAccessValue(forKey: nil) }
        }
        defer { context.readingFailure = nil }
        if let failure = context.readingFailure { throw failure }
    }

    private static func readHistory(in context: NSManagedObjectContext) throws {
        do {
            let result = try context.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?))
            let transactions = (result as? NSPersistentHistoryResult)?.result as? [NSPersistentHistoryTransaction] ?? []
            for transaction in transactions {
                for change in transaction.changes ?? [] {
                    _ = (change.changedObjectID.uriRepresentation(), change.updatedProperties, change.tombstone)
                }
                _ = try context.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: transaction.token))
            }
        } catch let error as NSError where error.code == NSPersistentStoreUnsupportedRequestTypeError {
            // The store has no history.
        }
    }
}
