import Foundation
import RecordLog
import Testing

@testable import Heartwood

extension TestStack {
    /// Executes a batch insertion of persons.
    @discardableResult
    func insertBatch(
        _ rows: [[String: Any]], into entity: String = "Person", policy: NSMergePolicy = .error,
        in context: NSManagedObjectContext? = nil
    ) throws -> [NSManagedObjectID] {
        let request = NSBatchInsertRequest(entityName: entity, objects: rows)
        request.resultType = .objectIDs
        let context = context ?? newContext()
        context.mergePolicy = policy
        return try ids(try context.execute(request))
    }

    func updateBatch(
        _ entity: String, _ format: String? = nil, _ values: [AnyHashable: Any], in context: NSManagedObjectContext? = nil
    ) throws -> [NSManagedObjectID] {
        let request = NSBatchUpdateRequest(entityName: entity)
        request.predicate = format.map { NSPredicate(format: $0) }
        request.propertiesToUpdate = values
        request.resultType = .updatedObjectIDsResultType
        return try ids(try (context ?? newContext()).execute(request))
    }

    func deleteBatch(_ entity: String, _ format: String? = nil, in context: NSManagedObjectContext? = nil) throws -> [NSManagedObjectID] {
        let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: entity)
        fetch.predicate = format.map { NSPredicate(format: $0) }
        let request = NSBatchDeleteRequest(fetchRequest: fetch)
        request.resultType = .resultTypeObjectIDs
        return try ids(try (context ?? newContext()).execute(request))
    }

    private func ids(_ result: NSPersistentStoreResult) throws -> [NSManagedObjectID] {
        switch result {
        case let result as NSBatchInsertResult: try #require(result.result as? [NSManagedObjectID])
        case let result as NSBatchUpdateResult: try #require(result.result as? [NSManagedObjectID])
        default: try #require((result as? NSBatchDeleteResult)?.result as? [NSManagedObjectID])
        }
    }

    /// One attribute by name, as a context that has read nothing finds it.
    func stored(_ entity: String, _ key: String) throws -> [String: String] {
        let context = anew()
        return Dictionary(uniqueKeysWithValues: try fetch(entity, in: context).map { object in
            (object.value(forKey: "name") as? String ?? "-", object.value(forKey: key).map { "\($0)" } ?? "nil")
        })
    }

    var statistics: StoreStatistics { store.log!.statistics }
}
