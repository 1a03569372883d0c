import Foundation

/// What a fetch does with the objects that it has found, beyond finding them.
struct FetchReadiness {
    /// Relationships to read ahead, key by key.
    var paths: [[String]] = []
    /// 0: all at once.
    var batchSize = 0
    var refreshes = false
    var bindsRows = true

    init() {}

    /// - Throws: for a path that does not lead through relationships.
    init<ResultType>(_ request: NSFetchRequest<ResultType>, _ entity: NSEntityDescription) throws {
        paths = try (request.relationshipKeyPathsForPrefetching ?? []).map { try Self.path($0, from: entity) }
        batchSize = max(0, request.fetchBatchSize)
        refreshes = request.shouldRefreshRefetchedObjects
        bindsRows = request.includesPropertyValues
    }

    private static func path(_ text: String, from entity: NSEntityDescription) throws -> [String] {
        let keys: [String]
        do {
            keys = try PredicateKeyPath.keys(text)
        } catch {
            throw CoreDataError.unsupported("\(entity.name ?? "?") cannot prefetch \"\(text.prefix(200))\": \(error).")
        }
        var owner = entity
        for key in keys {
            // A key may be one that only a subentity has.
            let owners = [owner] + owner.concreteFamily
            let relationship = owners.lazy.compactMap { $0.propertiesByName[key] as? NSRelationshipDescription }.first
            guard let destination = relationship?.destinationEntity else {
                throw CoreDataError.unsupported(
                    "\(entity.name ?? "?") cannot prefetch \"\(text)\": \(key) is no relationship of \(owner.name ?? "?").")
            }
            owner = destination
        }
        return keys
    }
}

/// The batches of one fetch's result that have not been made ready.
final class LaterBatches {
    private let keys: [ObjectKey]
    private let size: Int
    let fetch: FetchSpecification
    private var isOpen: [Bool]
    private var left: Int
    /// Made when the first object behind the first batch is read.
    private lazy var places = Dictionary(keys.enumerated().map { ($0.element, $0.offset) }) { first, _ in first }

    /// - Parameter objects: all of the result; the first batch is ready.
    init(_ objects: [NSManagedObject], _ fetch: FetchSpecification) {
        keys = objects.map(\.key)
        size = fetch.readiness.batchSize
        self.fetch = fetch
        isOpen = Array(repeating: false, count: (keys.count + size - 1) / size)
        isOpen[0] = true
        left = isOpen.count - 1
    }

    var isDone: Bool { left == 0 }

    /// The batch that an object is in, where it is not ready; it counts as ready from now on.
    func open(_ key: ObjectKey) -> ArraySlice<ObjectKey>? {
        guard let index = places[key], !isOpen[index / size] else { return nil }
        isOpen[index / size] = true
        left -= 1
        let start = index / size * size
        return keys[start..<min(start + size, keys.count)]
    }
}
