import Foundation
import Heartwood

extension ModelContext {
    /// The models that the descriptor chooses, read a batch at a time as the program comes to them.
    /// - Throws: `SwiftDataError.includePendingChangesWithBatchSize` where the descriptor includes unsaved changes and the context has some; and as
    ///   `fetch(_:)` does.
    /// - Complexity: one query for the identities; 16 bytes for each model that is found.
    public func fetch<T: PersistentModel>(_ descriptor: FetchDescriptor<T>, batchSize: Int) throws -> FetchResultsCollection<T> {
        try checkBatches(descriptor)
        let (request, filter) = try request(descriptor)
        guard filter == nil else { return FetchResultsCollection(try fetch(descriptor)) }
        request.fetchBatchSize = max(batchSize, 1)
        return FetchResultsCollection(try FetchedResults(request, managed), self)
    }

    /// The identifiers of the models that the descriptor chooses.
    /// - Throws: `SwiftDataError.includePendingChangesWithBatchSize` where the descriptor includes unsaved changes and the context has some, or
    ///   `.sortingPendingChangesWithIdentifiers` if it sorts them; and as `fetch(_:)` does.
    /// - Complexity: one query; 16 bytes for each model that is found.
    public func fetchIdentifiers<T: PersistentModel>(
        _ descriptor: FetchDescriptor<T>, batchSize: Int
    ) throws -> FetchResultsCollection<PersistentIdentifier> {
        try checkBatches(descriptor, ofIdentifiers: true)
        let (request, filter) = try request(descriptor)
        guard filter == nil else { return FetchResultsCollection(try fetchIdentifiers(descriptor)) }
        request.fetchBatchSize = max(batchSize, 1)
        let results = try FetchedResults(request, managed)
        return FetchResultsCollection(count: results.count) { PersistentIdentifier(results.objectID(at: $0)) }
    }

    /// The identities in a collection are those of rows, and an unsaved model has none.
    private func checkBatches<T: PersistentModel>(_ descriptor: FetchDescriptor<T>, ofIdentifiers: Bool = false) throws {
        takeInSaves()
        guard descriptor.includePendingChanges, managed.hasChanges else { return }
        let kind: SwiftDataError = ofIdentifiers && !descriptor.sortBy.isEmpty
            ? .sortingPendingChangesWithIdentifiers : .includePendingChangesWithBatchSize
        throw kind.because("The context has unsaved changes. Save it first, or set the descriptor's includePendingChanges to false.")
    }

    /// Calls the block with each model that the descriptor chooses, in its order. The models of one batch are in memory at a time, unless the program
    /// holds others.
    ///
    /// The models are those of one moment: a save between two batches, by any context, adds none and shifts none. A model that was deleted before its
    /// batch is left out.
    /// - Parameters:
    ///   - batchSize: the number of models that are read at a time.
    ///   - allowEscapingMutations: whether the context may be left with changes by the block. They stay in memory until they are saved.
    /// - Throws: the block's error; `SwiftDataError.includePendingChangesWithBatchSize` where the block has left changes and may not; and as
    ///   `fetch(_:)` does. Later models are not visited then, and the changes stay, unsaved.
    /// - Complexity: one query; 16 bytes for each model that is found, and the models of one batch.
    public func enumerate<T: PersistentModel>(
        _ fetch: FetchDescriptor<T>, batchSize: Int = 5000, allowEscapingMutations: Bool = false, block: (T) throws -> Void
    ) throws {
        takeInSaves()
        let (request, filter) = try request(fetch)
        let size = max(batchSize, 1)
        request.fetchBatchSize = size
        var toSkip = 0, rest = Int.max
        if filter != nil {
            (toSkip, rest) = (request.fetchOffset, fetch.fetchLimit.map { max($0, 0) } ?? .max)
            (request.fetchLimit, request.fetchOffset) = (0, 0)
        }
        let results = try FetchedResults(request, managed)
        var start = 0, maker = ModelMaker<T>(managed)
        defer { managed.letGoOfUnused() }
        while start < results.count, rest > 0 {
            managed.letGoOfUnused()
            let end = min(start + size, results.count), before = changeCount
            for case let object as ModelObject in try results.read(start..<end) where rest > 0 {
                guard let model = try maker.model(of: object) else { continue }
                if let filter {
                    guard try holds(filter, for: model) else { continue }
                    toSkip -= 1
                    guard toSkip < 0 else { continue }
                    rest -= 1
                }
                try block(model)
            }
            start = end
            guard allowEscapingMutations || changeCount <= before else {
                throw SwiftDataError.includePendingChangesWithBatchSize.because(
                    "The block of enumerate has changed models, which stay in memory. Save in the block, or pass allowEscapingMutations: true.")
            }
        }
    }

    private var changeCount: Int { managed.insertedObjects.count + managed.updatedObjects.count + managed.deletedObjects.count }
}
