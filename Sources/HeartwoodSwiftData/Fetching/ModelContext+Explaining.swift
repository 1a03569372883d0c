import Foundation
import Heartwood

extension ModelContext {
    /// Runs a fetch and returns how it was answered: by which index or scan, how many rows were read, whether they were sorted. Makes no model.
    ///
    /// Where the program has to evaluate the predicate, the plan is that of the fetch of all models of the class, and `isInMemory` is true.
    /// - Throws: as `fetch(_:)` does.
    /// - Complexity: that of the fetch.
    public func explain<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> FetchPlan {
        takeInSaves()
        let (request, filter) = try request(descriptor)
        guard filter != nil else { return try managed.explain(request) }
        request.fetchLimit = 0
        request.fetchOffset = 0
        return try managed.explain(request).evaluatedInMemory
    }
}
