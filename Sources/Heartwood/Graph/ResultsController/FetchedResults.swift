import Foundation

/// The results of a fetch as of one moment. It keeps their keys, and the objects of the batches that were read last.
///
/// A later change of the results does not show in it: no result moves, and one that is deleted stays.
package final class FetchedResults {
    private let query: ResultsQuery
    private let list: ResultsList
    private var batches: [(range: Range<Int>, objects: [NSManagedObject])] = []
    /// The entries' indices by key, made by the second search.
    private var positions: [ObjectKey: Int]?
    private var searches = 0

    private static let batchesMax = 4

    init(_ query: ResultsQuery, _ list: ResultsList) {
        self.query = query
        self.list = list
    }

    /// Fetches. With a `fetchBatchSize` no object is made.
    /// - Throws: as a fetch does.
    package convenience init<ResultType>(_ request: NSFetchRequest<ResultType>, _ context: NSManagedObjectContext) throws {
        context.checkQueue()
        if request.sortDescriptors == nil { request.sortDescriptors = [] }
        let fetch = try FetchSpecification(request, context: context, isList: true)
        let query = try ResultsQuery(fetch, asks: ResultsTerms(request), sectionNameKeyPath: nil, context)
        self.init(query, try query.list(isFollowed: false, cacheName: nil))
    }

    package var count: Int { list.count }

    package func objectID(at index: Int) -> NSManagedObjectID { query.context.objectID(for: list.entries[index].key) }

    /// - Complexity: O(results) for the first two calls, then O(1).
    package func index(of object: NSManagedObject) -> Int? {
        let isOwn = object.managedObjectContext === query.context
        if let index = index(of: object.key), isOwn || list.entries[index].object === object { return index }
        // An entry may not have its object's new key yet.
        return list.hasTemporaryKeys ? list.entries.firstIndex { $0.object === object } : nil
    }

    func index(of key: ObjectKey) -> Int? {
        if let positions { return positions[key] }
        searches += 1
        guard searches > 1, query.kind != .dictionaries else { return list.entries.firstIndex { $0.key == key } }
        var made: [ObjectKey: Int] = [:]
        made.reserveCapacity(list.count)
        for index in list.entries.indices { made[list.entries[index].key] = index }
        positions = made
        return made[key]
    }

    /// The object of a result. The rows of its batch are read together, unless that has been done.
    package func object(at index: Int) -> NSManagedObject {
        readBatch(of: index)
        return query.object(of: list.entries[index])
    }

    func readBatch(of index: Int) {
        let size = query.fetch.readiness.batchSize
        guard query.kind == .objects, size > 0, !batches.contains(where: { $0.range.contains(index) }) else { return }
        let start = index - index % size
        let range = start..<min(start + size, list.count)
        do {
            batches.append((range, try query.read(list.entries[range])))
            if batches.count > Self.batchesMax { batches.removeFirst() }
        } catch {
            // Handled like a getter's failure: the next save throws it.
            query.context.readingFailure = query.context.readingFailure ?? error
        }
    }

    /// Reads the objects of a part of the results, without those that are deleted by now. The results do not keep them.
    /// - Throws: the error of a store.
    package func read(_ range: Range<Int>) throws -> [NSManagedObject] {
        // Reading makes room for the objects of the batch: without this the context keeps those of the batches before.
        query.context.identities.sweep()
        return try query.read(list.entries[range]).filter { try !$0.isDeleted && query.context.fulfil($0) }
    }

    // MARK: Sections

    /// The names and the ranges of the sections, in order.
    package var sections: [(name: String, range: Range<Int>)] {
        list.sections.indices.map { (list.sections[$0].name, list.range(ofSection: $0)) }
    }
}
