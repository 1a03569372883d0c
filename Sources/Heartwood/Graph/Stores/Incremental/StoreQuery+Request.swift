import Foundation

extension StoreQuery {
    /// The query as a request to a custom store.
    func request(for type: NSFetchRequestResultType) -> NSFetchRequest<any NSFetchRequestResult> {
        let made = request?.plainCopy ?? NSFetchRequest<any NSFetchRequestResult>()
        made.entity = entity ?? runtimes.first?.entity
        made.predicate = predicate.map { NSPredicate(node: $0) }
        made.resultType = type
        // Dictionaries are sorted and limited when they are made.
        guard type != .dictionaryResultType else { return made }
        if sort.isEmpty { made.sortDescriptors = nil }
        made.fetchLimit = limit ?? 0
        made.fetchOffset = offset
        return made
    }
}
