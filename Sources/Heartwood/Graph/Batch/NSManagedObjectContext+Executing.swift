import Foundation

extension NSManagedObjectContext {
    final func execute(_ batch: StoreBatch, on store: NSPersistentStore, collectsKeys: Bool) throws -> BatchOutcome {
        let seam = store.seam
        try seam.checkWritable()
        defer { coordinator?.commits.note() }
        do {
            guard let store = seam.batchStore else { throw StoreAbility.batches.missing(in: store) }
            return try store.execute(batch, origin: batchOrigin, outcome: BatchOutcome(collectsKeys: collectsKeys))
        } catch let violation as BatchConstraintViolation {
            throw constraintError(violation)
        }
    }

    /// The author and the name that a batch of this context records: its own, or else those of its nearest ancestor that has one, since the batch
    /// goes through all of them to the store.
    private var batchOrigin: TransactionOrigin {
        var origin = transactionOrigin
        guard parentContext != nil, origin.author == nil || origin.contextName == nil else { return origin }
        let inherited = askParent { $0.batchOrigin }
        origin.author = origin.author ?? inherited.author
        origin.contextName = origin.contextName ?? inherited.contextName
        return origin
    }

    /// Executes a batch over the objects that a fetch request finds in the stores.
    final func execute<Result>(
        on request: NSFetchRequest<Result>, of stores: [NSPersistentStore]?, collectsKeys: Bool, _ batch: (BatchTarget) -> StoreBatch
    ) throws -> BatchOutcome {
        var fetch = try FetchSpecification(request, context: self)
        fetch.includesPendingChanges = false
        fetch.returnsObjectsAsFaults = true
        var outcome = BatchOutcome(collectsKeys: collectsKeys)
        var parts = try storeQueries(for: fetch).filter { part in stores?.contains { $0 === part.store } ?? true }[...]
        // Checked before any store is changed.
        for part in parts { try part.store.seam.checkWritable() }
        do {
            guard parts.count < 2 || fetch.limit == 0 && fetch.offset == 0 else { throw UnansweredQuery() }
            while let (store, query) = parts.first {
                outcome.add(try execute(batch(.query(query)), on: store, collectsKeys: collectsKeys))
                parts.removeFirst()
            }
        } catch is UnansweredQuery {
            // The store's rows cannot answer the query, so a private context makes objects and tests those. Rows that other contexts change
            // in the meantime are not tested again.
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

    /// Returns the outcome in the form that the result type asks for.
    final func report(_ outcome: BatchOutcome, isStatus: Bool) -> Any {
        if isStatus { return true }
        return outcome.collectsKeys ? outcome.keys.map(batchID) : outcome.count
    }

    /// Makes a new ID, because only the context's queue may read a registered object's ID.
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
    /// Implements `execute(_:with:)`.
    final func answer(_ request: NSPersistentStoreRequest, for context: NSManagedObjectContext) throws -> Any {
        demand(context.coordinator === self, "A coordinator executes requests for contexts of its own.")
        context.checkQueue("execute(_:with:)")
        return try request.executable().executeDirectly(in: context)
    }
}
