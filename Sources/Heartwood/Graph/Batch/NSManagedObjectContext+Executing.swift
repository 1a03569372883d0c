import Foundation

extension NSManagedObjectContext {
    final func execute(_ batch: StoreBatch, on store: NSPersistentStore, collectsKeys: Bool) throws -> BatchOutcome {
        try store.checkWritable()
        do {
            return try store.execute(batch, origin: transactionOrigin, outcome: BatchOutcome(collectsKeys: collectsKeys))
        } catch let violation as BatchConstraintViolation {
            throw constraintError(violation)
        }
    }

    /// Executes a batch over what a fetch request finds in the stores.
    final func execute<Result>(
        on request: NSFetchRequest<Result>, of stores: [NSPersistentStore]?, collectsKeys: Bool, _ batch: (BatchTarget) -> StoreBatch
    ) throws -> BatchOutcome {
        var fetch = try FetchSpecification(request, context: self)
        fetch.includesPendingChanges = false
        fetch.returnsObjectsAsFaults = true
        var outcome = BatchOutcome(collectsKeys: collectsKeys)
        var parts = try storeQueries(for: fetch).filter { part in stores?.contains { $0 === part.store } ?? true }[...]
        // Before anything is changed in any of them.
        for part in parts { try part.store.checkWritable() }
        do {
            guard parts.count < 2 || fetch.limit == 0 && fetch.offset == 0 else { throw UnansweredQuery() }
            while let (store, query) = parts.first {
                outcome.add(try execute(batch(.query(query)), on: store, collectsKeys: collectsKeys))
                parts.removeFirst()
            }
        } catch is UnansweredQuery {
            // Objects of a context that nobody else sees can tell. What others change meanwhile is not looked at again.
            let reader = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
            reader.persistentStoreCoordinator = coordinator
            let found = try reader.fetchObjects(fetch)
            for (store, _) in parts {
                let keys = found.filter { $0.runtime.store === store }.map(\.key)
                if !keys.isEmpty { outcome.add(try execute(batch(.keys(keys)), on: store, collectsKeys: collectsKeys)) }
            }
        }
        return outcome
    }

    /// An outcome as a result says it.
    final func report(_ outcome: BatchOutcome, isStatus: Bool) -> Any {
        if isStatus { return true }
        return outcome.collectsKeys ? outcome.keys.map(batchID) : outcome.count
    }

    /// Not the registered object's ID, which may be asked for on the context's queue alone.
    private func batchID(_ key: ObjectKey) -> NSManagedObjectID {
        let runtime = coordinator?.runtime(slot: key.slot)
        return NSManagedObjectID(entity: runtime?.entity ?? NSEntityDescription(), key: key, store: runtime?.store, contextToken: 0)
    }

    private func constraintError(_ violation: BatchConstraintViolation) -> NSError {
        let holder = batchID(violation.holder)
        return CoreDataError.make(
            NSManagedObjectConstraintMergeError,
            "Nothing was changed: the values of \(violation.attributes.joined(separator: ", ")) must be unique, and a row of the request "
                + "has those of \(holder.uriRepresentation().absoluteString). Set another merge policy for an insertion, or other values.",
            [NSAffectedObjectsErrorKey: [holder]])
    }
}

extension NSPersistentStoreCoordinator {
    /// What `execute(_:with:)` does.
    final func answer(_ request: NSPersistentStoreRequest, for context: NSManagedObjectContext) throws -> Any {
        precondition(context.coordinator === self, "A coordinator executes requests for contexts of its own.")
        context.checkQueue("execute(_:with:)")
        return try request.executable().executeDirectly(in: context)
    }
}
