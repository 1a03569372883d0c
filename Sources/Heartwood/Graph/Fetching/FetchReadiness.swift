import Foundation

/// The steps of a fetch after its objects are found.
struct FetchReadiness {
    /// Relationships to prefetch, each a path of keys.
    var paths: [[String]] = []
    /// 0 prepares all objects at once.
    var batchSize = 0
    var refreshes = false
    var bindsRows = true

    init() {}

    /// - Throws: for a path with a key that is not a relationship.
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
            // Only a subentity may have the key.
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

/// The batches of one fetch's result that are not yet prepared.
final class LaterBatches {
    private let keys: [ObjectKey]
    private let size: Int
    let fetch: FetchSpecification
    private var isOpen: [Bool]
    private var left: Int
    /// The position of each key in the result. Made when an object behind the first batch is first read.
    private lazy var indexes = Dictionary(keys.enumerated().map { ($0.element, $0.offset) }) { first, _ in first }

    /// - Parameter objects: the whole result; the first batch is prepared.
    init(_ objects: [NSManagedObject], _ fetch: FetchSpecification) {
        keys = objects.map(\.key)
        size = fetch.readiness.batchSize
        self.fetch = fetch
        isOpen = Array(repeating: false, count: (keys.count + size - 1) / size)
        isOpen[0] = true
        left = isOpen.count - 1
    }

    var isDone: Bool { left == 0 }

    /// Returns the batch of an object, if it is not prepared, and counts it as prepared from now on.
    func open(_ key: ObjectKey) -> ArraySlice<ObjectKey>? {
        guard let index = indexes[key], !isOpen[index / size] else { return nil }
        isOpen[index / size] = true
        left -= 1
        let start = index / size * size
        return keys[start..<min(start + size, keys.count)]
    }
}
