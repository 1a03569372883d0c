import Foundation

/// Deletes objects directly in the store: the objects that a fetch request finds, or the objects with given IDs.
///
/// The store applies the delete rules. Nullify clears the other side; where that side is required, the request throws 1570. Cascade deletes
/// the destinations and applies their delete rules. Deny throws 1600 while a destination remains. No action leaves the other side as it is.
/// Nothing else is validated.
///
/// Contexts do not learn of the deletion: merge the result's IDs with `NSManagedObjectContext.mergeChanges(fromRemoteContextSave:into:)`.
/// The result's IDs include the objects that cascades deleted; its count does not.
///
/// The part of each store is one commit: after a throw, that store is unchanged.
/// Source: https://developer.apple.com/documentation/coredata/nsbatchdeleterequest
open class NSBatchDeleteRequest: NSPersistentStoreRequest, ExecutableRequest {
    /// Describes the objects to delete: by entity, predicate, order, limit and offset.
    open private(set) var fetchRequest: NSFetchRequest<any NSFetchRequestResult>
    open var resultType: NSBatchDeleteRequestResultType = .resultTypeStatusOnly
    private let objectIDs: [NSManagedObjectID]?

    public init(fetchRequest fetch: NSFetchRequest<any NSFetchRequestResult>) {
        fetchRequest = fetch
        objectIDs = nil
        super.init()
    }

    /// Takes a fetch request for a class, such as `Person.fetchRequest()`, without a cast to `NSFetchRequest<any NSFetchRequestResult>`.
    /// Off Apple's platforms the two are different classes, and a cast is impossible.
    public convenience init<ResultType: NSFetchRequestResult>(fetchRequest fetch: NSFetchRequest<ResultType>) {
        self.init(fetchRequest: fetch.duplicate(as: (any NSFetchRequestResult).self))
    }

    /// - Parameter objectIDs: IDs of objects of one entity. IDs of objects that no longer exist are ignored.
    public init(objectIDs: [NSManagedObjectID]) {
        self.objectIDs = objectIDs
        fetchRequest = NSFetchRequest(name: objectIDs.first?.entity.name, objectClass: nil)
        fetchRequest.entity = objectIDs.first?.entity
        super.init()
    }

    open override var requestType: NSPersistentStoreRequestType { .batchDeleteRequestType }

    final func execute(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
        let collects = resultType == .resultTypeObjectIDs
        let outcome = try objectIDs.map { try delete($0, in: context, collectsKeys: collects) }
            ?? context.execute(on: fetchRequest, of: affectedStores, collectsKeys: collects) { .delete($0) }
        return NSBatchDeleteResult(context.report(outcome, isStatus: resultType == .resultTypeStatusOnly), resultType, count: outcome.count)
    }

    private func delete(_ ids: [NSManagedObjectID], in context: NSManagedObjectContext, collectsKeys: Bool) throws -> BatchOutcome {
        var outcome = BatchOutcome(collectsKeys: collectsKeys)
        guard let first = ids.first else { return outcome }
        guard ids.allSatisfy({ $0.entity === first.entity }) else {
            throw CoreDataError.unsupported("The object IDs of a batch deletion are of one entity; use a request for each.")
        }
        let keys = ids.compactMap(context.ownKey)
        guard keys.count == ids.count, !keys.contains(where: \.isTemporary) else {
            throw CoreDataError.unsupported(
                "An object ID of the batch deletion is temporary, or of no store of the context's coordinator; save the object first.")
        }
        for store in context.coordinator?.persistentStores ?? [] where affectedStores?.contains(where: { $0 === store }) ?? true {
            let own = keys.filter { context.runtime(slot: $0.slot)?.store === store }
            if !own.isEmpty { outcome.add(try context.execute(.delete(.keys(own)), on: store, collectsKeys: collectsKeys)) }
        }
        return outcome
    }
}
