import Foundation
import Heartwood

/// Insertions, updates and deletions of any number of models, straight in the stores, without a model in memory. Each is one commit of each store.
///
/// The context and the container's others learn of what has changed, as of another context's save. Unsaved changes of a context stay, and win over
/// a batch's when they are saved.
extension ModelContext {
    /// Inserts a row for each element of a sequence.
    ///
    /// ```swift
    /// try context.insert(batch: Book.self, from: lines) { book, line in
    ///     book.set(\.title, to: line)
    /// }
    /// ```
    ///
    /// A row with the unique values of a model changes that one, as a save does. Values that are required are checked, and nothing else.
    /// - Parameters:
    ///   - rowsPerCommit: 0 makes the batch one commit. Another number bounds the memory of a long one, whose earlier commits remain if a later one
    ///     throws.
    ///   - collectsIdentifiers: false saves 16 bytes of memory a row; contexts are not told then.
    ///   - fill: sets the values of a row. It is called while the store is locked, and must not save. What it throws, the batch throws.
    /// - Throws: `SwiftDataError.unsupportedKeyPath`, `.unknownSchema`, `.missingModelContext` for a model that is not saved; and the store's
    ///   errors. Nothing is inserted then.
    /// - Complexity: O(rows), each in a few microseconds; one commit.
    @discardableResult
    public func insert<T: PersistentModel, Elements: Sequence>(
        batch model: T.Type, from elements: Elements, rowsPerCommit: Int = 0, collectsIdentifiers: Bool = true,
        _ fill: (inout BatchRow<T>, Elements.Element) throws -> Void
    ) throws -> BatchResult {
        takeInSaves()
        let entity = try entity(of: model)
        var iterator = elements.makeIterator(), row = BatchRow<T>(predicates), failure: (any Error)?
        return try withoutActuallyEscaping(fill) { fill in
            let request = NSBatchInsertRequest(entity: entity) { (values: NSMutableDictionary) in
                guard let element = iterator.next() else { return true }
                row.removeAll()
                do {
                    try fill(&row, element)
                    if let noted = row.failure { throw noted }
                    for (name, value) in row.values { values[name] = value }
                } catch {
                    failure = error
                    // A handler cannot throw, and the end of the rows would commit those before. A row with an unknown name is refused.
                    values[Self.noName] = NSNull()
                }
                return false
            }
            request.rowsPerCommit = rowsPerCommit
            request.resultType = collectsIdentifiers ? .objectIDs : .count
            defer { request.dictionaryHandler = nil }
            do {
                let result = try managed.execute(request) as? NSBatchInsertResult
                return report(result?.result) { $0.inserted = $1 }
            } catch {
                throw failure ?? error
            }
        }
    }

    /// No property has it.
    private static var noName: String { "" }

    /// Sets values of all models that a descriptor chooses.
    ///
    /// Unique values are checked once all are set; nothing else is.
    /// - Throws: `SwiftDataError.unsupportedKeyPath`, `.unsupportedPredicate` for a predicate that only the program can evaluate, `.unknownSchema`;
    ///   and the store's errors. The store that has thrown is unchanged then.
    /// - Complexity: that of the fetch, and a row written for each model.
    @discardableResult
    public func update<T: PersistentModel>(
        batch descriptor: FetchDescriptor<T>, collectsIdentifiers: Bool = true, _ set: (inout BatchUpdate<T>) throws -> Void
    ) throws -> BatchResult {
        let (request, entity) = try batchRequest(descriptor)
        var changes = BatchUpdate<T>(entity, predicates)
        try set(&changes)
        if let failure = changes.row.failure { throw failure }
        guard !changes.row.values.isEmpty else { return BatchResult(count: 0, identifiers: []) }
        let update = NSBatchUpdateRequest(entity: entity)
        update.predicate = request.predicate
        update.propertiesToUpdate = changes.row.values
        update.resultType = collectsIdentifiers ? .updatedObjectIDsResultType : .updatedObjectsCountResultType
        if request.fetchLimit > 0 || request.fetchOffset > 0 || request.textSearch != nil {
            // Only a fetch has a window and a search.
            let ids = try managed.fetch(identifiers(request))
            update.predicate = NSPredicate(format: "SELF IN %@", ids as NSArray)
        }
        let result = try managed.execute(update) as? NSBatchUpdateResult
        return report(result?.result) { $0.updated = $1 }
    }

    /// Deletes all models that a descriptor chooses, with what the delete rules delete with them.
    /// - Throws: the stack's errors 1600 and 1570 where a rule forbids it; `SwiftDataError.unsupportedPredicate` for a predicate that only the
    ///   program can evaluate, `.unknownSchema`; and the store's errors. The store that has thrown is unchanged then.
    /// - Complexity: that of the fetch, and a row written for each model.
    @discardableResult
    public func delete<T: PersistentModel>(batch descriptor: FetchDescriptor<T>, collectsIdentifiers: Bool = true) throws -> BatchResult {
        let (request, _) = try batchRequest(descriptor)
        let deletion = NSBatchDeleteRequest(fetchRequest: request)
        deletion.resultType = collectsIdentifiers ? .resultTypeObjectIDs : .resultTypeCount
        let result = try managed.execute(deletion) as? NSBatchDeleteResult
        return report(result?.result, count: result?.count) { $0.deleted = $1 }
    }

    // MARK: Parts

    private var predicates: ModelPredicates { ModelPredicates(mapped: container.mapped) { [unowned self] in objectID($0) } }

    private func entity<T: PersistentModel>(of model: T.Type) throws -> NSEntityDescription {
        let type = ModelType.of(model)
        guard let entity = container.mapped.entity(of: type) else {
            throw SwiftDataError.unknownSchema.because("\(type.name) is not in the schema of the container. Add the class to it.")
        }
        return entity
    }

    private func batchRequest<T: PersistentModel>(
        _ descriptor: FetchDescriptor<T>
    ) throws -> (request: NSFetchRequest<ModelObject>, entity: NSEntityDescription) {
        takeInSaves()
        let (request, filter) = try request(descriptor)
        guard filter == nil else {
            throw SwiftDataError.unsupportedPredicate.because(
                "A part of the predicate is computed by the program, and a batch is the store's alone. Keep its value in a property.")
        }
        return (request, try entity(of: T.self))
    }

    private func identifiers(_ request: NSFetchRequest<ModelObject>) -> NSFetchRequest<NSManagedObjectID> {
        let ids = NSFetchRequest<NSManagedObjectID>(request)
        ids.resultType = .managedObjectIDResultType
        ids.includesPendingChanges = false
        return ids
    }

    /// Tells the contexts what a batch has changed.
    private func report(_ result: Any?, count: Int? = nil, _ put: (inout SavedChanges, Set<NSManagedObjectID>) -> Void) -> BatchResult {
        guard let ids = result as? [NSManagedObjectID] else { return BatchResult(count: result as? Int ?? 0, identifiers: []) }
        var changes = SavedChanges()
        put(&changes, Set(ids))
        if !changes.isEmpty {
            container.announce(changes, by: self)
            merge(changes)
        }
        return BatchResult(count: count ?? ids.count, identifiers: ids.map { PersistentIdentifier($0) })
    }
}
