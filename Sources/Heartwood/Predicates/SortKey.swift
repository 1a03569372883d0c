import Foundation

/// Asks a sort descriptor for its key.
private final class SortProbe: NSObject {
    var key: String?
}

extension NSSortDescriptor {
    /// Sorts by the values of a key path: null first, numbers by value, text by its UTF-8 bytes.
    public convenience init(key: String?, ascending: Bool) {
        let path = key ?? "self"
        self.init(keyPath: \NSObject.self, ascending: ascending) { a, b in
            if let probe = a as? SortProbe {
                probe.key = path
                return .orderedSame
            }
            return SortKey.compare(a, b, path: path.split(separator: ".").map(String.init))
        }
    }

    /// The key path of a descriptor made by key; nil for others.
    var heartwoodKey: String? {
        let probe = SortProbe()
        _ = compare(probe, to: probe)
        return probe.key
    }
}

/// One sort descriptor of a fetch.
struct SortKey {
    let path: [String]
    let isAscending: Bool

    /// A path that is known to lead to an attribute or a to-one relationship.
    init(path: [String]) {
        self.path = path
        isAscending = true
    }

    /// - Throws: for a descriptor that was not made by key, or that names what the entity does not have.
    init(_ descriptor: NSSortDescriptor, entity: NSEntityDescription) throws {
        guard let key = descriptor.heartwoodKey else {
            throw CoreDataError.make(
                NSPersistentStoreUnsupportedRequestTypeError,
                "A fetch is sorted by keys; make the sort descriptor with NSSortDescriptor(key:ascending:).")
        }
        path = key.split(separator: ".").map(String.init)
        isAscending = descriptor.ascending
        var owner: NSEntityDescription? = entity
        for (index, name) in path.enumerated() {
            let property = owner?.propertiesByName[name]
            let isLast = index == path.count - 1
            switch property {
            case is NSAttributeDescription where isLast: owner = nil
            case let relationship as NSRelationshipDescription where !relationship.isToMany: owner = relationship.destinationEntity
            default:
                throw CoreDataError.make(
                    NSPersistentStoreUnsupportedRequestTypeError,
                    "\(entity.name ?? "?") cannot be sorted by \"\(key)\": \(name) is "
                        + (property == nil ? "no property of \(owner?.name ?? "an attribute")." : "not an attribute or a to-one relationship."))
            }
        }
    }

    func compare(_ a: Any, _ b: Any) -> ComparisonResult {
        let order = Self.compare(a, b, path: path)
        guard !isAscending else { return order }
        return order == .orderedAscending ? .orderedDescending : order == .orderedDescending ? .orderedAscending : .orderedSame
    }

    static func compare(_ a: Any, _ b: Any, path: [String]) -> ComparisonResult {
        let keys = path == ["self"] ? [] : path
        let x = PredicateKeyPath.value(keys[...], of: a), y = PredicateKeyPath.value(keys[...], of: b)
        switch (x.isNull, y.isNull) {
        case (true, true): return .orderedSame
        case (true, false): return .orderedAscending
        case (false, true): return .orderedDescending
        case (false, false):
            if case .object(let p) = x, case .object(let q) = y {
                return p.key.rawValue < q.key.rawValue ? .orderedAscending : p.key == q.key ? .orderedSame : .orderedDescending
            }
            return x.ordered(y) ?? .orderedSame
        }
    }
}
